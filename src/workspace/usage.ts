/** Milliseconds of a UTC day. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** Days since the epoch, in UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** What a workspace holds and takes in. Times are epoch milliseconds. */
export interface Usage {
  /** The recent tier. `bytes` as stored; `oldestAt` is when its oldest batch arrived. */
  recent: { entries: number; bytes: number; oldestAt: number | null };
  /** The cold tier. */
  stored: { entries: number; bytes: number; segments: number };
  /** Entries accepted since 00:00 UTC, those of projects deleted since included. */
  ingestedToday: number;
  flush: { pendingBatches: number; lastAt: number | null; lastError: string | null };
}

export function readUsage(sql: SqlStorage, now: number): Usage {
  // Batches of deleted projects are nobody's: they wait for the alarm that deletes them.
  const { entries, bytes, batches, oldestAt } = sql
    .exec<{ entries: number; bytes: number; batches: number; oldestAt: number | null }>(
      `SELECT COALESCE(SUM(count), 0) AS entries, COALESCE(SUM(body_bytes), 0) AS bytes, COUNT(*) AS batches,
         MIN(received_at) AS oldestAt
       FROM batches WHERE project NOT IN (SELECT project FROM doomed_projects)`,
    )
    .one();
  return {
    recent: { entries, bytes, oldestAt },
    stored: { entries: 0, bytes: 0, segments: 0 },
    ingestedToday: ingestedOn(sql, dayOf(now)),
    flush: { pendingBatches: batches, lastAt: null, lastError: null },
  };
}

/**
 * How many entries the projects have taken in on a day: `seq` has no gap, so it is how far each has risen since its
 * `day_seq`. What projects deleted on that day had taken in is kept in the workspace's row.
 */
function ingestedOn(sql: SqlStorage, day: number): number {
  return sql
    .exec<{ count: number }>(
      `SELECT COALESCE((SELECT SUM(last_seq - day_seq) FROM projects WHERE day = ?1), 0)
         + (SELECT CASE WHEN deleted_day = ?1 THEN deleted_ingested ELSE 0 END FROM workspace) AS count`,
      day,
    )
    .one().count;
}

/** To be called before a project is deleted: what it took in today still counts today. */
export function keepIngestedOf(sql: SqlStorage, project: number, now: number): void {
  const day = dayOf(now);
  sql.exec(
    `UPDATE workspace SET
       deleted_ingested = CASE WHEN deleted_day = ?1 THEN deleted_ingested ELSE 0 END
         + COALESCE((SELECT last_seq - day_seq FROM projects WHERE num = ?2 AND day = ?1), 0),
       deleted_day = ?1`,
    day,
    project,
  );
}
