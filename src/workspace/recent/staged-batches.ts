import type { Batch, BatchEncoding } from "../../logs/batch.ts";
import { one } from "../../platform/sql.ts";
import { insertParts, PART_BYTES } from "./batches.ts";

/** Batches of large requests that are still arriving. No reader sees them before their request is committed. */
export const STAGING_SCHEMA = [
  `CREATE TABLE staged_batches (
     -- Row: a batch of a request that is too large for one call (decision 28).
     -- \`commit_no\` of the body's parts in \`batch_parts\`: negative, falling.
     parts_key INTEGER PRIMARY KEY,
     -- A random id of the request's transfer.
     upload TEXT NOT NULL,
     -- \`num\` of the project.
     project INTEGER NOT NULL,
     staged_at INTEGER NOT NULL,
     -- The other columns are those of \`batches\`.
     count INTEGER NOT NULL,
     min_ts INTEGER NOT NULL,
     max_ts INTEGER NOT NULL,
     level_mask INTEGER NOT NULL,
     category_mask INTEGER NOT NULL,
     encoding INTEGER NOT NULL,
     size INTEGER NOT NULL,
     body_bytes INTEGER NOT NULL,
     parts INTEGER NOT NULL,
     summary BLOB NOT NULL
   ) STRICT`,
  `-- \`commit_no\` of the body's parts if the batch was staged; \`body\` is empty then.
   ALTER TABLE batches ADD COLUMN parts_key INTEGER`,
] as const;

/** Milliseconds after which batches of a request that was not committed are deleted. */
const STAGED_MS = 15 * 60 * 1000;
/** Maximum bytes of staged batches in one object, beyond which another request waits. */
const STAGED_BYTES = 128 * 1024 * 1024;
/** Batches that one sweep deletes, of at most 1.3 MB each. */
const SWEEP_BATCHES = 40;

/** Batches of a call that are in the object already. */
export interface StagedRef {
  upload: string;
  /** Number of batches. All of them must be there. */
  batches: number;
  /** Entries of these batches, for counts; absent in calls of older routers. */
  entries?: number;
}

/** Whether an object has room for more staged batches. Deletes what has been abandoned. */
export function hasStagingRoom(sql: SqlStorage, now: number): boolean {
  if (stagedBytes(sql) < STAGED_BYTES) return true;
  sweepStaged(sql, now);
  return stagedBytes(sql) < STAGED_BYTES;
}

function stagedBytes(sql: SqlStorage): number {
  return one<{ bytes: number }>(sql, "SELECT COALESCE(SUM(body_bytes), 0) AS bytes FROM staged_batches").bytes;
}

/** Stores batches of a request after those that `upload` has, outside of what readers see. */
export function stageBatches(
  sql: SqlStorage,
  upload: string,
  project: number,
  batches: readonly Batch[],
  now: number,
): void {
  for (const batch of batches) {
    const { body } = batch;
    // Keys of stored batches are in use until they are flushed.
    const least = "SELECT MIN(0, COALESCE((SELECT MIN(commit_no) FROM batch_parts), 0)) AS least";
    const partsKey = one<{ least: number }>(sql, least).least - 1;
    insertParts(sql, partsKey, body, 0);
    sql.exec(
      `INSERT INTO staged_batches (parts_key, upload, project, staged_at, count, min_ts, max_ts, level_mask, category_mask,
         encoding, size, body_bytes, parts, summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      partsKey,
      upload,
      project,
      now,
      batch.count,
      batch.minTimestamp,
      batch.maxTimestamp,
      batch.levelMask,
      batch.categoryMask,
      batch.encoding,
      batch.size,
      body.length,
      Math.ceil(body.length / PART_BYTES) + 1,
      batch.summary,
    );
  }
}

type StagedRow = {
  partsKey: number;
  count: number;
  minTimestamp: number;
  maxTimestamp: number;
  levelMask: number;
  categoryMask: number;
  encoding: BatchEncoding;
  size: number;
  bodyBytes: number;
};

/** A staged batch; its body and summary stay on disk. */
export interface StagedBatch extends StagedRow {}

/** The batches of an upload in order; `null` unless all of them are there. */
export function findStaged(sql: SqlStorage, { upload, batches }: StagedRef, project: number): StagedBatch[] | null {
  const rows = sql
    .exec<StagedRow>(
      `SELECT parts_key AS partsKey, count, min_ts AS minTimestamp, max_ts AS maxTimestamp, level_mask AS levelMask,
         category_mask AS categoryMask, encoding, size, body_bytes AS bodyBytes
       FROM staged_batches WHERE upload = ? AND project = ? ORDER BY parts_key DESC`,
      upload,
      project,
    )
    .toArray();
  return rows.length === batches ? rows : null;
}

/** Makes a staged batch a stored one, without copying its body. */
export function commitStaged(
  sql: SqlStorage,
  commit: number,
  project: number,
  firstSeq: number,
  { partsKey }: StagedBatch,
  now: number,
): void {
  sql.exec(
    `INSERT INTO batches (commit_no, project, first_seq, count, min_ts, max_ts, received_at, level_mask, category_mask,
       encoding, size, body_bytes, parts, summary, body, parts_key)
     SELECT ?, ?, ?, count, min_ts, max_ts, ?, level_mask, category_mask, encoding, size, body_bytes, parts, summary, x'',
       parts_key FROM staged_batches WHERE parts_key = ?`,
    commit,
    project,
    firstSeq,
    now,
    partsKey,
  );
  sql.exec("DELETE FROM staged_batches WHERE parts_key = ?", partsKey);
}

/** Deletes the batches of a request that will not be committed. */
export function discardStaged(sql: SqlStorage, upload: string): void {
  deleteStaged(sql, "SELECT parts_key FROM staged_batches WHERE upload = ?", upload);
}

/** Deletes some batches of requests that were never committed. @returns whether there may be more */
export function sweepStaged(sql: SqlStorage, now: number): boolean {
  const select = "SELECT parts_key FROM staged_batches WHERE staged_at < ? LIMIT ?";
  return deleteStaged(sql, select, now - STAGED_MS, SWEEP_BATCHES) === SWEEP_BATCHES;
}

function deleteStaged(sql: SqlStorage, select: string, ...parameters: (string | number)[]): number {
  const keys = sql
    .exec<{ parts_key: number }>(select, ...parameters)
    .toArray()
    .map(({ parts_key }) => parts_key);
  if (keys.length === 0) return 0;
  const list = JSON.stringify(keys);
  sql.exec("DELETE FROM batch_parts WHERE commit_no IN (SELECT value FROM json_each(?))", list);
  sql.exec("DELETE FROM staged_batches WHERE parts_key IN (SELECT value FROM json_each(?))", list);
  return keys.length;
}
