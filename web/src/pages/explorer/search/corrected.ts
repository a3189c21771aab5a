import { hintsOf } from "../../../../../src/query-language/hints.ts";

/** Corrections of one kind in one query. */
const MOST = 50;

/** Returns a query with the correction of a hint written everywhere that it is likely meant; `null` if that is nowhere. */
export function corrected(query: string, correction: string): string | null {
  let text = query;
  for (let made = 0; made < MOST; made++) {
    // Each one may be an operator only once the one before it is.
    const place = hintsOf(text).find((hint) => hint.correction === correction)?.position;
    if (place === undefined) break;
    text = text.slice(0, place) + correction + text.slice(place + correction.length);
  }
  return text === query ? null : text;
}
