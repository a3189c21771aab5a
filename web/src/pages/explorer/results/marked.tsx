import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { visible } from "../view/visible.ts";
import { partsOf } from "./search-match.ts";

/** The search of the current view, whose matches are marked in entries; empty without a search. */
export const SearchedText = createContext("");

/** Untrusted text with its matches of the search marked. */
export function Marked({ text }: { text: string }) {
  const search = useContext(SearchedText);
  if (search === "") return <>{visible(text)}</>;
  return (
    <>
      {partsOf(text, search).map(({ text, isMatch }, index) =>
        isMatch ? <mark key={index}>{visible(text)}</mark> : visible(text),
      )}
    </>
  );
}
