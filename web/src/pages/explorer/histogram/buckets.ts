import type { CountsByBucket } from "../live/live-counts.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Bucket sizes of the API, with the longest range that each is used for: a few hundred buckets. Each limit is an hour
 * more than a round number, because a relative range is slightly longer than its name.
 */
const INTERVALS = [
  { name: "1m", ms: MINUTE, upTo: 4 * HOUR },
  { name: "5m", ms: 5 * MINUTE, upTo: 25 * HOUR },
  { name: "1h", ms: HOUR, upTo: 61 * DAY },
  { name: "1d", ms: DAY, upTo: Number.POSITIVE_INFINITY },
] as const;

/** Sizes of buckets of a range with two ends that the API's own are too long for, with the longest range of each. */
const FINE = [
  { ms: 1000, upTo: 5 * MINUTE },
  { ms: 5000, upTo: 30 * MINUTE },
] as const;

/** Returns the milliseconds of the buckets of a short range; `null` for a longer one, which has intervals. */
export function fineMs(ms: number): number | null {
  return FINE.find(({ upTo }) => ms <= upTo)?.ms ?? null;
}

export type Interval = (typeof INTERVALS)[number]["name"];

/** The response of `POST /logger/stats`, grouped by level. */
export interface Stats {
  buckets: { start: string; count: number; groups?: Record<string, number> }[];
  total: number;
  complete: boolean;
  /** Newest `seq` that is counted; only for counts of one project. */
  lastSeq?: number;
}

/** Returns the finest interval with a reasonable number of buckets. */
export function intervalFor(ms: number): Interval {
  return INTERVALS.find(({ upTo }) => ms <= upTo)?.name ?? "1d";
}

export function intervalMs(interval: Interval): number {
  return INTERVALS.find(({ name }) => name === interval)?.ms ?? DAY;
}

/** Adds the counts of a live view to those of the service. */
export function withLive(stats: Stats, live: CountsByBucket): Stats {
  if (live.size === 0) return stats;
  const counts = new Map(stats.buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  let { total } = stats;
  for (const [start, groups] of live) {
    const bucket = counts.get(start) ?? { start: new Date(start).toISOString(), count: 0 };
    const sums: Record<string, number> = { ...bucket.groups };
    let { count } = bucket;
    for (const [group, added] of groups) {
      sums[group] = (sums[group] ?? 0) + added;
      count += added;
    }
    total += count - bucket.count;
    counts.set(start, { ...bucket, count, groups: sums });
  }
  const buckets = [...counts].sort(([a], [b]) => a - b).map(([, bucket]) => bucket);
  return { ...stats, buckets, total };
}
