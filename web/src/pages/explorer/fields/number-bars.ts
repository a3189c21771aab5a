/** What is asked of a number, in order of size. */
export const POINTS = ["min", "p50", "p90", "p99", "max"] as const;
export type Points = Record<(typeof POINTS)[number], number>;

/** Bars of a histogram. */
const BARS = 20;

/**
 * Counts numbers in bars of one width, between the least and the greatest.
 * @param rows a number and how many entries have it
 */
export function barsOf(rows: readonly unknown[][], points: Points): number[] {
  const bars = Array.from({ length: BARS }, () => 0);
  for (const [value, count] of rows) {
    if (typeof value !== "number" || typeof count !== "number") continue;
    // A live view may find numbers beyond the ends.
    const within = Math.max(points.min, Math.min(points.max, value));
    const bar = Math.min(BARS - 1, Math.floor(place(within, points) * BARS));
    bars[bar] = (bars[bar] ?? 0) + count;
  }
  return bars;
}

/** Place of a number between the ends, 0 to 1. By orders of magnitude if the greatest is far from the middle. */
export function place(value: number, { min, p50, max }: Points): number {
  if (max <= min) return 1;
  const isWide = min >= 0 && max > 20 * Math.max(p50, 1e-9);
  const scale = isWide ? Math.log1p : (each: number): number => each;
  return (scale(value) - scale(min)) / (scale(max) - scale(min));
}
