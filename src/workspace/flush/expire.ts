import { deleteBatches } from "../batches.ts";

/** Rows looked at by one step: there is no index by time. */
const STEP_ROWS = 2000;

/** One step of dropping recent batches that are wholly past the retention. */
export interface ExpireStep {
  /** Commit numbers deleted. */
  deleted: number[];
  /** Last commit number looked at; null where none is left. */
  next: number | null;
}

/** Not to be called while a range is on its way: the next try has to find all of it. */
export function expireBatches(sql: SqlStorage, after: number, cutoff: number): ExpireStep {
  const rows = sql
    .exec<{ commit: number; project: number; maxTimestamp: number; isAside: number }>(
      `SELECT commit_no AS "commit", project, max_ts AS maxTimestamp,
         commit_no IN (SELECT commit_no FROM set_aside) AS isAside
       FROM batches WHERE commit_no > ? ORDER BY commit_no LIMIT ${STEP_ROWS}`,
      after,
    )
    .toArray();
  const expired = rows.filter(({ maxTimestamp }) => maxTimestamp < cutoff);
  const waiting = new Map<number, number[]>();
  for (const { commit, project, isAside } of expired) {
    if (isAside) sql.exec("DELETE FROM set_aside WHERE commit_no = ?", commit);
    const group = isAside ? -1 : project;
    const commits = waiting.get(group);
    if (commits) commits.push(commit);
    else waiting.set(group, [commit]);
  }
  for (const [project, commits] of waiting) {
    const gone = deleteBatches(sql, commits);
    sql.exec(
      `UPDATE projects SET waiting_batches = waiting_batches - ?, waiting_entries = waiting_entries - ?,
         waiting_bytes = waiting_bytes - ? WHERE num = ?`,
      gone.batches,
      gone.entries,
      gone.bytes,
      project,
    );
  }
  const next = rows.length < STEP_ROWS ? null : (rows.at(-1)?.commit ?? null);
  return { deleted: expired.map(({ commit }) => commit), next };
}
