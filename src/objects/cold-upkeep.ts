import type { Env } from "../env.ts";
import { ColdTier } from "../logs/cold/cold-tier.ts";
import type { Origin } from "../platform/origin.ts";
import { nextDeletedProject, recordColdSweep } from "../workspace/flush/doomed.ts";
import { expireBatches } from "../workspace/flush/expire.ts";
import { readIntent } from "../workspace/flush/intent.ts";
import { expireRanges } from "../workspace/flush/ledger.ts";
import { hasColdEntries } from "../workspace/flush/progress.ts";
import { retentionCutoff } from "../workspace/retention.ts";
import type { WorkspaceState } from "../workspace/state.ts";
import { logObjectEvent } from "./object-line.ts";

/** Milliseconds between two looks for entries past the retention, and to the next step of one. */
const EXPIRE_EVERY_MS = 60 * 60 * 1000;
const STEP_MS = 100;
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
