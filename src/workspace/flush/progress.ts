/** How moving entries to the cold tier goes. Times are epoch milliseconds. */
export interface FlushProgress {
  lastAt: number | null;
  lastError: string | null;
  /** Batches that the cold tier cannot take. */
  setAside: { batches: number; entries: number; bytes: number };
}

export function readProgress(sql: SqlStorage): FlushProgress {
  const state = sql
    .exec<{ lastAt: number | null; lastError: string | null }>(
      "SELECT last_at AS lastAt, last_error AS lastError FROM flush_state",
    )
    .toArray()[0];
  const setAside = sql
    .exec<{ batches: number; entries: number; bytes: number }>(
      `SELECT COUNT(*) AS batches, COALESCE(SUM(count), 0) AS entries, COALESCE(SUM(body_bytes), 0) AS bytes FROM set_aside`,
    )
    .one();
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
  const row = sql
    .exec<{ commit: number; projectId: string; firstSeq: number; count: number; reason: string }>(
      `SELECT commit_no AS "commit", id AS projectId, first_seq AS firstSeq, count, reason
       FROM set_aside JOIN projects ON num = project ORDER BY at DESC, commit_no DESC LIMIT 1`,
    )
    .toArray()[0];
  if (!row) return null;
  const { commit, projectId, firstSeq, count, reason } = row;
  return `Batch ${commit} of ${projectId} (seq ${firstSeq} to ${firstSeq + count - 1}) was set aside: ${reason}.`;
}

/** Whether anything of this workspace is in the cold tier, or may still arrive there. */
export function hasColdEntries(sql: SqlStorage): boolean {
  const { cold } = sql
    .exec<{ cold: number }>(
      `SELECT EXISTS (SELECT 1 FROM projects WHERE flushed_seq > 0) OR EXISTS (SELECT 1 FROM flush_intents)
         OR EXISTS (SELECT 1 FROM set_aside) OR EXISTS (SELECT 1 FROM doomed_projects WHERE id IS NOT NULL) AS cold`,
    )
    .one();
  return cold === 1;
}
