import { deleteSomeDecisions, sweepDecisions } from "../../alerts/decisions.ts";
import { deleteSomeNotifications, sweepNotifications } from "../../alerts/notifications/history.ts";
import { deleteSomeOrphans } from "../../alerts/stored-groups.ts";
import type { Env } from "../../env.ts";
import type { Limiter } from "../../limits/limiter.ts";
import { ColdCleaner, type Deletion } from "../../logs/cold/store/cold-cleaner.ts";
import type { Duty } from "../../platform/alarm.ts";
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
import { deleteSomeOfLedger } from "../../workspace/ledger.ts";
import { deleteSomeReceipts, type ReceiptCursor, sweepReceipts } from "../../workspace/receipts.ts";
import { deleteBatches, deleteSomeBatches } from "../../workspace/recent/batches.ts";
import { sweepStaged } from "../../workspace/recent/staged-batches.ts";
import { deleteSomeRecordIds } from "../../workspace/record-ids.ts";
import { retentionCutoff } from "../../workspace/settings.ts";
import type { WorkspaceState } from "../../workspace/state.ts";
import { deleteSomeStreams } from "../../workspace/streams.ts";

/** Rows that one step reads: there is no index by time. */
const STEP_ROWS = 2000;

/** The result of one step of deleting recent batches whose entries have all expired. */
export interface ExpireStep {
  /** Commit numbers deleted. */
  deleted: number[];
  /** Last commit number that was read; `null` at the end. */
  next: number | null;
}

