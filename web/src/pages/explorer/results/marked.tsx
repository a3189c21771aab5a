import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";

/** The search of the current view, whose matches are marked in entries; empty without a search. */
export const SearchedText = createContext("");

export type Matches = typeof import("./search-match.ts");

/** Finds the matches, loaded for the first search. */
export const MATCHES = lazyModule(() => import("./search-match.ts"));

/** Untrusted text with its matches of the search marked. */
export function Marked({ text }: { text: string }) {
  const search = useContext(SearchedText);
  return search === "" ? <>{visible(text)}</> : <WithMarks text={text} search={search} />;
}

function WithMarks({ text, search }: { text: string; search: string }) {
  const matches = useLazy(MATCHES, true);
  if (matches === null) return <>{visible(text)}</>;
  return (
    <>
      {matches
        .partsOf(text, search)
        .map(({ text, isMatch }, index) => (isMatch ? <mark key={index}>{visible(text)}</mark> : visible(text)))}
    </>
  );
}
