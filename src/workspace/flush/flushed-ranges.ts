import { exists, mapRows, maybe, one } from "../../platform/sql.ts";
import { deleteBatches } from "../recent/batches.ts";
import { forgetCompaction } from "./compactions.ts";
import type { FlushRange } from "./schedule.ts";

/** Tables and columns of the flush; described in `docs/storage.md`. */
export const FLUSH_SCHEMA = [
  `-- The watermark: entries up to this \`seq\` are in the cold tier, except those of quarantined batches.
   ALTER TABLE projects ADD COLUMN flushed_seq INTEGER NOT NULL DEFAULT 0`,
  `-- Unflushed batches, without quarantined ones; in this row because ingest writes it anyway.
   ALTER TABLE projects ADD COLUMN waiting_batches INTEGER NOT NULL DEFAULT 0`,
  `-- Entries in the unflushed batches.
   ALTER TABLE projects ADD COLUMN waiting_entries INTEGER NOT NULL DEFAULT 0`,
  `-- Stored bytes of the unflushed batches.
   ALTER TABLE projects ADD COLUMN waiting_bytes INTEGER NOT NULL DEFAULT 0`,
  `UPDATE projects SET (waiting_batches, waiting_entries, waiting_bytes) =
     (SELECT COUNT(*), COALESCE(SUM(count), 0), COALESCE(SUM(body_bytes), 0) FROM batches WHERE project = num)`,
  `CREATE TABLE flush_intents (
     -- Row: the flush intent, the range that the running flush moves; at most one.
     project INTEGER PRIMARY KEY,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     first_commit INTEGER NOT NULL,
     last_commit INTEGER NOT NULL,
     -- When it was persisted.
     made_at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE set_aside (
     -- Row: a quarantined batch, which the cold tier cannot take; its row in \`batches\` stays until the retention
     -- or its project ends.
     commit_no INTEGER PRIMARY KEY,
     project INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     count INTEGER NOT NULL,
     -- Stored bytes.
     body_bytes INTEGER NOT NULL,
     -- Why, without any content of the batch.
     reason TEXT NOT NULL,
     at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE flush_state (
     -- Row: at most one.
     one INTEGER PRIMARY KEY CHECK (one = 1),
     -- When entries last arrived in the cold tier.
     last_at INTEGER,
     -- Why the newest attempt failed; null after a successful one.
     last_error TEXT
   ) STRICT`,
  `-- \`proj_...\`; null if it has no data in the cold tier.
   ALTER TABLE doomed_projects ADD COLUMN id TEXT`,
  `-- When it was deleted.
   ALTER TABLE doomed_projects ADD COLUMN doomed_at INTEGER NOT NULL DEFAULT 0`,
  `-- When the next cold cleanup for it is due.
   ALTER TABLE doomed_projects ADD COLUMN sweep_at INTEGER NOT NULL DEFAULT 0`,
  `-- 1: no data is left in this object.
   ALTER TABLE doomed_projects ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0`,
] as const;

/**
 * The flushed ranges, which `npm run reconcile` compares with the cold tier. A range's row is deleted before its
 * segments, so that every listed range must exist there unless the cold tier has lost it.
 */
export const FLUSHED_RANGES_SCHEMA = [
  `CREATE TABLE flushed_ranges (
     -- Row: a flushed range, until all of it has expired.
     project INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     -- The earliest timestamp of its entries.
     min_ts INTEGER NOT NULL,
     -- The latest timestamp of its entries.
     max_ts INTEGER NOT NULL,
     -- 0 once some of its segments may have expired. The segment of the newest entry has not.
     is_whole INTEGER NOT NULL DEFAULT 1,
     PRIMARY KEY (project, first_seq)
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX flushed_ranges_newest ON flushed_ranges (max_ts)`,
  `CREATE INDEX flushed_ranges_oldest ON flushed_ranges (min_ts) WHERE is_whole = 1`,
] as const;

/** A range in the cold tier, whole or partly expired. */
export interface FlushedRange {
  firstSeq: number;
  lastSeq: number;
  isWhole: boolean;
}

/** Maximum rows of each kind that one step changes. */
const STEP_ROWS = 2000;

/**
 * Records a range that is in the cold tier and deletes its batches, from which the record has its timestamps. Call in a
 * transaction.
 * @param commits numbers of the range's batches
 */
