import type { Span } from "../../../charts/selection.ts";

/** What the histogram shows, for the dialog that saves it, which its button and a command open. */
export interface ShownBars {
  /** The bars with entries. */
  filled: readonly Span[];
  selected: Span | null;
}

let shown: (() => ShownBars) | null = null;

/** Says what the histogram shows; `null` once it is gone. */
export function showBars(bars: (() => ShownBars) | null): void {
  shown = bars;
}

/** Returns what the histogram shows; `null` if there is none. */
export function shownBars(): ShownBars | null {
  return shown?.() ?? null;
}
