import { ByteCache, ISOLATE_BUDGET } from "../../platform/isolate-memory.ts";
import { BatchColumns, type BatchMeta, type BatchSelection, FirstBatches } from "./batch-columns.ts";
import type { CommittedBatch } from "./batches.ts";
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

/** Maximum batches of one selection: more than a page of the object. */
const MAX_SELECTED = 1024;
/** Chunks read from disk, and chunks written, between two pauses: about 10 ms each. */
const READ_AT_ONCE = 64;
const PACK_AT_ONCE = 4;
/** Bytes of a chunk's metadata in memory. */
const BYTES_PER_CHUNK = 160;

/** The first batches of a selection, in its order. */
export interface Selected {
  batches: BatchMeta[];
  /** Whether there may be more after the last one. */
  isCut: boolean;
}

/** The part of a workspace's index that is in memory, read from disk again after it was dropped. */
interface LoadedIndex {
  /** In order of commit numbers. */
  chunks: IndexChunk[];
  /** In scan order; sorted at the first use. */
  byMax: IndexChunk[] | null;
  byMin: IndexChunk[] | null;
  /** Batches that no chunk covers. */
  tail: BatchColumns;
}

/** Shared by all workspaces in the isolate: their loaded indexes, and columns of chunks. */
const indexes = new ByteCache<LoadedIndex>(ISOLATE_BUDGET.batchIndex / 2);
const opened = new ByteCache<BatchColumns>(ISOLATE_BUDGET.batchIndex / 2);

/** Bytes in memory of the indexes of all workspaces in the isolate. */
export function batchIndexBytes(): number {
  return indexes.held + opened.held;
}

/**
 * Finds recent batches by their metadata. An SQL index would write another row per batch, and rows written are most of
 * the cost. So 512 batches at a time are packed into one row, an index chunk. Memory has each chunk's common metadata
 * and the newest batches; chunks are read when a selection needs them. An object without reads holds nothing.
 *
 * The disk is authoritative. Call `add` and `remove` only after the transaction was committed, and `invalidate` after a
 * rollback.
 */
