/**
 * A segment holds a run of a project's batches in the cold tier: one row of D1. It covers a range of `seq` without a
 * gap. Entries far from the others in time form separate segments of the same range, distinguished by their part
 * number, so that every segment spans a short time.
 */

/**
 * Identifies a segment within its workspace. Derived from the covered range, so that a repeated flush makes the same
 * key.
 */
export interface SegmentKey {
  projectId: string;
  firstSeq: number;
  /** 0 holds most of the range's entries; 1 and up hold those far from them in time. */
  part: number;
}

/** The columns of a segment by which it is found. */
export interface SegmentMeta extends SegmentKey {
  /** Last `seq` of the range. If the range has several parts, no part holds all of it. */
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
  /** Bytes of its row's blobs, and of its file in the bucket. */
  storedBytes: number;
  /**
   * Position and content of each block in the body; see `batch-table.ts`. A block of a Parquet file is a row group; its
   * bytes are `FILE_HEAD_BYTES` later in the file.
   */
  blocks: Uint8Array;
  /** Absent if the body has blocks of lines. */
  parquet?: ParquetMeta;
}

/** What is known of a segment's Parquet file before any of it is read. */
export interface ParquetMeta {
  footerBytes: number;
  /** Whether the file is in the row. Otherwise it is in the bucket. */
  isInline: boolean;
  /** Key of the file in the bucket, which contains the hash of its bytes; absent if it was not read with the rest. */
  file?: string;
}

/** How a segment holds its entries, column `format`: compressed blocks of lines, or a Parquet file (docs/segments.md). */
export const SEGMENT_FORMAT = { lineBlocks: 0, parquet: 1 } as const;
export type SegmentFormat = (typeof SEGMENT_FORMAT)[keyof typeof SEGMENT_FORMAT];

/** A segment with all columns, ready to be stored. */
export interface EncodedSegment extends SegmentMeta {
  format: SegmentFormat;
  /** Key of the Parquet file in the bucket; `null` if the entries are in `body`. */
  file: string | null;
  /** Packed counts by minute and level; see `counts.ts`. */
  levels: Uint8Array;
  /** Packed counts by minute, level, category and type; see `../../summary.ts`. */
  summary: Uint8Array;
  /** The batches of its entries; see `batch-table.ts`. Of a Parquet file: its footer. */
  batchTable: Uint8Array;
  /** Kinds of token in the filter; see `TOKEN_KIND`. */
  filterKinds: number;
  /** Bloom filter of its tokens; see `../filter/bloom.ts`. Empty if it would be too large to be worth its bytes. */
  filter: Uint8Array;
  /** Kinds of token in the block filter. */
  blockKinds: number;
  /** Bytes of one slot of the block filter; 0 if there is a single block. */
  slotBytes: number;
  /** The blocks of each token; see `../filter/block-filter.ts`. */
  blockFilter: Uint8Array;
  /** Compressed blocks, concatenated; or a Parquet file that is not in the bucket. */
  body: Uint8Array;
}

/** Bytes of a Parquet file before its first row group. Its size is these, the blocks and the footer. */
export const FILE_HEAD_BYTES = 4;

/** Limits of a segment. */
export const SEGMENT_LIMITS = {
  entries: 10_000,
  /** Bytes of lines, uncompressed: what a scan of the whole segment holds and reads. */
  rawBytes: 8 * 1024 * 1024,
  /** Bytes of one blob. A blob is sent in hexadecimal, and D1 accepts no value over 2,000,000 bytes. */
  blobBytes: 950_000,
  /** Bytes of a row's blobs together. D1's row limit is 2,000,000; local workerd does not enforce it. */
  rowBytes: 1_900_000,
  /**
   * Bytes of a summary. Hundreds are read at a time. Only thousands of custom types in one segment come near the limit.
   */
  summaryBytes: 65_536,
  /** Maximum number of segments into which a range is split by time. */
  parts: 4,
} as const;

/**
 * Whether the blobs of a segment fit a row of D1.
 * @param bodyBytes of the body that the row will have
 */
export function fitsRow(segment: EncodedSegment, bodyBytes = segment.body.length): boolean {
  const { filter, blockFilter, batchTable, summary, levels, blocks } = segment;
  const sizes = [bodyBytes, ...[filter, blockFilter, batchTable, summary, levels, blocks].map(({ length }) => length)];
  return (
    Math.max(...sizes) <= SEGMENT_LIMITS.blobBytes &&
    summary.length <= SEGMENT_LIMITS.summaryBytes &&
    sizes.reduce((sum, size) => sum + size, 0) <= SEGMENT_LIMITS.rowBytes
  );
}

/** Consecutive blocks of a segment's body, from the start of the first to the end of the last. */
export interface BodyRange {
  key: SegmentKey;
  /** In the body. Both are 0 if only the rest of the row is needed. */
  start: number;
  end: number;
  /** Bytes of the footer that come with the range, if the segment is a Parquet file. */
  footerBytes?: number;
}

/** Stored bytes of a body range, and what identifies its entries. */
export interface SegmentBody {
  /** The batch table, or the footer of a Parquet file. */
  batchTable: Uint8Array;
  bytes: Uint8Array;
  /** Key of the Parquet file in the bucket; `null` or absent if the row has the bytes. */
  file?: string | null;
}

/** A stored segment does not decode to what was encoded. The message names the segment but none of its content. */
export class CorruptSegment extends Error {
  readonly key: SegmentKey;

  constructor(key: SegmentKey, what: string, cause?: unknown) {
    super(`Segment ${key.projectId}/${key.firstSeq}/${key.part} is corrupt: ${what}.`, { cause });
    this.name = "CorruptSegment";
    this.key = key;
  }
}

/** Minimum gap in milliseconds between two entries for a cut. Queries rarely ask for less than an hour. */
const SMALLEST_GAP_MS = 60 * 60 * 1000;
/** Maximum share of the cost, as defined at `timeParts`, that may remain after a cut. */
const WORTHWHILE = 0.5;

/** Times `from` (inclusive) to `to` (exclusive) of the sorted times. */
interface Stretch {
  from: number;
  to: number;
}

/**
 * Separates the entries that lie far from the others in time. Every query into a segment's time span reads the segment,
 * so the cost is the sum of entries times span. A cut at the largest gap of the costliest part must halve it. So a few
 * late entries form a separate part, while entries spread evenly over days stay together.
 *
 * @param timestamps of a range's entries in the order of `seq`, epoch milliseconds
 * @returns indices in `timestamps`, rising within each part; the largest part first, the others by time
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

/** Returns the first index after the largest gap of a stretch; `null` if no gap is large enough. */
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
