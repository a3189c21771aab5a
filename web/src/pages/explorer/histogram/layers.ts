import { layerEnds, niceCeiling } from "../../../lib/bar-heights.ts";
import type { Level } from "../../../model/types.ts";
import { type Bar, type Edges, highest, levelsIn, PLOT } from "./bars.ts";

/** Pixels above the bars and of the times below them. */
export const ABOVE = 8;
export const AXIS = 22;

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

/** A part of a drawing: pixels from its start and from its top. */
interface Box {
  start: number;
  end: number;
  top: number;
  bottom: number;
}

/** Whether a bar or one of its levels ends within a part of the drawing, so that a background there would hide where. */
export function endsWithin(
  bars: readonly Bar[],
  { from, to }: Edges,
  { width, height }: { width: number; height: number },
  { start, end, top, bottom }: Box,
): boolean {
  const perPixel = niceCeiling(highest(bars)) / Math.max(1, height - ABOVE - AXIS);
  const timeOf = (left: number): number => from + ((left - PLOT.left) / (width - PLOT.left - PLOT.right)) * (to - from);
  const below = bars.filter((bar) => bar.end > timeOf(start) && bar.start < timeOf(end));
  return layersOf(below, levelsIn(below), perPixel)
    .flat()
    .some((count) => {
      const y = height - AXIS - (count ?? 0) / perPixel;
      return y > top && y < bottom;
    });
}
