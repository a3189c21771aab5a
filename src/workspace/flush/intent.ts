import { mapRows, maybe } from "../../platform/sql.ts";
import { readBatch } from "../recent/reader.ts";
import { replaceBatchesByRange } from "./flushed-ranges.ts";
import type { FlushRange } from "./schedule.ts";
import { recordFiles } from "./segment-files.ts";
import type { FlushBatch, QuarantinedBatch } from "./write-range.ts";

/** The range that the running flush moves. At most one at a time. */
export interface FlushIntent extends FlushRange {
  /** The project's number and id. */
  project: number;
  projectId: string;
  /** The project's watermark. */
  watermark: number;
  /** Epoch milliseconds. */
  madeAt: number;
}

/** A mapped type, because `exec` does not accept an interface. */
type IntentRow = Pick<FlushIntent, keyof FlushIntent>;

export function readIntent(sql: SqlStorage): FlushIntent | null {
  return maybe<IntentRow>(
    sql,
    `SELECT project, id AS projectId, flushed_seq AS watermark, i.first_seq AS firstSeq, i.last_seq AS lastSeq,
       i.first_commit AS firstCommit, i.last_commit AS lastCommit, i.made_at AS madeAt
     FROM flush_intents i JOIN projects ON num = project LIMIT 1`,
  );
}

/**
 * Persists the intent. `readRange` takes the intent that `readIntent` returns, so no batch leaves the object without
 * one.
 */
export function writeIntent(sql: SqlStorage, range: { project: number } & FlushRange, now: number): void {
  sql.exec(
    `INSERT INTO flush_intents (project, first_seq, last_seq, first_commit, last_commit, made_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    range.project,
    range.firstSeq,
    range.lastSeq,
    range.firstCommit,
    range.lastCommit,
    now,
  );
}

/** Whether this range is still the flush intent: its project may have been deleted in the meantime. */
export function isOpen(sql: SqlStorage, { project, firstSeq, lastSeq }: FlushIntent): boolean {
  const open = readIntent(sql);
  return open !== null && open.project === project && open.firstSeq === firstSeq && open.lastSeq === lastSeq;
}

/** The batches of a range, and those whose rows are not whole. */
export function readRange(sql: SqlStorage, intent: FlushIntent): { batches: FlushBatch[]; bad: QuarantinedBatch[] } {
  const batches: FlushBatch[] = [];
  const bad: QuarantinedBatch[] = [];
  for (const commit of commitsOf(sql, intent)) {
    try {
      const { firstSeq, count, receivedAt, encoding, size, body } = readBatch(sql, commit, intent.projectId);
      batches.push({ commit, firstSeq, count, receivedAt, encoding, ...(size === undefined ? {} : { size }), body });
    } catch {
      bad.push({ commit, reason: "a part of it is missing" });
    }
  }
  return { batches, bad };
}

/**
 * Completes a flush in the caller's transaction: deletes the batches of a range that is in the cold tier, records the
 * range and raises the watermark.
 * @returns the deleted commit numbers
 */
export function commitRange(sql: SqlStorage, intent: FlushIntent): number[] {
  const commits = commitsOf(sql, intent);
  const gone = replaceBatchesByRange(sql, intent, commits);
  recordFiles(sql);
  sql.exec(
    `UPDATE projects SET flushed_seq = ?, waiting_batches = waiting_batches - ?, waiting_entries = waiting_entries - ?,
       waiting_bytes = waiting_bytes - ? WHERE num = ?`,
    intent.lastSeq,
    gone.batches,
    gone.entries,
    gone.bytes,
    intent.project,
  );
  sql.exec("DELETE FROM flush_intents WHERE project = ?", intent.project);
  return commits;
}

/** Quarantines batches and drops the intent: the next range excludes them. */
export function quarantineBatches(
  sql: SqlStorage,
  { project }: FlushIntent,
  bad: readonly QuarantinedBatch[],
  now: number,
): void {
  for (const { commit, reason } of bad) {
    const rows = sql.exec<{ entries: number; bytes: number }>(
      `INSERT INTO set_aside (commit_no, project, first_seq, count, body_bytes, reason, at)
         SELECT commit_no, project, first_seq, count, body_bytes, ?, ? FROM batches WHERE commit_no = ? AND project = ?
       RETURNING count AS entries, body_bytes AS bytes`,
      reason,
      now,
      commit,
      project,
    );
    for (const { entries, bytes } of rows) {
      sql.exec(
        `UPDATE projects SET waiting_batches = waiting_batches - 1, waiting_entries = waiting_entries - ?,
           waiting_bytes = waiting_bytes - ? WHERE num = ?`,
        entries,
        bytes,
        project,
      );
    }
  }
  sql.exec("DELETE FROM flush_intents WHERE project = ?", project);
}

function commitsOf(sql: SqlStorage, { project, firstCommit, lastCommit }: FlushIntent): number[] {
  return mapRows(
    sql,
    (row: { commit: number }) => row.commit,
    `SELECT commit_no AS "commit" FROM batches WHERE commit_no BETWEEN ? AND ? AND project = ? ORDER BY commit_no`,
    firstCommit,
    lastCommit,
    project,
  );
}
