import { detachBuffer } from "../../platform/isolate-memory.ts";
import { decodeBlocks, type RecentBatch, UnreadableItem } from "../batch.ts";
import type { Wanted } from "./batch-matcher.ts";
import { wholeLines } from "./lines.ts";
import type { RowGroup } from "./row-group.ts";

export type Order = "asc" | "desc";

/** The sort key of a row: time, then `seq`, then project. No two rows of a workspace have equal keys. */
export interface RowKey {
  /** Epoch milliseconds. */
  timestamp: number;
  seq: number;
  projectId: string;
}

/** A position between rows: after the row with this key, or, without `seq`, before every row of this time. */
export type RowPosition = RowKey | { timestamp: number; seq: null };

/** Returns 1 if times rise from row to row, -1 if they fall. Times multiplied by it always rise. */
export function direction(order: Order): 1 | -1 {
  return order === "asc" ? 1 : -1;
}

/** Returns a number below 0 if `a` comes first. */
export function compareRows(order: Order, a: RowKey, b: RowKey): number {
  const difference =
    a.timestamp - b.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : 0);
  return direction(order) * difference;
}

/** Whether a row comes after a position. */
export function isBehind(order: Order, position: RowPosition, row: RowKey): boolean {
  if (position.seq !== null) return compareRows(order, position, row) < 0;
  return direction(order) * (row.timestamp - position.timestamp) >= 0;
}

/** A range that went to the cold tier between two pages of a read: entries with `after < seq <= until`. */
export interface Move {
  projectId: string;
  after: number;
  until: number;
}

/** A range of `seq`, both ends included. */
export interface SeqRun {
  first: number;
  last: number;
}

/** Each project's watermark, as the newest page of a read states it. */
export class Watermarks {
  readonly #seqs: Map<string, number>;

  constructor(flushed: readonly { projectId: string; seq: number }[]) {
    this.#seqs = new Map(flushed.map(({ projectId, seq }) => [projectId, seq]));
  }

  /**
   * Takes the watermarks of a further page.
   * @returns the moves since the page before; none for projects that the first page did not have
   */
  follow(flushed: readonly { projectId: string; seq: number }[]): Move[] {
    const moves: Move[] = [];
    for (const { projectId, seq } of flushed) {
      const after = this.#seqs.get(projectId);
      if (after === undefined || seq <= after) continue;
      moves.push({ projectId, after, until: seq });
      this.#seqs.set(projectId, seq);
    }
    return moves;
  }
}

/** The `seq` ranges of the batches that a read has received. Consecutive batches share a range, so there are few. */
export class ReturnedSeqs {
  readonly #runs = new Map<string, SeqRun[]>();

  add(projectId: string, first: number, last: number): void {
    const runs = this.#runs.get(projectId);
    const newest = runs?.at(-1);
    if (!runs) this.#runs.set(projectId, [{ first, last }]);
    else if (newest?.last === first - 1) newest.last = last;
    else if (newest?.first === last + 1) newest.first = first;
    else runs.push({ first, last });
  }

  /** Returns and removes the ranges that overlap a move, in order. Moved batches are not received again. */
  take({ projectId, until }: Move): SeqRun[] {
    const runs = this.#runs.get(projectId) ?? [];
    const taken = runs.filter(({ first }) => first <= until);
    // A range may extend beyond the move, up to a batch that is still in the object.
    this.#runs.set(
      projectId,
      runs.filter(({ last }) => last > until),
    );
    return taken.map((run) => ({ ...run })).sort((a, b) => a.first - b.first);
  }
}

/** The lines of an opened scan item. Index `i` counts the lines of all pieces from 0. */
export interface LineSource {
  projectId: string;
  /**
   * Yields canonical NDJSON (see `../batch.ts`) in pieces of whole lines. Each piece is decoded when it is requested,
   * because a batch of a few kilobytes may be megabytes of lines, and is valid until the next one is. An empty piece has no lines; it is a point at which
   * the caller may pause.
   * @param wanted a source that has times and `seq` apart from the lines leaves out lines that are not wanted when their
   * turn comes; they get no index. Other sources ignore it
   * @throws UnreadableItem at a damaged piece
   */
  pieces(wanted?: Wanted): Iterable<Uint8Array>;
  seqAt(index: number): number;
  /** Epoch milliseconds. */
  receivedAtOf(index: number): number;
  /** Whether the entry was committed by the snapshot's commit. */
  isVisible(index: number): boolean;
  /** Number of lines, if it is known that all of them pass the scan's filter. */
  readonly passing?: number | undefined;
  /** Frees the memory. Call when the lines are no longer needed. */
  close?(): void;
}

export type Tier = "recent" | "cold";

/** The unit that a scan opens at once: a batch of the recent tier or a block of a segment. */
export interface ScanItem {
  tier: Tier;
  /** Number of entries. */
  count: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  /** Whether all entries were committed by the snapshot's commit. */
  isWhole: boolean;
  /** A `seq` range of its project that contains all its entries; `null` if the range is not known. */
  seqs: ({ projectId: string } & SeqRun) | null;
  /** Bytes that were loaded with the item, whether it is opened or not. */
  loadedBytes: number;
  /**
   * Returns `null` if the item was deleted with its project or has expired.
   * @throws UnreadableItem if the stored data is damaged
   */
  open(): Promise<LineSource | null>;
  /**
   * Like `open`, for a scan that counts rows from their columns. Absent if the item has no columns, or if not every row of
   * the snapshot counts.
   */
  openRows?: (() => Promise<RowSource | null>) | undefined;
}

/** The rows of a row group that pass a filter. */
export interface RowSource {
  group: RowGroup;
  /** Reads the lines of some rows, in rising order. */
  linesOf(rows: Int32Array): Promise<LineSource>;
}

/**
 * Scan items in scan order: by largest timestamp, falling (`desc`), or by smallest, rising (`asc`). The order is all
 * that a scan needs to decide when to stop, whichever tier an item comes from.
 */
export interface ScanFeed {
  /** The bound of the next item, epoch milliseconds: no further entry comes before it. `null` at the end. */
  bound(): number | null;
  take(): Promise<ScanItem>;
  /** Cost of finding items so far, in work units. */
  readonly cost: number;
}

/** Returns an empty item, for a feed that has read more metadata but has no item yet. */
export function nothingAt(tier: Tier, timestamp: number): ScanItem {
  const span = { minTimestamp: timestamp, maxTimestamp: timestamp };
  return { tier, count: 0, ...span, isWhole: true, seqs: null, loadedBytes: 0, open: async () => null };
}

/** Returns the bound of an item: no entry of it comes earlier in scan order. */
export function boundOf(order: Order, { minTimestamp, maxTimestamp }: TimeSpan): number {
  return order === "desc" ? maxTimestamp : minTimestamp;
}

/**
 * Whether an item can hold a row after a position and before another row. `null`: without such a bound. Items of one
 * time are distinguished by `seq`.
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

/** Returns the scan item of a recent batch. The object returns only batches of the snapshot. */
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
    open: async () => new BatchLines(batch),
  };
}

/** The lines of a recent batch. */
class BatchLines implements LineSource {
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

  /** The body is the reader's own copy, which it received from the object. */
  close(): void {
    detachBuffer(this.#batch.body);
  }
}
