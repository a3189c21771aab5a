import { ByteCache, ISOLATE_BUDGET } from "../../platform/isolate-memory.ts";
import type { CommittedBatch } from "../ingest.ts";
import { BatchColumns, type BatchMeta, type BatchSelection, FirstBatches } from "./batch-columns.ts";
import {
  countUnpacked,
  type IndexChunk,
  isPackingDue,
  mayContainBatch,
  packIndexChunk,
  projectMaskOf,
  rangeOf,
  readIndexChunk,
  readIndexChunks,
  readUnpacked,
} from "./index-chunks.ts";

/** Batches that one selection gives: more than a page of the object takes. */
const MAX_SELECTED = 1024;
/** Blocks read from disk, and blocks made, between two pauses: about 10 ms each. */
const READ_AT_ONCE = 64;
const PACK_AT_ONCE = 4;
/** A block's description in memory. */
const BYTES_A_BLOCK = 160;

/** The first batches of a selection, in its order. */
export interface Selected {
  batches: BatchMeta[];
  /** Whether there may be further ones behind the last. */
  isCut: boolean;
}

/** What a workspace's index has in memory: rebuilt from disk where it was dropped. */
interface LoadedIndex {
  /** In order of commits. */
  blocks: IndexChunk[];
  /** In scan order; made when first asked for. */
  byMax: IndexChunk[] | null;
  byMin: IndexChunk[] | null;
  /** Batches that no block covers. */
  tail: BatchColumns;
}

/** Shared by all workspaces in the isolate: their loaded indexes by index, and columns of blocks by block. */
const indexes = new ByteCache<LoadedIndex>(ISOLATE_BUDGET.batchIndex / 2);
const opened = new ByteCache<BatchColumns>(ISOLATE_BUDGET.batchIndex / 2);

/** Bytes that the indexes of all workspaces in the isolate hold. */
export function batchIndexBytes(): number {
  return indexes.held + opened.held;
}

/**
 * Finds recent batches by their summary columns. An index in SQL would cost a row written per batch, and rows written are
 * most of the bill; so 512 batches at a time are packed into one row, a block. Memory holds what a block's batches have in
 * common and the newest batches; blocks are read when a selection needs them. An object that is only written to holds
 * nothing.
 *
 * Disk is the truth. Call `add` and `remove` only once the transaction has been committed, and `invalidate` where one was
 * rolled back.
 */