export function replaceBatchesByRange(
  sql: SqlStorage,
  { project, firstSeq, lastSeq, firstCommit, lastCommit }: { project: number } & FlushRange,
  commits: readonly number[],
): ReturnType<typeof deleteBatches> {
  sql.exec(
    `INSERT OR REPLACE INTO flushed_ranges (project, first_seq, last_seq, min_ts, max_ts)
     SELECT ?1, ?2, ?3, MIN(min_ts), MAX(max_ts) FROM batches WHERE commit_no BETWEEN ?4 AND ?5 AND project = ?1
     HAVING COUNT(*) > 0`,
    project,
    firstSeq,
    lastSeq,
    firstCommit,
    lastCommit,
  );
  return deleteBatches(sql, commits);
}

/**
 * Deletes some ranges whose entries have all expired, and marks those with expired entries, also for deleted projects.
 * Call before the cold tier deletes the same entries.
 * @param cutoff entries with an earlier timestamp are expired, epoch milliseconds
 * @returns whether nothing is left to do
 */
export function expireRanges(sql: SqlStorage, cutoff: number): boolean {
  const statements = [
    `DELETE FROM flushed_ranges WHERE (project, first_seq) IN
       (SELECT project, first_seq FROM flushed_ranges WHERE max_ts < ?1 LIMIT ${STEP_ROWS}) RETURNING 1`,
    `UPDATE flushed_ranges SET is_whole = 0 WHERE (project, first_seq) IN
       (SELECT project, first_seq FROM flushed_ranges WHERE min_ts < ?1 AND is_whole = 1 LIMIT ${STEP_ROWS})
     RETURNING 1`,
  ];
  return statements.every((statement) => sql.exec(statement, cutoff).toArray().length < STEP_ROWS);
}

/** Deletes some ranges of a deleted project. @returns whether none is left */
export function forgetRangesOf(sql: SqlStorage, project: number): boolean {
  const gone = sql.exec(
    `DELETE FROM flushed_ranges WHERE project = ?1 AND first_seq IN
       (SELECT first_seq FROM flushed_ranges WHERE project = ?1 LIMIT ${STEP_ROWS}) RETURNING 1`,
    project,
  );
  return gone.toArray().length < STEP_ROWS;
}

/** Whether this object has moved entries to `COLD_DB` that have not expired. */
export function hasFlushedRanges(sql: SqlStorage): boolean {
  return exists(sql, "SELECT 1 FROM flushed_ranges LIMIT 1");
}

/** Ranges of a project that begin after a `seq`, in order. */
export function flushedRangesAfter(sql: SqlStorage, project: number, after: number, limit: number): FlushedRange[] {
  type Row = { firstSeq: number; lastSeq: number; isWhole: number };
  return mapRows(
    sql,
    ({ isWhole, ...range }: Row) => ({ ...range, isWhole: isWhole === 1 }),
    `SELECT first_seq AS firstSeq, last_seq AS lastSeq, is_whole AS isWhole FROM flushed_ranges
     WHERE project = ? AND first_seq > ? ORDER BY first_seq LIMIT ?`,
    project,
    after,
    limit,
  );
}

/** Returns the quarantined batches of a project, in order of `seq`. */
export function quarantinedOf(sql: SqlStorage, project: number): { firstSeq: number; count: number }[] {
  const select = "SELECT first_seq AS firstSeq, count FROM set_aside WHERE project = ? ORDER BY first_seq";
  return sql.exec<{ firstSeq: number; count: number }>(select, project).toArray();
}

/** State of the flush. Times are epoch milliseconds. */
export interface FlushProgress {
  lastAt: number | null;
  lastError: string | null;
  /** Quarantined batches. */
  setAside: { batches: number; entries: number; bytes: number };
}

export function readProgress(sql: SqlStorage): FlushProgress {
  const state = maybe<{ lastAt: number | null; lastError: string | null }>(
    sql,
    "SELECT last_at AS lastAt, last_error AS lastError FROM flush_state",
  );
  const setAside = one<{ batches: number; entries: number; bytes: number }>(
    sql,
    "SELECT COUNT(*) AS batches, COALESCE(SUM(count), 0) AS entries, COALESCE(SUM(body_bytes), 0) AS bytes FROM set_aside",
  );
  return { lastAt: state?.lastAt ?? null, lastError: state?.lastError ?? newestSetAside(sql), setAside };
}

export function recordFlush(sql: SqlStorage, now: number): void {
  sql.exec("INSERT OR REPLACE INTO flush_state (one, last_at, last_error) VALUES (1, ?, NULL)", now);
}

/** Written once per reason, however often it occurs. */
export function recordFlushFailure(sql: SqlStorage, reason: string): void {
  sql.exec(
    `INSERT INTO flush_state (one, last_error) VALUES (1, ?1)
     ON CONFLICT (one) DO UPDATE SET last_error = ?1 WHERE last_error IS NOT ?1`,
    reason,
  );
}

