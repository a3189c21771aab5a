import type { RefObject } from "preact";
import type { QueryError } from "../../../../../src/query-language/error.ts";
import type { Analysis } from "../../../../../src/query-language/parse.ts";
import css from "./query-box.module.css";

/** The text with its pieces in colors, and what is wrong underlined. */
export function colored(
  text: string,
  tokens: Analysis["tokens"],
  error: QueryError | null,
  place: RefObject<HTMLSpanElement | null>,
) {
  const parts = [];
  let at = 0;
  for (const { kind, start, end } of tokens) {
    if (start < at) continue;
    // From here on the text is wrong.
    if (error !== null && start >= error.position) break;
    if (start > at) parts.push(text.slice(at, start));
    parts.push(
      <span key={start} class={css[kind]}>
        {text.slice(start, end)}
      </span>,
    );
    at = end;
  }
  const rest = text.slice(at);
  if (error === null) parts.push(rest);
  else {
    // What follows the last piece may begin before the place of the error.
    const right = text.slice(at, Math.max(at, error.position));
    parts.push(right, <span key="place" ref={place} />, <span class={css.wrong}>{rest.slice(right.length)}</span>);
  }
  return parts;
}
