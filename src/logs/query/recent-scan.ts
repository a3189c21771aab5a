import type { RecentBatch } from "../batch.ts";
import type { Order } from "./row-order.ts";

/** Which batches a query may need, told by their summary columns alone. The router filters entries. */
export interface RecentScan {
  /** Last commit that counts; null pins the newest one now. */
  asOf: number | null;
  /** Epoch milliseconds: only batches that may hold an entry with `from <= timestamp < to`. Null: open. */
  from: number | null;
  to: number | null;
  /** Batches that share no bit with a mask are left out; see `levelBit` and `categoryBit`. */
  levelMask: number;
  categoryMask: number;
  /** Batches whose filter lacks one of these ids are left out; see `idHashesOf`. Routers of an older version ask for none. */
  ids?: readonly number[];
  /** `desc`: by largest timestamp, falling. `asc`: by smallest timestamp, rising. Ties by commit, the same way. */
  order: Order;
  /** First batch of this page, as `next` of the page before named it; null begins at the beginning. */
  position: ScanPosition | null;
  /**
   * The router reads what moves to the cold tier meanwhile there, so the object holds no flush up for this read. Routers of
   * an older version begin again instead, and leave this out.
   */
  followsMoves?: boolean;
  /** Bodies of one page, in bytes as stored. At least one batch is given even if it alone is larger. */
  maxBytes: number;
}

/** A place in the batch order. `timestamp` is the batch's largest (`desc`) or smallest (`asc`). */
export interface ScanPosition {
  timestamp: number;
  commit: number;
}

/** How far a project is in each tier. */
export interface ProjectProgress {
  projectId: string;
  /** The last `seq` that is in the cold tier; 0 while none is. */
  seq: number;
  /**
   * The last `seq` of the snapshot; 0 while it has no entries. Absent where the snapshot is not the newest one, and in answers of
   * objects of an older version.
   */
  lastSeq?: number;
}

/** One turn's worth of candidate batches, bodies whole. */
export interface RecentPage {
  /** The commit pinned; equal to the scan's `asOf` where it named one. */
  asOf: number;
  /** Newest commit there is: an `asOf` above it is from the future, and such a page has no batches. */
  lastCommit: number;
  /** What was searched: a project's id, or the workspace's for all of it. A cursor is bound to it. */
  scope: string;
  /** Of each project searched, how far it is. */
  flushed: ProjectProgress[];
  /** Entries with an earlier timestamp are past the retention, wherever they still lie: epoch milliseconds, a full minute. */
  oldest: number;
  batches: RecentBatch[];
  /** The first candidate that did not fit into this page; null when there is none. */
  next: ScanPosition | null;
}
