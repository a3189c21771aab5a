import { SEGMENT_LIMITS } from "./segment.ts";

/** Milliseconds that must lie between two entries for a cut: queries rarely ask for less than an hour. */
const SMALLEST_GAP_MS = 60 * 60 * 1000;
/** What a cut must leave at most of what it costs queries that segments span times without entries. */
const WORTHWHILE = 0.5;

/** Times `from` to `to` (exclusive) of the sorted times. */
interface Stretch {
  from: number;
  to: number;
}

/**
 * Tells apart the entries that lie far from the others in time. A segment is read by every query into its span, so what
 * is weighed is the sum of entries times span: a cut at the largest gap of the costliest part has to halve it. So a few
 * late entries get a part of their own, while entries spread evenly over days stay together.
 *
 * @param timestamps of a range's entries in the order of `seq`, epoch milliseconds
 * @returns places in `timestamps`, rising within each part; the largest part first, the others by time
 */
export function timeParts(timestamps: readonly number[]): number[][] {
  const all = timestamps.map((_, index) => index);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const time of timestamps) {
    if (time < min) min = time;
    if (time > max) max = time;
  }
  if (!(max - min >= SMALLEST_GAP_MS)) return [all];
  const sorted = Float64Array.from(timestamps).sort();
  const stretches = cutStretches(sorted);
  if (stretches.length === 1) return [all];
  const starts = stretches.map(({ from }) => sorted[from] ?? 0);
  const parts: number[][] = stretches.map(() => []);
  timestamps.forEach((time, index) => {
    parts[starts.findLastIndex((start) => start <= time)]?.push(index);
  });
  const largest = parts.reduce((best, part) => (part.length > best.length ? part : best));
  return [largest, ...parts.filter((part) => part !== largest)];
}

function cutStretches(times: Float64Array): Stretch[] {
  const stretches: Stretch[] = [{ from: 0, to: times.length }];
  while (stretches.length < SEGMENT_LIMITS.parts) {
    const total = stretches.reduce((sum, stretch) => sum + cost(times, stretch), 0);
    let best: { at: number; cut: number; saved: number } | null = null;
    for (const [at, stretch] of stretches.entries()) {
      const cut = largestGap(times, stretch);
      if (cut === null) continue;
      const after = cost(times, { from: stretch.from, to: cut }) + cost(times, { from: cut, to: stretch.to });
      const saved = cost(times, stretch) - after;
      if (best === null || saved > best.saved) best = { at, cut, saved };
    }
    if (best === null || best.saved < total * WORTHWHILE) break;
    const { from, to } = stretches[best.at] ?? { from: 0, to: 0 };
    stretches.splice(best.at, 1, { from, to: best.cut }, { from: best.cut, to });
  }
  return stretches;
}

function cost(times: Float64Array, { from, to }: Stretch): number {
  return (to - from) * ((times[to - 1] ?? 0) - (times[from] ?? 0));
}

/** The first place behind the largest gap of a stretch; null where no gap is large enough. */
function largestGap(times: Float64Array, { from, to }: Stretch): number | null {
  let largest = SMALLEST_GAP_MS;
  let cut: number | null = null;
  for (let at = from + 1; at < to; at++) {
    const gap = (times[at] ?? 0) - (times[at - 1] ?? 0);
    if (gap < largest || (cut !== null && gap === largest)) continue;
    largest = gap;
    cut = at;
  }
  return cut;
}
