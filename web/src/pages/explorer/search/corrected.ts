import { hintsOf } from "../../../../../src/query-language/hints.ts";

/** A query with what one hint is about corrected. */
export interface Corrected {
  query: string;
  /** What is written instead, for the button: `OR`. */
  use: string;
}

/** Words that are searched for and meant as operators: `OR` for `or`. Other hints have more than one likely meaning. */
const OPERATOR = /^`(and|or|not)` is searched for as a word\./;
/** Corrections of one kind in one query. */
const MOST = 50;

/** Returns a query in which the likely meaning of a hint is written, everywhere at once; `null` if the hint offers none. */
export function corrected(query: string, hint: string): Corrected | null {
  const word = OPERATOR.exec(hint)?.[1];
  if (word === undefined) return null;
  const use = word.toUpperCase();
  let text = query;
  for (let made = 0; made < MOST; made++) {
    // Each one may be an operator only once the one before it is.
    const place = hintsOf(text).find(({ message }) => message === hint)?.position;
    if (place === undefined) break;
    text = text.slice(0, place) + use + text.slice(place + word.length);
  }
  return text === query ? null : { query: text, use };
}
