import { decodeBlocks, type RecentBatch, UnreadableItem } from "../batch.ts";
import { wholeLines } from "./lines.ts";

export type Order = "asc" | "desc";

/** What rows are ordered by: the time, then `seq`, then the project. No two rows of a workspace are alike in all three. */
export interface RowKey {
  /** Epoch milliseconds. */
  timestamp: number;
  seq: number;
  projectId: string;
}

/** A place between rows: behind the row of this key, or, without `seq`, before every row of this time. */
export type RowPosition = RowKey | { timestamp: number; seq: null };

/** 1 where time rises from row to row, -1 where it falls: times multiplied by it always rise. */
export function direction(order: Order): 1 | -1 {
  return order === "asc" ? 1 : -1;
}

/** Below 0 where `a` comes first. */
export function compareRows(order: Order, a: RowKey, b: RowKey): number {
  const difference =
    a.timestamp - b.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : 0);
  return direction(order) * difference;
}

/** Whether a row is still to come at a position. */
export function isBehind(order: Order, position: RowPosition, row: RowKey): boolean {
  if (position.seq !== null) return compareRows(order, position, row) < 0;
  return direction(order) * (row.timestamp - position.timestamp) >= 0;
}

/** A run of a project's entries that went to the cold tier between two pages of a read: `after < seq <= until`. */
export interface Move {
  projectId: string;
  after: number;
  until: number;
}

/** A run of `seq`s, both ends included. */
export interface SeqRun {
  first: number;
  last: number;
}

/** Each project's last `seq` in the cold tier, as the newest page of a read states it. */
export class Watermarks {
  readonly #seqs: Map<string, number>;

  constructor(flushed: readonly { projectId: string; seq: number }[]) {
    this.#seqs = new Map(flushed.map(({ projectId, seq }) => [projectId, seq]));
  }

  /**
   * Takes over the watermarks of a further page.
   * @returns what has moved since the page before; nothing of projects that the first page did not have
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

/** The `seq`s of the batches that a read was given, as runs: batches mostly follow each other, so runs are few. */
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

  /** The runs that reach into a move, in order. They are forgotten: what has moved is never given again. */
  take({ projectId, until }: Move): SeqRun[] {
    const runs = this.#runs.get(projectId) ?? [];
    const taken = runs.filter(({ first }) => first <= until);
    // A run may go on beyond the move, up to a batch that is still in the object.
    this.#runs.set(
      projectId,
      runs.filter(({ last }) => last > until),
    );
    return taken.map((run) => ({ ...run })).sort((a, b) => a.first - b.first);
  }
}

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
