import { ByteReader, ByteWriter } from "../../platform/varint.ts";
import type { ProjectProgress } from "../query/recent-feed.ts";

/** Selects the batches whose summaries are returned. Times are epoch milliseconds, `from` inclusive, `to` exclusive. */
export interface RecentCountScan {
  /** Commit number of the snapshot. `null` pins the newest commit. */
  asOf: number | null;
  from: number | null;
  to: number | null;
  levelMask: number;
  categoryMask: number;
  /** Returns only batches after this commit; 0 from the first one. */
  after: number;
  /** See `RecentScan`. */
  followsMoves?: boolean;
}

/** One page of summaries. */
export interface RecentCountPage {
  asOf: number;
  /** See `RecentPage`. */
  flushed: ProjectProgress[];
  oldest: number;
  /** See `packSummaries`. */
  summaries: Uint8Array;
  /** Commit of the last batch on this page; `null` if it is the last page. */
  next: number | null;
}

/**
 * Concatenates summaries, each after its length. The call to the router then carries one value instead of thousands.
 */
export function packSummaries(summaries: Iterable<Uint8Array>): Uint8Array {
  const writer = new ByteWriter();
  for (const summary of summaries) writer.blob(summary);
  return writer.finish();
}

export function* unpackSummaries(packed: Uint8Array): Generator<Uint8Array> {
  const reader = new ByteReader(packed);
  while (!reader.done) yield reader.blob();
}
