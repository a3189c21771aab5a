import { visible } from "../../../lib/visible.ts";
import { withoutColours } from "../../explorer/results/inline-fields.ts";
import css from "./pattern-text.module.css";

/** Marks of what varies. Odd parts of a split are the marks. */
const MARKS = /(<(?:STR|DATETIME|DATE|TIME|UUID|IP4|IP6|N|\*)>)/;

/** Characters of a pattern that are shown. */
const SHOWN = 400;

/** A pattern with its marks set apart. */
export function PatternText({ pattern }: { pattern: string }) {
  if (pattern.trim() === "") return <i>{pattern === "" ? "empty message" : "white space only"}</i>;
  const plain = withoutColours(pattern);
  const shown = plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
  return (
    <span class={css.pattern}>
      {shown.split(MARKS).map((part, at) =>
        at % 2 === 1 ? (
          <span key={at} class={css.mark}>
            {part}
          </span>
        ) : (
          visible(part)
        ),
      )}
    </span>
  );
}
