const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds of the spans that counts over time are made of. */
const SIZES = [
  ...[SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND],
  ...[MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY, 28 * DAY],
];

/** Returns the smallest size that divides a length of time into at most `most` spans. */
export function binFor(ms: number, most: number): number {
  return SIZES.find((size) => ms / size <= most) ?? Math.ceil(ms / most / DAY) * DAY;
}

/** Counts in the spans of a length of time. */
export interface Bins {
  /** Epoch milliseconds of the first span, a whole multiple of its size. */
  start: number;
  binMs: number;
  spans: number;
}

/** Returns the spans that cover a length of time, at most `most` and one, each starting at a whole multiple of its size. */
export function binsOf(from: number, to: number, most: number): Bins {
  return binsOfSize(from, to, binFor(to - from, most));
}

export function binsOfSize(from: number, to: number, binMs: number): Bins {
  const start = Math.floor(from / binMs) * binMs;
  return { start, binMs, spans: Math.max(1, Math.ceil((to - start) / binMs)) };
}
