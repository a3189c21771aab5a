/**
 * A batch is what one accepted ingest request becomes: the unit of storage, of group commit and of `seq` runs.
 *
 * Its body is NDJSON: one line per entry, each `JSON.stringify` of an `Entry` with members in the order of
 * `ENTRY_MEMBERS`, lines joined by "\n" without one at the end. So every line begins
 * `{"timestamp":"<24 characters>","level":"<level>",` and a raw substring test can run before any parse.
 * Entry `i` of a batch has `seq = firstSeq + i`.
 */
export interface Batch {
  /** Entries in the body, 1 to 1,000. */
  count: number;
  /** Smallest and largest timestamp, epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  /** Bit per level and bit per category that occurs; see `levelBit` and `categoryBit`. */
  levelMask: number;
  categoryMask: number;
  /** Packed counts by minute, level, category and type, and a filter of the ids; see `summary.ts`. */
  summary: Uint8Array;
  encoding: BatchEncoding;
  /** Bytes of the body before compression. */
  size: number;
  body: Uint8Array;
}

/** 0: NDJSON as it is. 1: zstd frames of at most 128 KiB of input, each behind its length; see `codec.ts`. */
export type BatchEncoding = 0 | 1;

/** A batch as read back from the workspace object: what is needed to give its entries back. */
export interface RecentBatch {
  /** The workspace's commit number, from 1, rising; what `asOf` pins. */
  commit: number;
  projectId: string;
  firstSeq: number;
  count: number;
  minTimestamp: number;
  maxTimestamp: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  encoding: BatchEncoding;
  body: Uint8Array;
}
