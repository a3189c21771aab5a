import type { Batch } from "../../logs/batch.ts";
import { mapRows, one } from "../../platform/sql.ts";
import { removeFromIndexChunks } from "./index-chunks.ts";

/**
 * Maximum body bytes of one row. Production refuses rows above 2 MB, local workerd does not; the summary needs space,
 * too.
 */
export const PART_BYTES = 1_000_000;

/** A stored batch for the object's index of recent batches. */
export interface CommittedBatch {
  commit: number;
  project: number;
  firstSeq: number;
  batch: Batch;
  /** Stored bytes of the body. */
  bodyBytes: number;
  /** Whether the batch was staged. Its body and summary are then only on disk, and empty here. */
  wasStaged: boolean;
  receivedAt: number;
}

/** Appends one batch under a new commit number. */
export function insertBatch(
  sql: SqlStorage,
  commit: number,
  project: number,
  firstSeq: number,
  batch: Batch,
  now: number,
): void {
  const { body } = batch;
  const parts = Math.ceil(body.length / PART_BYTES);
  sql.exec(
    `INSERT INTO batches (commit_no, project, first_seq, count, min_ts, max_ts, received_at, level_mask, category_mask,
       encoding, size, body_bytes, parts, summary, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    commit,
    project,
    firstSeq,
    batch.count,
    batch.minTimestamp,
    batch.maxTimestamp,
    now,
    batch.levelMask,
    batch.categoryMask,
    batch.encoding,
    batch.size,
    body.length,
    parts,
    batch.summary,
    parts === 1 ? body : body.subarray(0, PART_BYTES),
  );
  insertParts(sql, commit, body, PART_BYTES);
}

/** Stores a body from an index on as parts 1 and up. */
export function insertParts(sql: SqlStorage, key: number, body: Uint8Array, from: number): void {
  for (let at = from, part = 1; at < body.length; at += PART_BYTES, part++) {
    const bytes = body.subarray(at, at + PART_BYTES);
    sql.exec("INSERT INTO batch_parts (commit_no, part, body) VALUES (?, ?, ?)", key, part, bytes);
  }
}

/** The newest commit number, also if its batch was deleted, because a number is never reused. */
export function lastCommit(sql: SqlStorage): number {
  const last = "MAX((SELECT last_commit FROM workspace), COALESCE((SELECT MAX(commit_no) FROM batches), 0))";
  return one<{ last: number }>(sql, `SELECT ${last} AS last`).last;
}

const NEWEST_RECEIPT = "COALESCE((SELECT received_at FROM batches ORDER BY commit_no DESC LIMIT 1), 0)";

/**
 * Returns the time before which the workspace receives nothing any more, epoch milliseconds: that of its newest entry, or
 * the one through which alerts have decided.
 */
export function lastReceivedAt(sql: SqlStorage): number {
  const last = `MAX((SELECT last_received_at FROM workspace), ${NEWEST_RECEIPT},
    COALESCE((SELECT MAX(through) + 1 FROM alert_positions), 0))`;
  return one<{ last: number }>(sql, `SELECT ${last} AS last`).last;
}

/**
 * Deletes batches with all their parts.
 * @returns their totals; bytes as stored
 */
export function deleteBatches(
  sql: SqlStorage,
  commits: readonly number[],
): { batches: number; entries: number; bytes: number } {
  const gone = { batches: 0, entries: 0, bytes: 0 };
  if (commits.length === 0) return gone;
  sql.exec(
    `UPDATE workspace SET last_commit = ?, last_received_at = MAX(last_received_at, ${NEWEST_RECEIPT})`,
    lastCommit(sql),
  );
  const list = JSON.stringify(commits);
  sql.exec(
    `DELETE FROM batch_parts WHERE commit_no IN
       (SELECT COALESCE(parts_key, commit_no) FROM batches WHERE commit_no IN (SELECT value FROM json_each(?)))`,
    list,
  );
  const rows = sql.exec<{ count: number; bytes: number }>(
    `DELETE FROM batches WHERE commit_no IN (SELECT value FROM json_each(?)) RETURNING count, body_bytes AS bytes`,
    list,
  );
  for (const { count, bytes } of rows) {
    gone.batches++;
    gone.entries += count;
    gone.bytes += bytes;
  }
  removeFromIndexChunks(sql, commits);
  return gone;
}

/** Maximum batches that one step deletes, because an alarm must be short. */
const DELETE_STEP = 500;

/**
 * Deletes some of a project's batches.
 * @returns the deleted commit numbers; fewer than a full step means that none is left
 */
export function deleteSomeBatches(sql: SqlStorage, project: number): { commits: number[]; done: boolean } {
  const select = `SELECT commit_no AS "commit" FROM batches WHERE project = ? LIMIT ?`;
  const commits = mapRows(sql, (row: { commit: number }) => row.commit, select, project, DELETE_STEP);
  deleteBatches(sql, commits);
  return { commits, done: commits.length < DELETE_STEP };
}