function newestSetAside(sql: SqlStorage): string | null {
  const row = maybe<{ commit: number; projectId: string; firstSeq: number; count: number; reason: string }>(
    sql,
    `SELECT commit_no AS "commit", id AS projectId, first_seq AS firstSeq, count, reason
     FROM set_aside JOIN projects ON num = project ORDER BY at DESC, commit_no DESC LIMIT 1`,
  );
  if (!row) return null;
  const { commit, projectId, firstSeq, count, reason } = row;
  return `Batch ${commit} of ${projectId} (seq ${firstSeq} to ${firstSeq + count - 1}) is quarantined: ${reason}.`;
}

/** Whether the cold tier has entries of this workspace, or may still receive some. */
export function hasColdEntries(sql: SqlStorage): boolean {
  const { cold } = one<{ cold: number }>(
    sql,
    `SELECT EXISTS (SELECT 1 FROM projects WHERE flushed_seq > 0) OR EXISTS (SELECT 1 FROM flush_intents)
       OR EXISTS (SELECT 1 FROM set_aside) OR EXISTS (SELECT 1 FROM doomed_projects WHERE id IS NOT NULL) AS cold`,
  );
  return cold === 1;
}

/**
 * Milliseconds after which no write that was in flight when a project or workspace was deleted can reach the cold tier:
 * a minute in which a writer may begin (`FLUSH_CALL_MS`), or two of a compaction, two in which it may put a file again, 30 s for a
 * query of D1 or a put, and room for clock differences.
 */
export const LATE_WRITES_MS = 5 * 60 * 1000;

/** A deleted project that may have entries in the cold tier. */
export interface DeletedProject {
  project: number;
  projectId: string;
  /** Epoch milliseconds of the deletion, and of the next cold cleanup. */
  deletedAt: number;
  sweepAt: number;
}

/**
 * Records what to delete of a project, before its row is deleted. Does not wait for a flush in flight: cold cleanup
 * deletes later what it writes.
 */
export function recordProjectDeletion(sql: SqlStorage, num: number, now: number): void {
  sql.exec(
    `INSERT OR IGNORE INTO doomed_projects (project, doomed_at, id)
       SELECT num, ?, CASE WHEN flushed_seq > 0 OR num IN (SELECT project FROM flush_intents)
         OR num IN (SELECT project FROM set_aside) THEN id END
       FROM projects WHERE num = ?`,
    now,
    num,
  );
  sql.exec("DELETE FROM flush_intents WHERE project = ?", num);
  sql.exec("DELETE FROM set_aside WHERE project = ?", num);
  forgetCompaction(sql, num);
}

/** Returns a deleted project with data left in this object, or `null`. */
export function nextProjectToClear(sql: SqlStorage): number | null {
  const select = "SELECT project FROM doomed_projects WHERE emptied = 0 LIMIT 1";
  return maybe<{ project: number }>(sql, select)?.project ?? null;
}

/** Call after a deleted project's last batch and receipt were deleted. */
export function markProjectCleared(sql: SqlStorage, num: number): void {
  sql.exec("UPDATE doomed_projects SET emptied = 1 WHERE project = ?", num);
  forgetDone(sql);
}

/** Returns the deleted project whose cold cleanup is due first, or `null`. */
export function nextDeletedProject(sql: SqlStorage): DeletedProject | null {
  return maybe<{ project: number; projectId: string; deletedAt: number; sweepAt: number }>(
    sql,
    `SELECT project, id AS projectId, doomed_at AS deletedAt, sweep_at AS sweepAt FROM doomed_projects
     WHERE id IS NOT NULL ORDER BY sweep_at LIMIT 1`,
  );
}

/**
 * Records that cold cleanup found no entries of a deleted project. The last cleanup is after the time at which writes
 * can arrive.
 */
export function recordColdSweep(sql: SqlStorage, { project, deletedAt }: DeletedProject, now: number): void {
  const lastAt = deletedAt + LATE_WRITES_MS;
  // Deleting a large project's ranges takes several steps; a range has a few bytes.
  if (now < lastAt || !forgetRangesOf(sql, project))
    sql.exec("UPDATE doomed_projects SET sweep_at = ? WHERE project = ?", Math.max(now, lastAt), project);
  else sql.exec("UPDATE doomed_projects SET id = NULL WHERE project = ?", project);
  forgetDone(sql);
}

function forgetDone(sql: SqlStorage): void {
  sql.exec("DELETE FROM doomed_projects WHERE emptied = 1 AND id IS NULL");
}
