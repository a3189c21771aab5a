import { BatchColumns, type BatchSelection, type BatchSummary } from "./batch-columns.ts";
import type { StoredBatchRef } from "./ingest.ts";

/**
 * The summary columns of all recent batches in memory: an index in SQL would cost a row written per batch, and rows
 * written are the bill. Read from disk when the first query needs it and kept up from then on, so an object that is only
 * written to pays nothing.
 *
 * Disk is the truth. Tell it of a batch only once its transaction has been committed, or call `invalidate` where one was
 * rolled back: the next query then reads it anew.
 */
export class BatchIndex {
  readonly #sql: SqlStorage;
  #columns: BatchColumns | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** A batch has been stored. Costs a few array writes; sorting is left to the next query. */
  add({ commit, project, firstSeq, batch }: StoredBatchRef): void {
    if (this.#columns === null) return;
    // Commits only rise. Anything else means that memory and disk have parted.
    if (commit <= this.#columns.lastCommit) {
      this.invalidate();
      return;
    }
    const { minTimestamp, maxTimestamp, levelMask, categoryMask, body } = batch;
    const bodyBytes = body.length;
    this.#columns.append({ commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes });
  }

  /** A batch has been deleted. */
  remove(commit: number): void {
    if (this.#columns === null) return;
    this.#columns.remove(commit);
    this.#columns = this.#columns.compacted();
  }

  /** Forgets everything; the next query reads it from disk. */
  invalidate(): void {
    this.#columns = null;
  }

  /** The batches of a selection, in its order. To be used up within the turn it was asked for in. */
  select(selection: BatchSelection): Generator<BatchSummary> {
    this.#columns ??= this.#load();
    return this.#columns.select(selection);
  }

  /** A project's batches in order, from the one on that holds the entry behind `seq`. As for `select`, in one turn. */
  behind(project: number, seq: number): Generator<BatchSummary> {
    this.#columns ??= this.#load();
    return this.#columns.behind(project, seq);
  }

  #load(): BatchColumns {
    const columns = new BatchColumns();
    const rows = this.#sql
      .exec(
        `SELECT commit_no, project, first_seq, min_ts, max_ts, level_mask, category_mask, body_bytes
         FROM batches ORDER BY commit_no`,
      )
      .raw<number[]>();
    for (const [
      commit = 0,
      project = 0,
      firstSeq = 0,
      minTimestamp = 0,
      maxTimestamp = 0,
      levelMask = 0,
      categoryMask = 0,
      bodyBytes = 0,
    ] of rows) {
      columns.append({ commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes });
    }
    return columns;
  }
}
