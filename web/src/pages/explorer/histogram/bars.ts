import type { Table } from "../../../charts/chart-data.ts";
import type { Span } from "../../../charts/selection.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import { columnPlaces } from "../../investigate/column-places.ts";
import type { Times } from "../view/range.ts";
import type { Stats } from "./buckets.ts";

const MINUTE = 60_000;

/** Widths of a bar in milliseconds. Several buckets share a bar if there is no space for each. */
const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2 * 1440, 7 * 1440, 28 * 1440].map(
    (minutes) => minutes * MINUTE,
  ),
];

/** Pixels left and right of the bars. The right side fits half of a time label with seconds. */
export const PLOT = { left: 44, right: 28 } as const;

/** One bar: its range in epoch milliseconds (end exclusive) and its counts. */
export interface Bar {
  start: number;
  end: number;
  count: number;
  levels: Record<Level, number>;
}

/** Times at the left and the right end of the drawing, epoch milliseconds. */
export interface Edges {
  from: number;
  to: number;
}

/** Returns the ends of a drawing: those of a range with two ends, of other ranges those of the bars. */
export function edgesOf(bars: readonly Bar[], { from, to, start, end }: Times): Edges {
  const own = { from: bars[0]?.start ?? 0, to: bars.at(-1)?.end ?? 0 };
  // Bars of the range before are drawn until the new ones arrive.
  if (from === undefined || to === undefined || end <= own.from || start >= own.to) return own;
  return { from: Math.max(own.from, start), to: Math.min(own.to, end) };
}

/**
 * Returns consecutive bars from `start` to `end`, or to the last bucket after it, at most `most` of them.
 * @param bucketMs milliseconds of a bucket
 */
export function barsOf(stats: Stats, bucketMs: number, start: number, end: number, most: number): Bar[] {
  const times = stats.buckets.map((bucket) => Date.parse(bucket.start));
  const first = Math.min(start, times[0] ?? start);
  const last = Math.max(end, (times.at(-1) ?? 0) + 1);
  const width = WIDTHS.find((ms) => ms >= bucketMs && (last - first) / ms <= most - 1) ?? widest(last - first, most);
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

/** Returns the highest count, at least 1: that of all bars, also of one that begins before the drawing does. */
export function highest(bars: readonly Bar[]): number {
  return bars.reduce((most, { count }) => Math.max(most, count), 1);
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

/** Reads the table of `count by level, bin(...)`. */
export function bucketsOf(table: Table): Pick<Stats, "buckets" | "total"> {
  const [time, level, count] = columnPlaces(table, ["time", "level", "count"]);
  const buckets = new Map<number, { start: string; count: number; groups: Record<string, number> }>();
  let total = 0;
  for (const row of table.rows) {
    const [start, entries] = [String(row[time]), Number(row[count] ?? 0)];
    const bucket = buckets.get(Date.parse(start)) ?? { start, count: 0, groups: {} };
    bucket.count += entries;
    bucket.groups[String(row[level])] = entries;
    total += entries;
    buckets.set(Date.parse(start), bucket);
  }
  return { buckets: [...buckets].sort(([a], [b]) => a - b).map(([, bucket]) => bucket), total };
}

/** What the histogram shows, for the dialog that saves it, which its button and a command open. */
export interface ShownBars {
  /** The bars with entries. */
  filled: readonly Span[];
  selected: Span | null;
}
