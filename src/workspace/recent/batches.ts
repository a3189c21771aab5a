import type { Batch } from "../../logs/batch.ts";
import { mapRows, one } from "../../platform/sql.ts";
import { removeFromIndexChunks } from "./index-chunks.ts";

/**
 * Maximum body bytes of one row. Production refuses rows above 2 MB, local workerd does not; the summary needs space,
 * too.
 */
export const PART_BYTES = 1_000_000;

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
  sql.exec("UPDATE workspace SET last_commit = ?", lastCommit(sql));
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
