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
