import { exists, mapRows, maybe, one } from "../../platform/sql.ts";

/** What moving entries to the cold tier needs on disk; described in `docs/storage.md`. */
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
 * Which ranges this object has moved to the cold tier: what `npm run reconcile` compares that tier with. A range's row goes
 * before its segments do, so that a range that is here must be there too, unless the cold tier has lost it.
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

/** A range that lies in the cold tier, all of it or what the retention has left. */
export interface FlushedRange {
  firstSeq: number;
  lastSeq: number;
  isWhole: boolean;
}

/** Rows that one step changes at most of each kind. */
const STEP_ROWS = 2000;

/** In the transaction that deletes the range's batches, before they go. */
export function recordRange(
  sql: SqlStorage,
  { project, firstSeq, lastSeq }: { project: number; firstSeq: number; lastSeq: number },
  { firstCommit, lastCommit }: { firstCommit: number; lastCommit: number },
): void {
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
}

/**
 * Forgets some ranges of which the retention leaves nothing, and marks those that it reaches; also those of deleted
 * projects. To be called before the cold tier is told to delete the same.
 * @param cutoff entries with an earlier timestamp are past the retention, epoch milliseconds
 * @returns whether nothing of it is left to do
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

/** Forgets some ranges of a deleted project. @returns whether none is left */
export function forgetRangesOf(sql: SqlStorage, project: number): boolean {
  const gone = sql.exec(
    `DELETE FROM flushed_ranges WHERE project = ?1 AND first_seq IN
       (SELECT first_seq FROM flushed_ranges WHERE project = ?1 LIMIT ${STEP_ROWS}) RETURNING 1`,
    project,
  );
  return gone.toArray().length < STEP_ROWS;
}

/** Whether this object has moved anything to the cold tier's own database that the retention has left there. */
export function hasFlushedRanges(sql: SqlStorage): boolean {
  return exists(sql, "SELECT 1 FROM flushed_ranges LIMIT 1");
}

/** Ranges of a project that begin behind a `seq`, in order. */
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

/** How moving entries to the cold tier goes. Times are epoch milliseconds. */
export interface FlushProgress {
  lastAt: number | null;
  lastError: string | null;
  /** Batches that the cold tier cannot take. */
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

/** Written once per reason, however often it comes. */
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
  return `Batch ${commit} of ${projectId} (seq ${firstSeq} to ${firstSeq + count - 1}) was set aside: ${reason}.`;
}

/** Whether anything of this workspace is in the cold tier, or may still arrive there. */
export function hasColdEntries(sql: SqlStorage): boolean {
  const { cold } = one<{ cold: number }>(
    sql,
    `SELECT EXISTS (SELECT 1 FROM projects WHERE flushed_seq > 0) OR EXISTS (SELECT 1 FROM flush_intents)
       OR EXISTS (SELECT 1 FROM set_aside) OR EXISTS (SELECT 1 FROM doomed_projects WHERE id IS NOT NULL) AS cold`,
  );
  return cold === 1;
}

/**
 * Milliseconds after which nothing that was on its way when a project or a workspace was deleted can arrive in the cold
 * tier: a minute in which a writer may begin (`FLUSH_CALL_MS`), D1's 30 s for a query, and room for clocks that differ.
 */
export const LATE_WRITES_MS = 5 * 60 * 1000;

/** A deleted project that may have entries in the cold tier. */
export interface DeletedProject {
  project: number;
  projectId: string;
  /** Epoch milliseconds: when it was deleted, and when it is to be swept. */
  deletedAt: number;
  sweepAt: number;
}

/**
 * Writes down what is to be deleted of a project, before its row goes. What was on its way to the cold tier is not
 * waited for: what arrives of it is swept later.
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
}

/** A deleted project of which something is left in this object. */
export function nextProjectToClear(sql: SqlStorage): number | null {
  const select = "SELECT project FROM doomed_projects WHERE emptied = 0 LIMIT 1";
  return maybe<{ project: number }>(sql, select)?.project ?? null;
}

/** A deleted project's last batch and receipt are gone. */
export function markProjectCleared(sql: SqlStorage, num: number): void {
  sql.exec("UPDATE doomed_projects SET emptied = 1 WHERE project = ?", num);
  forgetDone(sql);
}

/** The deleted project whose entries in the cold tier are to be swept first. */
export function nextDeletedProject(sql: SqlStorage): DeletedProject | null {
  return maybe<{ project: number; projectId: string; deletedAt: number; sweepAt: number }>(
    sql,
    `SELECT project, id AS projectId, doomed_at AS deletedAt, sweep_at AS sweepAt FROM doomed_projects
     WHERE id IS NOT NULL ORDER BY sweep_at LIMIT 1`,
  );
}

/** A look for a deleted project's entries in the cold tier has found none: the last one is made when none can arrive. */
export function recordColdSweep(sql: SqlStorage, { project, deletedAt }: DeletedProject, now: number): void {
  const lastAt = deletedAt + LATE_WRITES_MS;
  // A large project's ranges take some looks; they are a few bytes each.
  if (now < lastAt || !forgetRangesOf(sql, project))
    sql.exec("UPDATE doomed_projects SET sweep_at = ? WHERE project = ?", Math.max(now, lastAt), project);
  else sql.exec("UPDATE doomed_projects SET id = NULL WHERE project = ?", project);
  forgetDone(sql);
}

function forgetDone(sql: SqlStorage): void {
  sql.exec("DELETE FROM doomed_projects WHERE emptied = 1 AND id IS NULL");
}