export class BatchIndex {
  readonly #sql: SqlStorage;
  /** Number of batches without a chunk; `null` if unknown. */
  #unpacked: number | null = null;
  #hasPacked = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes a chunk if one is due, in the transaction that has stored the given number of batches. */
  pack(stored: number): void {
    // The count on disk includes them.
    this.#unpacked = this.#unpacked === null ? countUnpacked(this.#sql) : this.#unpacked + stored;
    if (!isPackingDue(this.#unpacked)) return;
    packIndexChunk(this.#sql);
    this.#unpacked = null;
    this.#hasPacked = true;
  }

  /** Adds the batches of one commit. */
  add(stored: readonly CommittedBatch[]): void {
    const loaded = indexes.get(this);
    if (loaded === undefined) return;
    for (const { commit, project, firstSeq, batch, bodyBytes } of stored) {
      // Commit numbers only rise. Otherwise memory and disk differ.
      if (commit <= Math.max(loaded.tail.lastCommit, loaded.chunks.at(-1)?.lastCommit ?? 0)) {
        this.invalidate();
        return;
      }
      const { minTimestamp, maxTimestamp, levelMask, categoryMask } = batch;
      loaded.tail.append({ commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes });
    }
    if (this.#hasPacked) this.#takeChunks(loaded);
    else this.#keep(loaded);
  }

  /** Removes deleted batches. */
  remove(commits: readonly number[]): void {
    if (commits.length === 0) return;
    this.#unpacked = null;
    const loaded = indexes.get(this);
    if (loaded === undefined) return;
    const { from, to } = rangeOf(commits);
    const deleted = new Set(commits);
    if (to >= this.#firstUnpacked(loaded)) loaded.tail = loaded.tail.filter((commit) => !deleted.has(commit));
    const isTouched = ({ firstCommit, lastCommit }: IndexChunk) => lastCommit >= from && firstCommit <= to;
    const touched = loaded.chunks.filter(isTouched);
    if (touched.length > 0) {
      for (const chunk of touched) opened.delete(chunk);
      const others = loaded.chunks.filter((chunk) => !isTouched(chunk));
      const chunks = [...others, ...readIndexChunks(this.#sql, from, to)];
      this.#setChunks(
        loaded,
        chunks.sort((a, b) => a.lastCommit - b.lastCommit),
      );
    }
    this.#keep(loaded);
  }

  /** Drops everything; the next query reads it from disk. */
  invalidate(): void {
    indexes.delete(this);
    this.#unpacked = null;
    this.#hasPacked = false;
  }

  /** Returns the first batches of a selection; `null` if finding them would block the thread for too long. */
  select(selection: BatchSelection): Selected | null {
    const step = this.#select(selection).next();
    return step.done === true ? step.value : null;
  }

  /**
   * Like `select`, in several turns. May return batches that were deleted in the meantime, but none after
   * `selection.asOf`.
   */
  async selectInTurns(selection: BatchSelection, pause: () => Promise<void>): Promise<Selected> {
    const steps = this.#select(selection);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await pause();
    }
  }

  /**
   * Visits a project's batches in order, from the one with the entry after `seq` on, in one turn.
   * @param visit returns whether to continue
   */
  visitBatchesAfter(project: number, seq: number, visit: (batch: BatchMeta) => boolean): void {
    for (const batch of this.#batchesAfter(project, seq)) if (!visit(batch)) return;
  }

  *#batchesAfter(project: number, seq: number): Generator<BatchMeta> {
    const loaded = this.#loadNow();
    const mask = projectMaskOf(new Set([project]));
    const chunks = loaded.chunks.filter(({ projectMask }) => (projectMask & mask) !== 0);
    const isWanted = (columns: BatchColumns) => {
      const first = columns.firstSeqOf(project);
      return first === null ? null : first <= seq + 1;
    };
    // Begins at the last chunk, or the tail, whose first batch of the project begins at or before the entry; otherwise
    // at the first chunk.
    let start = 0;
    if (isWanted(loaded.tail) === true) start = chunks.length;
    else {
      for (let low = 0, high = chunks.length - 1; low <= high; ) {
        const middle = (low + high) >> 1;
        // Another project may have set the same bit: then the next chunk with a batch of this project decides.
        let at = middle;
        let verdict: boolean | null = null;
        for (; at <= high && verdict === null; at++) verdict = isWanted(this.#open(chunks[at]));
        if (verdict === true) {
          start = at - 1;
          low = at;
        } else high = middle - 1;
      }
    }
    yield* this.#from(project, seq, chunks.slice(start), loaded.tail);
  }

  *#from(project: number, seq: number, chunks: readonly IndexChunk[], tail: BatchColumns): Generator<BatchMeta> {
    // The previous batch. Only the start of the next batch shows whether it contains the entry.
    let before: BatchMeta | null = null;
    let isFound = false;
    for (let at = 0; at <= chunks.length; at++) {
      for (const batch of at < chunks.length ? this.#open(chunks[at]) : tail) {
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
    for (const chunk of (order === "desc" ? loaded.byMax : loaded.byMin) ?? []) {
      const { last } = nearest;
      if (last && (order === "desc" ? chunk.maxTimestampMax < last.timestamp : chunk.minTimestampMin > last.timestamp))
        break;
      if (!mayContainBatch(chunk, selection, projectMask)) continue;
      if (opened.get(chunk) === undefined && ++reads % READ_AT_ONCE === 0) yield null;
      this.#open(chunk).addMatchesTo(nearest, selection);
    }
    const batches = nearest.batches();
    return { batches, isCut: batches.length === MAX_SELECTED };
  }

  /** A chunk's batches; none if the chunk was emptied since it was listed. */
  #open(chunk: IndexChunk | undefined): BatchColumns {
    if (chunk === undefined) return new BatchColumns(0);
    const kept = opened.get(chunk);
    if (kept) return kept;
    const columns = readIndexChunk(this.#sql, chunk) ?? new BatchColumns(0);
    opened.set(chunk, columns, columns.bytes);
    return columns;
  }

  #loadNow(): LoadedIndex {
    for (const steps = this.#load(); ; ) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Batches of an older version have no chunks yet. Writes these first, some per turn. */
  *#load(): Generator<null, LoadedIndex> {
    let loaded = indexes.get(this);
    if (loaded === undefined) {
      for (let packed = 1; isPackingDue(countUnpacked(this.#sql)); packed++) {
        packIndexChunk(this.#sql);
        if (packed % PACK_AT_ONCE === 0) yield null;
      }
      loaded = { chunks: readIndexChunks(this.#sql), byMax: null, byMin: null, tail: readUnpacked(this.#sql) };
      this.#hasPacked = false;
      this.#keep(loaded);
    }
    loaded.byMax ??= loaded.chunks.toSorted((a, b) => b.maxTimestampMax - a.maxTimestampMax);
    loaded.byMin ??= loaded.chunks.toSorted((a, b) => a.minTimestampMin - b.minTimestampMin);
    return loaded;
  }

  /** Reads the chunk that `pack` has written, and removes its batches from the tail. */
  #takeChunks(loaded: LoadedIndex): void {
    this.#hasPacked = false;
    const covered = loaded.chunks.at(-1)?.lastCommit ?? 0;
    const made = readIndexChunks(this.#sql, covered + 1);
    this.#setChunks(loaded, [...loaded.chunks, ...made]);
    const firstUnpacked = this.#firstUnpacked(loaded);
    loaded.tail = loaded.tail.filter((commit) => commit >= firstUnpacked);
    this.#keep(loaded);
  }

  #setChunks(loaded: LoadedIndex, chunks: IndexChunk[]): void {
    loaded.chunks = chunks;
    loaded.byMax = null;
    loaded.byMin = null;
  }

  #firstUnpacked({ chunks }: LoadedIndex): number {
    return (chunks.at(-1)?.lastCommit ?? 0) + 1;
  }

  #keep(loaded: LoadedIndex): void {
    indexes.set(this, loaded, loaded.tail.bytes + loaded.chunks.length * BYTES_PER_CHUNK);
  }
}
