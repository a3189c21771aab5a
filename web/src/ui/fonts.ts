import { keep } from "../lib/keep.ts";

/** Local storage key: this browser has the fonts in its cache, unless it has deleted them. */
const KEY = "taffrail.fonts";

/** Milliseconds after the start of the console at which a page without entries loads the fonts. */
const LATER_MS = 1500;

/**
 * Keeps a browser's first visit in the local fonts of the same metrics until its first entries are there: on a slow connection
 * the fonts, which are larger than all scripts, would delay them by seconds.
 */
export function delayFonts(): void {
  if (localStorage.getItem(KEY) !== null) return;
  document.documentElement.dataset.fonts = "later";
  setTimeout(showFonts, LATER_MS);
}

/** Ends the delay. */
export function showFonts(): void {
  if (document.documentElement.dataset.fonts === undefined) return;
  delete document.documentElement.dataset.fonts;
  keep(KEY, "yes");
}
