import type { ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { SearchedText } from "./marked.tsx";
import { firstMatchAt } from "./search-match.ts";

/** Characters of a text shown initially. */
const SHOWN = 400;

/** Truncates a long text until the reader expands it, unless the first match of the search is behind the cut. */
export function LongText({ text, children }: { text: string; children: (shown: string) => ComponentChildren }) {
  const search = useContext(SearchedText);
  const [isWhole, setWhole] = useState(() => search !== "" && firstMatchAt(text, search) + search.length > SHOWN);
  if (text.length <= SHOWN) return children(text);
  return (
    <>
      {children(isWhole ? text : `${text.slice(0, SHOWN)}…`)}{" "}
      <Button small look="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? "Show less" : `Show all ${text.length.toLocaleString()} characters`}
      </Button>
    </>
  );
}
