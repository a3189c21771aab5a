import type { Series } from "./chart-data.ts";
import { NEUTRAL } from "./series-colours.ts";
import css from "./tones.module.css";

/** Returns the class of the colour of a series: that of its level, or its own. */
export function toneClass(level: Series["level"], colour: number): string | undefined {
  return css[level ?? (colour === NEUTRAL ? "other" : `series${colour + 1}`)];
}
