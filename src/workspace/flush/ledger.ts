/**
 * Which ranges this object has moved to the cold tier: what `npm run reconcile` compares that tier with. A range's row goes
 * before its segments do, so that a range that is here must be there too, unless the cold tier has lost it.
 */
export const FLUSHED_RANGES_SCHEMA = [
  `CREATE TABLE flushed_ranges (
     project INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     last_seq INTEGER NOT NULL,
     -- Smallest and largest timestamp of its entries, epoch milliseconds.
     min_ts INTEGER NOT NULL,
     max_ts INTEGER NOT NULL,
     -- 0: the retention has reached it, and some of its segments may be gone. The one of the newest entry is not.
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
  return sql.exec("SELECT 1 FROM flushed_ranges LIMIT 1").toArray().length > 0;
}

/** Ranges of a project that begin behind a `seq`, in order. */
export function flushedRangesAfter(sql: SqlStorage, project: number, after: number, limit: number): FlushedRange[] {
  return sql
    .exec<{ firstSeq: number; lastSeq: number; isWhole: number }>(
      `SELECT first_seq AS firstSeq, last_seq AS lastSeq, is_whole AS isWhole FROM flushed_ranges
       WHERE project = ? AND first_seq > ? ORDER BY first_seq LIMIT ?`,
      project,
      after,
      limit,
    )
    .toArray()
    .map(({ isWhole, ...range }) => ({ ...range, isWhole: isWhole === 1 }));
}
