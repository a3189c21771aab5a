import { ByteReader, ByteWriter } from "../../platform/varint.ts";
import type { ProjectProgress } from "../query/recent-feed.ts";

/** Which batches' summaries are wanted. Times are epoch milliseconds, `from` inclusive, `to` exclusive. */
export interface RecentCountScan {
  /** Last commit that counts; null pins the newest one now. */
  asOf: number | null;
  from: number | null;
  to: number | null;
  levelMask: number;
  categoryMask: number;
  /** Behind this commit; 0 from the beginning. */
  after: number;
  /** As in `RecentScan`. */
  followsMoves?: boolean;
}

/** One turn's worth of summaries. */
export interface RecentCountPage {
  asOf: number;
  /** As in `RecentPage`. */
  flushed: ProjectProgress[];
  oldest: number;
  /** See `packSummaries`. */
  summaries: Uint8Array;
  /** Last commit looked at; null where there is no further one. */
  next: number | null;
}

/** Summaries one behind the other, each behind its length: one value instead of thousands on its way to the router. */
export function packSummaries(summaries: Iterable<Uint8Array>): Uint8Array {
  const writer = new ByteWriter();
  for (const summary of summaries) writer.blob(summary);
  return writer.toBytes();
}

export function* unpackSummaries(packed: Uint8Array): Generator<Uint8Array> {
  const reader = new ByteReader(packed);
  while (!reader.done) yield reader.blob();
}
