import { LEVELS, type Level } from "../../../model/types.ts";
import { type Interval, intervalMs, type Stats } from "./buckets.ts";

const MINUTE = 60_000;

/** Widths of a bar in milliseconds. Several buckets share a bar if there is no space for each. */
const WIDTHS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2 * 1440, 7 * 1440, 28 * 1440].map(
  (minutes) => minutes * MINUTE,
);

/** Pixels left and right of the bars. The right side fits half of a time label with seconds. */
export const PLOT = { left: 44, right: 28 } as const;

/** One bar: its range in epoch milliseconds (end exclusive) and its counts. */
export interface Bar {
  start: number;
  end: number;
  count: number;
  levels: Record<Level, number>;
}

/** Returns consecutive bars from `start` to `end`, or to the last bucket after it, at most `most` of them. */
export function barsOf(stats: Stats, interval: Interval, start: number, end: number, most: number): Bar[] {
  const times = stats.buckets.map((bucket) => Date.parse(bucket.start));
  const first = Math.min(start, times[0] ?? start);
  const last = Math.max(end, (times.at(-1) ?? 0) + 1);
  const base = intervalMs(interval);
  const width = WIDTHS.find((ms) => ms >= base && (last - first) / ms <= most - 1) ?? widest(last - first, most);
  const origin = Math.floor(first / width) * width;
  const bars = Array.from({ length: Math.ceil((last - origin) / width) }, (_, index): Bar => {
    const from = origin + index * width;
    return { start: from, end: from + width, count: 0, levels: noCounts() };
  });
  for (const [index, { count, groups }] of stats.buckets.entries()) {
    const bar = bars[Math.floor(((times[index] ?? 0) - origin) / width)];
    if (bar === undefined) continue;
    bar.count += count;
    for (const level of LEVELS) bar.levels[level] += groups?.[level] ?? 0;
  }
  return bars;
}

/** Width for a range beyond all usual ones, for example from an edited link: a multiple of the widest bar. */
function widest(ms: number, most: number): number {
  const width = WIDTHS.at(-1) ?? MINUTE;
  return Math.ceil(ms / (most - 1) / width) * width;
}

/** Levels that occur in any bar, most severe first. */
export function levelsIn(bars: readonly Bar[]): Level[] {
  return LEVELS.filter((level) => bars.some(({ levels }) => levels[level] > 0)).reverse();
}

function noCounts(): Record<Level, number> {
  return { trace: 0, debug: 0, log: 0, info: 0, warn: 0, error: 0, fatal: 0 };
}
