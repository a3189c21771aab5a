import type { Level } from "../../../model/types.ts";
import type { Bar } from "./bars.ts";

/** Levels that must be seen. */
const SEVERE: readonly Level[] = ["error", "fatal"];
/** Pixels of such a level that are drawn at least where it occurs, so that one error among many entries is seen. */
const LEAST_SEVERE = 2;
/** The same of a whole bar. */
const LEAST = 1;

/**
 * Returns the upper ends of the stacked levels, each by bar: `null` for one that has nothing up to this level. Small counts are
 * drawn higher than they are; the numbers beside the drawing are exact.
 * @param levels the lowest in the drawing first
 * @param perPixel entries of a pixel
 */
export function layersOf(bars: readonly Bar[], levels: readonly Level[], perPixel: number): (number | null)[][] {
  const sums = bars.map(() => 0);
  const ends = bars.map(() => 0);
  return levels.map((level) =>
    bars.map(({ levels }, index) => {
      const sum = (sums[index] ?? 0) + levels[level];
      const before = ends[index] ?? 0;
      const least = SEVERE.includes(level) ? before + LEAST_SEVERE * perPixel : LEAST * perPixel;
      const end = levels[level] === 0 ? Math.max(sum, before) : Math.max(sum, before, least);
      sums[index] = sum;
      ends[index] = end;
      return sum === 0 ? null : end;
    }),
  );
}
