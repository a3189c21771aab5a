import type { Env } from "../../env.ts";
import type { Limiter } from "../../limits/limiter.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { logObjectEvent } from "../../platform/log.ts";
import type { Origin } from "../../platform/origin.ts";
import { sweepAudit } from "../../workspace/audit.ts";
import {
  expireRanges,
  hasColdEntries,
  markProjectCleared,
  nextDeletedProject,
  nextProjectToClear,
  recordColdSweep,
} from "../../workspace/flush/flushed-ranges.ts";
import { readIntent } from "../../workspace/flush/intent.ts";
import { deleteSomeReceipts, type ReceiptCursor, sweepReceipts } from "../../workspace/ingest.ts";
import { deleteBatches, deleteSomeBatches } from "../../workspace/recent/batches.ts";
import { retentionCutoff } from "../../workspace/settings.ts";
import type { WorkspaceState } from "../../workspace/state.ts";

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

/** Milliseconds between two rounds while there is nothing urgent: a row written an hour. */
const ROUND_MS = 60 * 60 * 1000;
/** Milliseconds to the next step of work that did not fit into one turn. */
const STEP_MS = 100;

export interface RoundResult {
  /** Commit numbers of deleted batches, for the index of recent batches. */
  deleted: number[];
  /** Where the sweep of receipts goes on. */
  receipts: ReceiptCursor | null;
  /** Epoch milliseconds of the next alarm. */
  nextAt: number;
}

/** One bounded step of the work that nobody waits for: expired counters, receipts and audit items, logs of deleted projects. */
export function runHousekeeping(
  sql: SqlStorage,
  limiter: Limiter,
  from: ReceiptCursor | null,
  now: number,
): RoundResult {
  const sweepAt = limiter.sweep(now) ?? Number.POSITIVE_INFINITY;
  const receipts = sweepReceipts(sql, from, now);
  let urgent = sweepAudit(sql, now) || receipts !== null;
  const deleted: number[] = [];
  const doomed = nextProjectToClear(sql);
  if (doomed !== null) {
    urgent = true;
    const step = deleteSomeBatches(sql, doomed);
    deleted.push(...step.commits);
    if (step.done && deleteSomeReceipts(sql, doomed)) markProjectCleared(sql, doomed);
  }
  return { deleted, receipts, nextAt: Math.min(sweepAt, now + (urgent ? STEP_MS : ROUND_MS)) };
}

/** Milliseconds between two looks for entries past the retention, and to the next step of one. */
const EXPIRE_EVERY_MS = 60 * 60 * 1000;
/** Milliseconds until a look that has to wait for a flush is tried again. */
const FLUSHING_MS = 5000;
/** Milliseconds until what D1 did not do is tried again. */
const RETRY_MS = 30_000;
/** Deletions of D1 that one alarm makes at most, of some rows each. */
const CALLS_AT_ONCE = 10;

/** Deletes what has no business in the cold tier any more, and recent batches past the retention, in bounded steps. */
export class ColdCleanup {
  readonly #env: Env;
  readonly #state: WorkspaceState;
  /** When the next look for expired entries is due; at the first alarm after waking. */
  #expireAt = 0;
  /** Up to which commit this look has come. */
  #lookedAt = 0;
  /** After a failure nothing is tried before this time. */
  #notBefore = 0;

  constructor(env: Env, state: WorkspaceState) {
    this.#env = env;
    this.#state = state;
  }

  /** The retention may have become shorter. */
  expireSoon(): void {
    this.#expireAt = 0;
    this.#lookedAt = 0;
    this.#state.alarm.by(Date.now());
  }

  /** Sees to it that the alarm goes off for the next step. */
  arm(now: number): void {
    const { row, sql, alarm } = this.#state;
    if (row === null) return;
    const sweepAt = nextDeletedProject(sql)?.sweepAt ?? Number.POSITIVE_INFINITY;
    alarm.by(Math.max(now, this.#notBefore, Math.min(sweepAt, this.#expireAt)));
  }

  /** One step of each, if due. Throws nothing. */
  async step(run: Origin): Promise<void> {
    if (Date.now() < this.#notBefore) return;
    try {
      await this.#sweep();
      await this.#expire();
      this.#notBefore = 0;
    } catch (error) {
      this.#notBefore = Date.now() + RETRY_MS;
      const fault = error instanceof Error ? error.name : "unknown";
      const workspaceId = this.#state.row?.id;
      const line = { event: "workspace.cold-upkeep", outcome: "failed", workspaceId, fault };
      logObjectEvent(this.#env, "workspace", run, "error", line);
    }
  }

  /** Entries of deleted projects. */
  async #sweep(): Promise<void> {
    const { row, sql } = this.#state;
    const now = Date.now();
    const remains = row && nextDeletedProject(sql);
    if (!remains || remains.sweepAt > now) return;
    const { projectId } = remains;
    const isEmpty = await this.#delete((store) => store.deleteOfProject(row.id, projectId));
    if (isEmpty) this.#state.transaction((admission) => recordColdSweep(admission.sql, remains, now));
  }

  async #expire(): Promise<void> {
    const { row, sql, index, schedule } = this.#state;
    const now = Date.now();
    if (row === null || now < this.#expireAt) return;
    // A range that is on its way has to stay whole, here and there.
    if (readIntent(sql) !== null) {
      this.#expireAt = now + FLUSHING_MS;
      return;
    }
    const cutoff = retentionCutoff(row.retentionDays, now);
    // The record of a range goes before the range does, so that what is recorded must be there.
    const isRecorded = this.#state.transaction((admission) => !expireRanges(admission.sql, cutoff));
    if (isRecorded) {
      this.#expireAt = now + STEP_MS;
      return;
    }
    const step = this.#state.transaction((admission) => expireBatches(admission.sql, this.#lookedAt, cutoff));
    if (step === null) return;
    index.remove(step.deleted);
    if (step.deleted.length > 0) {
      this.#state.keyProjectCache.clear();
      schedule.unload();
    }
    this.#lookedAt = step.next ?? this.#lookedAt;
    const isEmpty = !hasColdEntries(sql) || (await this.#delete((store) => store.deleteOlder(row.id, cutoff)));
    const isDone = isEmpty && step.next === null;
    if (isDone) this.#lookedAt = 0;
    this.#expireAt = now + (isDone ? EXPIRE_EVERY_MS : STEP_MS);
  }

  /** @returns whether nothing is left */
  async #delete(some: (store: ColdTier) => Promise<number>): Promise<boolean> {
    const store = new ColdTier(this.#env);
    for (let call = 0; call < CALLS_AT_ONCE; call++) if ((await some(store)) === 0) return true;
    return false;
  }
}
