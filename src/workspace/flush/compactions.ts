import { maybe } from "../../platform/sql.ts";
import { recordFiles } from "./segment-files.ts";

/** How far the segments of each project are merged; see `src/logs/cold/compaction`. */
export const COMPACTION_SCHEMA = [
  `CREATE TABLE compactions (
     -- Row: a project with entries in the cold tier, and how far its segments are merged.
     project INTEGER PRIMARY KEY,
     -- Segments up to this \`seq\` are as large as they become.
     done_seq INTEGER NOT NULL DEFAULT 0,
     -- Segments up to this \`seq\` may be merged at \`due_at\`: by then no late writer can insert them again.
     ready_seq INTEGER NOT NULL,
     -- When the next step is due; null: the next flush decides.
     due_at INTEGER,
     -- The intent: when the running step began; null: none runs.
     began_at INTEGER
   ) STRICT`,
  `CREATE INDEX compactions_due ON compactions (due_at) WHERE due_at IS NOT NULL`,
  // Segments of versions before are merged over the next hours, not by all workspaces at once.
  `INSERT INTO compactions (project, ready_seq, due_at)
     SELECT num, flushed_seq, unixepoch() * 1000 + abs(random() % 21600000) FROM projects WHERE flushed_seq > 0`,
] as const;

/** Milliseconds from a flush until its segments may be merged: longer than a late writer can take. */
export const READY_MS = 10 * 60 * 1000;

/** A project whose segments may be merged. Times are epoch milliseconds. */
export interface ProjectCompaction {
  project: number;
  projectId: string;
  doneSeq: number;
  readySeq: number;
  dueAt: number;
  beganAt: number | null;
}

/** Records that entries of a project have arrived in the cold tier. Writes nothing while a step is planned. */
export function noteFlushed(sql: SqlStorage, project: number, lastSeq: number, now: number): void {
  sql.exec(
    `INSERT INTO compactions (project, ready_seq, due_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (project) DO UPDATE SET ready_seq = ?2, due_at = ?3 WHERE due_at IS NULL`,
    project,
    lastSeq,
    now + READY_MS,
  );
}

/** Returns the project whose step is due first, or `null`. */
export function nextCompaction(sql: SqlStorage): ProjectCompaction | null {
  type Row = Pick<ProjectCompaction, keyof ProjectCompaction>;
  return maybe<Row>(
    sql,
    `SELECT project, id AS projectId, done_seq AS doneSeq, ready_seq AS readySeq, due_at AS dueAt, began_at AS beganAt
     FROM compactions JOIN projects ON num = project WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
  );
}

/** Persists that a step begins. */
export function beginCompaction(sql: SqlStorage, project: number, now: number): void {
  sql.exec("UPDATE compactions SET began_at = ? WHERE project = ?", now, project);
  recordFiles(sql);
}

/** Records the end of a step that has done something, or that must be repeated. The next one is due at `dueAt`. */
export function continueCompaction(sql: SqlStorage, project: number, doneSeq: number, dueAt: number): void {
  const update = "UPDATE compactions SET done_seq = max(done_seq, ?), due_at = ?, began_at = NULL WHERE project = ?";
  sql.exec(update, doneSeq, dueAt, project);
}

/** Records that nothing is left to merge. What was flushed since then becomes ready. */
export function completeCompaction(sql: SqlStorage, project: number, doneSeq: number, now: number): void {
  sql.exec(
    `UPDATE compactions SET done_seq = max(done_seq, ?1), began_at = NULL,
       due_at = CASE WHEN flushed > ready_seq THEN ?2 END, ready_seq = max(flushed, ready_seq)
     FROM (SELECT flushed_seq AS flushed FROM projects WHERE num = ?3) WHERE project = ?3`,
    doneSeq,
    now + READY_MS,
    project,
  );
}

/** Call before a project's row is deleted. */
export function forgetCompaction(sql: SqlStorage, project: number): void {
  sql.exec("DELETE FROM compactions WHERE project = ?", project);
}
