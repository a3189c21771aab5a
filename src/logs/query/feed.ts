import type { StoredBatch } from "../batch.ts";
import { decodeFrames } from "../codec.ts";
import { UnreadableItem } from "../unreadable.ts";
import { wholeLines } from "./lines.ts";
import type { Order } from "./row-order.ts";

/** Lines to be looked through, and who they are. Index `i` counts the lines of all pieces from 0. */
export interface ScanUnit {
  projectId: string;
  /**
   * Canonical NDJSON (see `../batch.ts`) in pieces of whole lines, each decoded as it is asked for: a batch of some
   * kilobytes may be megabytes of lines.
   * @throws UnreadableItem at a piece that is not what was put in
   */
  pieces(): Iterable<Uint8Array>;
  seqAt(index: number): number;
  /** Epoch milliseconds. */
  receivedAtOf(index: number): number;
  /** Whether the entry was committed by the snapshot's commit. */
  isVisible(index: number): boolean;
}

export type Tier = "recent" | "stored";

/** What a scan looks through at once: a batch of the recent tier, or a frame of a cold segment. */
export interface ScanItem {
  tier: Tier;
  /** Entries. */
  count: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  /** Whether all entries were committed by the snapshot's commit. */
  isWhole: boolean;
  /**
   * Null where the item is not there any more, as its project or its time is over.
   * @throws UnreadableItem where what is stored is not what was put in
   */
  open(): Promise<ScanUnit | null>;
}

/**
 * Items in scan order: by largest timestamp, falling (`desc`), or by smallest, rising (`asc`). Whatever tier they come
 * from, that is all the scan needs to know when to stop.
 */
export interface ScanFeed {
  /** The next item's place in that order, epoch milliseconds: no entry still to come lies before it. Null: no more. */
  bound(): number | null;
  take(): Promise<ScanItem>;
  /** What finding items has cost so far, in bytes of a plain scan. */
  readonly cost: number;
}

/** Stands where a feed has only learned more of what is to come. */
export function nothingAt(tier: Tier, timestamp: number): ScanItem {
  const span = { minTimestamp: timestamp, maxTimestamp: timestamp };
  return { tier, count: 0, ...span, isWhole: true, open: async () => null };
}

/** An item's place in the scan order: no entry of it comes before. */
export function boundOf(order: Order, { minTimestamp, maxTimestamp }: TimeSpan): number {
  return order === "desc" ? maxTimestamp : minTimestamp;
}

interface TimeSpan {
  minTimestamp: number;
  maxTimestamp: number;
}

/** A batch of the recent tier. The object gives those of the snapshot only. */
export function itemOfBatch(batch: StoredBatch): ScanItem {
  const { count, minTimestamp, maxTimestamp } = batch;
  return { tier: "recent", count, minTimestamp, maxTimestamp, isWhole: true, open: async () => new BatchUnit(batch) };
}

/** A batch's lines. */
class BatchUnit implements ScanUnit {
  readonly projectId: string;
  readonly #batch: StoredBatch;

  constructor(batch: StoredBatch) {
    this.projectId = batch.projectId;
    this.#batch = batch;
  }

  *pieces(): Generator<Uint8Array> {
    const { commit, encoding, body } = this.#batch;
    try {
      yield* wholeLines(decodeFrames(encoding, body));
    } catch (error) {
      throw new UnreadableItem(`Batch ${commit} does not decode.`, { cause: error });
    }
  }

  seqAt(index: number): number {
    return this.#batch.firstSeq + index;
  }

  receivedAtOf(): number {
    return this.#batch.receivedAt;
  }

  isVisible(): boolean {
    return true;
  }
}
