/**
 * A segment is what a run of a project's batches becomes in the cold tier: one row of D1. It covers a range of `seq`
 * without a gap. Entries far from the others in time stand in segments of their own over the same range, told apart by
 * their part number, so that every segment spans a short time.
 */

/** Names a segment within its workspace; made of what it covers, so that a flush that runs again makes the same one. */
export interface SegmentKey {
  projectId: string;
  firstSeq: number;
  /** 0 holds most of the range's entries; 1 and up those far from them in time. */
  part: number;
}

/** What a segment is found by: everything but its large columns. */
export interface SegmentMeta extends SegmentKey {
  /** Last `seq` of the range. A part above 0, and a part 0 beside others, does not hold all of it. */
  lastSeq: number;
  count: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  /** Smallest and largest commit number of its entries. */
  minCommit: number;
  maxCommit: number;
  levelMask: number;
  categoryMask: number;
  /** Bytes of its lines, uncompressed. */
  rawBytes: number;
  /** Bytes of its row's blobs. */
  storedBytes: number;
  /** Where each frame of the body lies and what it holds; see `frame-index.ts`. */
  blocks: Uint8Array;
}

/** A whole segment, ready to be stored. */
export interface EncodedSegment extends SegmentMeta {
  /** Packed counts by minute and level; see `level-counts.ts`. */
  levels: Uint8Array;
  /** Packed counts by minute, level, category and type; see `../summary.ts`. */
  summary: Uint8Array;
  /** Which batches its entries came in; see `directory.ts`. */
  batchTable: Uint8Array;
  /** Kinds of token that the filter knows; see `TOKEN_KIND`. */
  filterKinds: number;
  /** Bloom filter of its tokens; see `bloom.ts`. Empty where it would be too large to pay. */
  filter: Uint8Array;
  /** Kinds of token that the frame filter knows. */
  blockKinds: number;
  /** Bytes of one slot of the frame filter; 0 where there is a single frame. */
  slotBytes: number;
  /** In which frames its tokens are; see `frame-filter.ts`. */
  blockFilter: Uint8Array;
  /** Frames of compressed lines, one after another. */
  body: Uint8Array;
}

/** Bounds of a segment. */
export const SEGMENT_LIMITS = {
  entries: 10_000,
  /** Bytes of lines, uncompressed: what a scan that needs all of a segment holds and looks through. */
  rawBytes: 8 * 1024 * 1024,
  /** Bytes of one blob. It travels in hexadecimal, and D1 takes no value over 2,000,000 bytes. */
  blobBytes: 950_000,
  /** Bytes of a row's blobs together. D1's row limit is 2,000,000; local workerd does not enforce it. */
  rowBytes: 1_900_000,
  /** Bytes of a summary: hundreds of them are read at a time. Only thousands of own types in one segment come near. */
  summaryBytes: 65_536,
  /** Segments that one range may be told apart into by time. */
  parts: 4,
} as const;

/** Part of a segment's body: frames that follow each other, from the first one's start to the last one's end. */
export interface BodyRange {
  key: SegmentKey;
  start: number;
  end: number;
}

/** A part of a body as it is stored, and what says whose its entries are. */
export interface SegmentBody {
  batchTable: Uint8Array;
  bytes: Uint8Array;
}

/** A stored segment does not decode to what was put in. Its message names the segment, never what it holds. */
export class CorruptSegment extends Error {
  readonly key: SegmentKey;

  constructor(key: SegmentKey, what: string, cause?: unknown) {
    super(`Segment ${key.projectId}/${key.firstSeq}/${key.part} is corrupt: ${what}.`, { cause });
    this.name = "CorruptSegment";
    this.key = key;
  }
}

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
