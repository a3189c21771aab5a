import { layerEnds } from "../../../lib/bar-heights.ts";
import type { Level } from "../../../model/types.ts";
import type { Bar } from "./bars.ts";

/**
 * Returns the upper ends of the stacked levels, each by bar, as `layerEnds` does.
 * @param levels the lowest in the drawing first
 * @param perPixel entries of a pixel
 */
export function layersOf(bars: readonly Bar[], levels: readonly Level[], perPixel: number): (number | null)[][] {
  return layerEnds(
    levels.map((level) => ({ level, values: bars.map(({ levels }) => levels[level]) })),
    perPixel,
  );
}
