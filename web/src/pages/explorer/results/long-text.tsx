import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";

/** Characters of a text that are shown at first. */
const SHOWN = 400;

/** A text that may be very long: cut, until somebody wants all of it. */
export function LongText({ text, children }: { text: string; children: (shown: string) => ComponentChildren }) {
  const [isWhole, setWhole] = useState(false);
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
