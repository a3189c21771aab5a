import { forgetRangesOf } from "./ledger.ts";

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
  const row = sql.exec("SELECT project FROM doomed_projects WHERE emptied = 0 LIMIT 1").toArray()[0];
  return row ? Number(row.project) : null;
}

/** A deleted project's last batch and receipt are gone. */
export function markProjectCleared(sql: SqlStorage, num: number): void {
  sql.exec("UPDATE doomed_projects SET emptied = 1 WHERE project = ?", num);
  forgetDone(sql);
}

/** The deleted project whose entries in the cold tier are to be swept first. */
export function nextDeletedProject(sql: SqlStorage): DeletedProject | null {
  const row = sql
    .exec<{ project: number; projectId: string; deletedAt: number; sweepAt: number }>(
      `SELECT project, id AS projectId, doomed_at AS deletedAt, sweep_at AS sweepAt FROM doomed_projects
       WHERE id IS NOT NULL ORDER BY sweep_at LIMIT 1`,
    )
    .toArray()[0];
  return row ?? null;
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
