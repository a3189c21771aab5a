import type { RecentBatch } from "../batch.ts";
import { decodeBlocks } from "../codec.ts";
import { UnreadableItem } from "../unreadable.ts";
import { wholeLines } from "./lines.ts";
import type { SeqRun } from "./moves.ts";
import { compareRows, direction, isBehind, type Order, type RowKey, type RowPosition } from "./row-order.ts";

/** Lines to be looked through, and who they are. Index `i` counts the lines of all pieces from 0. */
export interface LineSource {
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
  /** Frees its memory: nothing of it is asked for any more. */
  close?(): void;
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
  /** The run of its project's `seq` that all of its entries are in; null where that is not known. */
  seqs: ({ projectId: string } & SeqRun) | null;
  /** Bytes that came with it, whether it is opened or not. */
  loadedBytes: number;
  /**
   * Null where the item is not there any more, as its project or its time is over.
   * @throws UnreadableItem where what is stored is not what was put in
   */
  open(): Promise<LineSource | null>;
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
  return { tier, count: 0, ...span, isWhole: true, seqs: null, loadedBytes: 0, open: async () => null };
}

/** An item's place in the scan order: no entry of it comes before. */
export function boundOf(order: Order, { minTimestamp, maxTimestamp }: TimeSpan): number {
  return order === "desc" ? maxTimestamp : minTimestamp;
}

/**
 * Whether an item can hold a row at or behind a position and before another row; null: without such a bound. Items of one
 * time are told apart by `seq`.
 */
export function mayContainRow(
  order: Order,
  { minTimestamp, maxTimestamp, seqs }: ScanItem,
  after: RowPosition | null,
  before: RowKey | null,
): boolean {
  const sign = direction(order);
  const [nearest, farthest] = order === "asc" ? [minTimestamp, maxTimestamp] : [maxTimestamp, minTimestamp];
  if (after !== null && sign * (farthest - after.timestamp) < 0) return false;
  if (before !== null && sign * (nearest - before.timestamp) > 0) return false;
  if (seqs === null || nearest !== farthest) return true;
  const { projectId } = seqs;
  const [first, last] = order === "asc" ? [seqs.first, seqs.last] : [seqs.last, seqs.first];
  if (after !== null && !isBehind(order, after, { timestamp: nearest, seq: last, projectId })) return false;
  return before === null || compareRows(order, { timestamp: nearest, seq: first, projectId }, before) < 0;
}

interface TimeSpan {
  minTimestamp: number;
  maxTimestamp: number;
}

/** A batch of the recent tier. The object gives those of the snapshot only. */
export function itemOfBatch(batch: RecentBatch): ScanItem {
  const { projectId, firstSeq, count, minTimestamp, maxTimestamp, body } = batch;
  return {
    tier: "recent",
    count,
    minTimestamp,
    maxTimestamp,
    isWhole: true,
    seqs: { projectId, first: firstSeq, last: firstSeq + count - 1 },
    loadedBytes: body.length,
    open: async () => new BatchUnit(batch),
  };
}

/** A batch's lines. */
class BatchUnit implements LineSource {
  readonly projectId: string;
  readonly #batch: RecentBatch;

  constructor(batch: RecentBatch) {
    this.projectId = batch.projectId;
    this.#batch = batch;
  }

  *pieces(): Generator<Uint8Array> {
    const { commit, encoding, body } = this.#batch;
    try {
      yield* wholeLines(decodeBlocks(encoding, body));
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
