/** Tops of an axis, times a power of ten. */
const TOPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8] as const;

/** Rounds up to a number of few digits, for the top of an axis. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (TOPS.find((top) => value <= top * power) ?? 10) * power;
}

/** Tops whose half is whole, too, times a power of ten. */
const EVEN_TOPS = [2, 4, 6, 8, 10, 12, 16] as const;

/** Rounds up to a whole number of few digits whose half is whole, for an axis of counts: half an entry does not exist. */
export function evenCeiling(value: number): number {
  const small = EVEN_TOPS.find((top) => value <= top);
  if (small !== undefined || !(value > 0)) return small ?? 2;
  const power = 10 ** Math.floor(Math.log10(value));
  // Above 16, only the half of 25 is not whole.
  return (TOPS.find((top) => value <= top * power && Number.isInteger((top * power) / 2)) ?? 10) * power;
}

/** Levels that must be seen. */
const SEVERE: readonly (string | null)[] = ["error", "fatal"];
/** Pixels of such a level that are drawn at least where it occurs, so that one error among many entries is seen. */
const LEAST_SEVERE = 2;
/** The same of a whole bar. */
const LEAST = 1;

/** A part of each stacked bar. */
interface Layer {
  /** `null` if it is not that of a level. */
  level: string | null;
  /** One for each bar, from 0. */
  values: readonly number[];
}

/**
 * Returns the upper ends of stacked layers, each by bar: `null` for one that has nothing up to this layer. Small values are drawn
 * higher than they are, at the cost of the layers above them: a bar is higher than its sum only where these are less than that, by a few
 * pixels. The numbers beside the drawing are exact.
 * @param layers the lowest in the drawing first, severe levels before others
 * @param perPixel value of a pixel
 */
export function layerEnds(layers: readonly Layer[], perPixel: number): (number | null)[][] {
  const sums: number[] = [];
  const ends: number[] = [];
  return layers.map(({ level, values }) => {
    const isSevere = SEVERE.includes(level);
    return values.map((value, bar) => {
      const sum = (sums[bar] ?? 0) + value;
      const before = ends[bar] ?? 0;
      const least = isSevere ? before + LEAST_SEVERE * perPixel : LEAST * perPixel;
      const end = value === 0 ? Math.max(sum, before) : Math.max(sum, before, least);
      sums[bar] = sum;
      ends[bar] = end;
      return sum === 0 ? null : end;
    });
  });
}