export class BatchIndex {
  readonly #sql: SqlStorage;
  /** Batches without a block; null while it is unknown. */
  #unpacked: number | null = null;
  #hasPacked = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Makes a block if one is due, in the transaction that has stored so many batches. */
  pack(stored: number): void {
    // What is counted on disk includes them.
    this.#unpacked = this.#unpacked === null ? countUnpacked(this.#sql) : this.#unpacked + stored;
    if (!isPackingDue(this.#unpacked)) return;
    packIndexChunk(this.#sql);
    this.#unpacked = null;
    this.#hasPacked = true;
  }

  /** Batches have been stored, in one commit. */
  add(stored: readonly CommittedBatch[]): void {
    const loaded = indexes.get(this);
    if (loaded === undefined) return;
    for (const { commit, project, firstSeq, batch } of stored) {
      // Commits only rise. Anything else means that memory and disk have parted.
      if (commit <= Math.max(loaded.tail.lastCommit, loaded.blocks.at(-1)?.lastCommit ?? 0)) {
        this.invalidate();
        return;
      }
      const { minTimestamp, maxTimestamp, levelMask, categoryMask, body } = batch;
      const bodyBytes = body.length;
      loaded.tail.append({ commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes });
    }
    if (this.#hasPacked) this.#takeBlocks(loaded);
    else this.#keep(loaded);
  }

  /** Batches have been deleted. */
  remove(commits: readonly number[]): void {
    if (commits.length === 0) return;
    this.#unpacked = null;
    const loaded = indexes.get(this);
    if (loaded === undefined) return;
    const { from, to } = rangeOf(commits);
    const gone = new Set(commits);
    if (to >= this.#firstUnpacked(loaded)) loaded.tail = loaded.tail.filter((commit) => !gone.has(commit));
    const isTouched = ({ firstCommit, lastCommit }: IndexChunk) => lastCommit >= from && firstCommit <= to;
    const touched = loaded.blocks.filter(isTouched);
    if (touched.length > 0) {
      for (const block of touched) opened.delete(block);
      const others = loaded.blocks.filter((block) => !isTouched(block));
      const blocks = [...others, ...readIndexChunks(this.#sql, from, to)];
      this.#setBlocks(
        loaded,
        blocks.sort((a, b) => a.lastCommit - b.lastCommit),
      );
    }
    this.#keep(loaded);
  }

  /** Forgets everything; the next query reads it from disk. */
  invalidate(): void {
    indexes.delete(this);
    this.#unpacked = null;
    this.#hasPacked = false;
  }

  /** The first batches of a selection; null where finding them would hold the thread for too long. */
  select(selection: BatchSelection): Selected | null {
    const step = this.#select(selection).next();
    return step.done === true ? step.value : null;
  }

  /**
   * The same in several turns. Batches that are deleted meanwhile may be among those found, and later ones than
   * `selection.asOf` are not.
   */
  async selectInTurns(selection: BatchSelection, pause: () => Promise<void>): Promise<Selected> {
    const steps = this.#select(selection);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await pause();
    }
  }

  /** A project's batches in order, from the one on that holds the entry behind `seq`. To be used up within the turn. */
  *batchesAfter(project: number, seq: number): Generator<BatchMeta> {
    const loaded = this.#loadNow();
    const mask = projectMaskOf(new Set([project]));
    const blocks = loaded.blocks.filter(({ projectMask }) => (projectMask & mask) !== 0);
    const isWanted = (columns: BatchColumns) => {
      const first = columns.firstSeqOf(project);
      return first === null ? null : first <= seq + 1;
    };
    // The last block, or the tail, whose first batch of the project begins at or before the entry; else the first one.
    let start = 0;
    if (isWanted(loaded.tail) === true) start = blocks.length;
    else {
      for (let low = 0, high = blocks.length - 1; low <= high; ) {
        const middle = (low + high) >> 1;
        // Another project may have set the same bit: then the next block with one of this project decides.
        let at = middle;
        let verdict: boolean | null = null;
        for (; at <= high && verdict === null; at++) verdict = isWanted(this.#open(blocks[at]));
        if (verdict === true) {
          start = at - 1;
          low = at;
        } else high = middle - 1;
      }
    }
    yield* this.#from(project, seq, blocks.slice(start), loaded.tail);
  }

  *#from(project: number, seq: number, blocks: readonly IndexChunk[], tail: BatchColumns): Generator<BatchMeta> {
    // The batch before the one at hand: whether it holds the entry, only the next one's beginning says.
    let before: BatchMeta | null = null;
    let isFound = false;
    for (let at = 0; at <= blocks.length; at++) {
      for (const batch of at < blocks.length ? this.#open(blocks[at]) : tail) {
        if (batch.project !== project) continue;
        if (!isFound && batch.firstSeq > seq + 1) isFound = true;
        if (isFound) {
          if (before) yield before;
          yield batch;
          before = null;
        } else before = batch;
      }
    }
    if (before) yield before;
  }

  *#select(selection: BatchSelection): Generator<null, Selected> {
    const { tail, ...loaded } = yield* this.#load();
    const { order, projects } = selection;
    const nearest = new FirstBatches(order, MAX_SELECTED);
    tail.addMatchesTo(nearest, selection);
    const projectMask = projectMaskOf(projects);
    let reads = 0;
    for (const block of (order === "desc" ? loaded.byMax : loaded.byMin) ?? []) {
      const { last } = nearest;
      if (last && (order === "desc" ? block.maxTimestampMax < last.timestamp : block.minTimestampMin > last.timestamp))
        break;
      if (!mayContainBatch(block, selection, projectMask)) continue;
      if (opened.get(block) === undefined && ++reads % READ_AT_ONCE === 0) yield null;
      this.#open(block).addMatchesTo(nearest, selection);
    }
    const batches = nearest.batches();
    return { batches, isCut: batches.length === MAX_SELECTED };
  }

  /** A block's batches. A block that has been emptied since it was listed has none. */
  #open(block: IndexChunk | undefined): BatchColumns {
    if (block === undefined) return new BatchColumns(0);
    const kept = opened.get(block);
    if (kept) return kept;
    const columns = readIndexChunk(this.#sql, block) ?? new BatchColumns(0);
    opened.set(block, columns, columns.bytes);
    return columns;
  }

  #loadNow(): LoadedIndex {
    for (const steps = this.#load(); ; ) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Batches that an older version stored have no blocks yet: those are made first, some in a turn. */
  *#load(): Generator<null, LoadedIndex> {
    let loaded = indexes.get(this);
    if (loaded === undefined) {
      for (let packed = 1; isPackingDue(countUnpacked(this.#sql)); packed++) {
        packIndexChunk(this.#sql);
        if (packed % PACK_AT_ONCE === 0) yield null;
      }
      loaded = { blocks: readIndexChunks(this.#sql), byMax: null, byMin: null, tail: readUnpacked(this.#sql) };
      this.#hasPacked = false;
      this.#keep(loaded);
    }
    loaded.byMax ??= loaded.blocks.toSorted((a, b) => b.maxTimestampMax - a.maxTimestampMax);
    loaded.byMin ??= loaded.blocks.toSorted((a, b) => a.minTimestampMin - b.minTimestampMin);
    return loaded;
  }

  /** Takes over the block that `pack` has made, which covers the oldest of the tail. */
  #takeBlocks(loaded: LoadedIndex): void {
    this.#hasPacked = false;
    const covered = loaded.blocks.at(-1)?.lastCommit ?? 0;
    const made = readIndexChunks(this.#sql, covered + 1);
    this.#setBlocks(loaded, [...loaded.blocks, ...made]);
    const firstUnpacked = this.#firstUnpacked(loaded);
    loaded.tail = loaded.tail.filter((commit) => commit >= firstUnpacked);
    this.#keep(loaded);
  }

  #setBlocks(loaded: LoadedIndex, blocks: IndexChunk[]): void {
    loaded.blocks = blocks;
    loaded.byMax = null;
    loaded.byMin = null;
  }

  #firstUnpacked({ blocks }: LoadedIndex): number {
    return (blocks.at(-1)?.lastCommit ?? 0) + 1;
  }

  #keep(loaded: LoadedIndex): void {
    indexes.set(this, loaded, loaded.tail.bytes + loaded.blocks.length * BYTES_A_BLOCK);
  }
}