/** Deletes expired batches. Throws if a flush is in progress: its next attempt needs the whole range. */
export function expireBatches(sql: SqlStorage, after: number, cutoff: number): ExpireStep {
  if (readIntent(sql) !== null) throw new Error("A flush is in progress.");
  const rows = sql
    .exec<{ commit: number; project: number; maxTimestamp: number; isQuarantined: number }>(
      `SELECT commit_no AS "commit", project, max_ts AS maxTimestamp,
         commit_no IN (SELECT commit_no FROM set_aside) AS isQuarantined
       FROM batches WHERE commit_no > ? ORDER BY commit_no LIMIT ${STEP_ROWS}`,
      after,
    )
    .toArray();
  const expired = rows.filter(({ maxTimestamp }) => maxTimestamp < cutoff);
  const expiredByProject = new Map<number, number[]>();
  for (const { commit, project, isQuarantined } of expired) {
    if (isQuarantined) sql.exec("DELETE FROM set_aside WHERE commit_no = ?", commit);
    const group = isQuarantined ? -1 : project;
    const commits = expiredByProject.get(group);
    if (commits) commits.push(commit);
    else expiredByProject.set(group, [commit]);
  }
  for (const [project, commits] of expiredByProject) {
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

/** Milliseconds between two rounds if no work is left: one row written per hour. */
const ROUND_MS = 60 * 60 * 1000;
/** Milliseconds to the next step of work that did not fit into one turn. */
const STEP_MS = 100;

export interface RoundResult {
  /** Commit numbers of deleted batches, for the index of recent batches. */
  deleted: number[];
  /** Where the sweep of receipts continues. */
  receipts: ReceiptCursor | null;
  /** Epoch milliseconds of the next alarm. */
  nextAt: number;
}

/** Does one bounded step of housekeeping: expired counters, receipts and audit items, batches of deleted projects. */
export function runHousekeeping(
  sql: SqlStorage,
  limiter: Limiter,
  from: ReceiptCursor | null,
  now: number,
): RoundResult {
  const sweepAt = limiter.sweep(now) ?? Number.POSITIVE_INFINITY;
  const receipts = sweepReceipts(sql, from, now);
  let urgent = sweepAudit(sql, now) || receipts !== null;
  if (sweepStaged(sql, now)) urgent = true;
  if (sweepNotifications(sql, now)) urgent = true;
  sweepDecisions(sql, now);
  if (!deleteSomeOrphans(sql)) urgent = true;
  const deleted: number[] = [];
  const project = nextProjectToClear(sql);
  if (project !== null) {
    urgent = true;
    const step = deleteSomeBatches(sql, project);
    deleted.push(...step.commits);
    if (
      step.done &&
      deleteSomeReceipts(sql, project) &&
      deleteSomeRecordIds(sql, project) &&
      deleteSomeOfLedger(sql, project) &&
      deleteSomeStreams(sql, project) &&
      deleteSomeNotifications(sql, project) &&
      deleteSomeDecisions(sql, project)
    ) {
      markProjectCleared(sql, project);
    }
  }
  return { deleted, receipts, nextAt: Math.min(sweepAt, now + (urgent ? STEP_MS : ROUND_MS)) };
}

/** Housekeeping of the recent tier, in rounds of bounded steps. */
export class Housekeeping implements Duty {
  readonly name = "housekeeping";
  readonly #state: WorkspaceState;
  readonly #frequent: readonly Duty[];
  #receipts: ReceiptCursor | null = null;
  /** When the next round is due; 0 after the start of the object, so at the first alarm. */
  #nextAt = 0;

  /** @param frequent duties whose alarms come too often for a round, which reads every table */
  constructor(state: WorkspaceState, frequent: readonly Duty[]) {
    this.#state = state;
    this.#frequent = frequent;
  }

  /** Starts a round now: batches of a deleted project wait to be deleted. */
  startNow(): void {
    this.#nextAt = 0;
    this.#state.alarm.by(Date.now());
  }

  dueAt(): number {
    return this.#nextAt;
  }

  run(now: number, _origin: Origin, due: ReadonlySet<Duty>): void {
    if (now < this.#nextAt && this.#frequent.some((duty) => due.has(duty))) return;
    const state = this.#state;
    const round = state.transaction(({ sql, recordIds }) => {
      const isSwept = recordIds.sweep(now);
      const step = runHousekeeping(sql, state.limiter, this.#receipts, now);
      return isSwept ? step : { ...step, nextAt: Math.min(step.nextAt, now + STEP_MS) };
    });
    if (!round) return;
    this.#receipts = round.receipts;
    state.index.remove(round.deleted);
    this.#nextAt = round.nextAt;
  }
}

/** Milliseconds between two searches for expired entries. */
const EXPIRE_EVERY_MS = 60 * 60 * 1000;
/** Milliseconds until a search that has to wait for a flush is repeated. */
const FLUSHING_MS = 5000;
/** Milliseconds until a failed deletion in D1 is repeated. */
const RETRY_MS = 30_000;
/** Maximum number of deletions in D1 of one alarm, of a bounded number of rows each. */
const CALLS_AT_ONCE = 10;

/** Deletes expired entries of both tiers, and the cold entries of deleted projects, in bounded steps. */
export class Cleanup implements Duty {
  readonly name = "cleanup";
  readonly #env: Env;
  readonly #state: WorkspaceState;
  /** When the next search for expired entries is due; 0 after the start of the object, so at the first alarm. */
  #expireAt = 0;
  /** The last commit that this search has read. */
  #scannedTo = 0;
  /** No step runs before this time, after a failure. */
  #notBefore = 0;

  constructor(env: Env, state: WorkspaceState) {
    this.#env = env;
    this.#state = state;
  }

  /** Starts a search for expired entries. Called after the retention has become shorter. */
  expireSoon(): void {
    this.#expireAt = 0;
    this.#scannedTo = 0;
    this.#state.alarm.by(Date.now());
  }

  dueAt(): number {
    const sweepAt = nextDeletedProject(this.#state.sql)?.sweepAt ?? Number.POSITIVE_INFINITY;
    return Math.max(this.#notBefore, Math.min(sweepAt, this.#expireAt));
  }

  /** Does one step of each kind of work that is due. Throws nothing. */
  async run(now: number, origin: Origin): Promise<void> {
    if (now < this.#notBefore) return;
    try {
      await this.#sweep();
      await this.#expire(origin);
      this.#notBefore = 0;
    } catch (error) {
      this.#notBefore = Date.now() + RETRY_MS;
      const fault = error instanceof Error ? error.name : "unknown";
      const workspaceId = this.#state.row?.id;
      const line = { event: "workspace.cold-upkeep", outcome: "failed", workspaceId, fault };
      logObjectEvent(this.#env, "workspace", origin, "error", line);
    }
  }

  /** Deletes entries of deleted projects from the cold tier. */
  async #sweep(): Promise<void> {
    const { row, sql } = this.#state;
    const now = Date.now();
    const remains = row && nextDeletedProject(sql);
    if (!remains || remains.sweepAt > now) return;
    const { projectId } = remains;
    const isEmpty = await this.#delete((cleaner) => cleaner.deleteOfProject(row.id, projectId));
    if (isEmpty) this.#state.transaction((admission) => recordColdSweep(admission.sql, remains, now));
  }

  async #expire(origin: Origin): Promise<void> {
    const { row, sql, index, schedule } = this.#state;
    const now = Date.now();
    if (row === null || now < this.#expireAt) return;
    // The range of a flush in progress must stay complete in both tiers.
    if (readIntent(sql) !== null) {
      this.#expireAt = now + FLUSHING_MS;
      return;
    }
    const cutoff = retentionCutoff(row.retentionDays, now);
    // Deletes the record of a range before the range, so that every recorded range is in the cold tier.
    const isRecorded = this.#state.transaction((admission) => !expireRanges(admission.sql, cutoff));
    if (isRecorded) {
      this.#expireAt = now + STEP_MS;
      return;
    }
    const step = this.#state.transaction((admission) => expireBatches(admission.sql, this.#scannedTo, cutoff));
    if (step === null) return;
    index.remove(step.deleted);
    if (step.deleted.length > 0) {
      this.#state.keyProjectCache.clear();
      schedule.unload();
    }
    this.#scannedTo = step.next ?? this.#scannedTo;
    const isEmpty =
      !hasColdEntries(sql) ||
      ((await this.#delete((cleaner) => cleaner.deleteOlder(row.id, cutoff))) &&
        (await this.#delete((cleaner) => cleaner.sweep(row.id, now, cutoff), origin)));
    const isDone = isEmpty && step.next === null;
    if (isDone) this.#scannedTo = 0;
    this.#expireAt = now + (isDone ? EXPIRE_EVERY_MS : STEP_MS);
  }

  /**
   * @param origin reports a database that is nearly full
   * @returns whether no row is left
   */
  async #delete(some: (cleaner: ColdCleaner) => Promise<Deletion>, origin: Origin | null = null): Promise<boolean> {
    const cleaner = new ColdCleaner(this.#env);
    for (let call = 0; call < CALLS_AT_ONCE; call++) {
      if (!(await some(cleaner)).isDone) continue;
      const { warning } = cleaner;
      const line = { event: "workspace.cold-size", outcome: "nearly-full", workspaceId: this.#state.row?.id };
      if (origin && warning) logObjectEvent(this.#env, "workspace", origin, "warn", { ...line, ...warning });
      return true;
    }
    return false;
  }
}
