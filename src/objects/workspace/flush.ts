import type { Env } from "../../env.ts";
import { hostState } from "../../platform/host.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { LATE_WRITES_MS, recordFlush, recordFlushFailure } from "../../workspace/flush/flushed-ranges.ts";
import {
  commitRange,
  type FlushIntent,
  isOpen,
  quarantineBatches,
  readIntent,
  readRange,
  writeIntent,
} from "../../workspace/flush/intent.ts";
import type { FlushCall, FlushOutcome, QuarantinedBatch } from "../../workspace/flush/write-range.ts";
import type { WorkspaceState } from "../../workspace/state.ts";

/** Milliseconds from a page to the one after it, in which what is not yet read stays where it is. */
const LEASE_MS = 5000;
/** Milliseconds that readers can hold a flush up at a stretch. */
const MAX_HOLD_MS = 30_000;
/** After a hold flushes go on for this part of its time, whoever reads: else steady readers would stop them for good. */
const FREE_SHARE = 1 / 2;

/**
 * Routers of an older version in the middle of a read of several pages. A flush that moves what they have not read yet makes
 * them begin again, so it waits a little for them. Routers of this version follow what moves and take no lease; see
 * `docs/decisions/0016-reads-follow-what-moves.md`. Memory only: a reader whose lease is lost is slower, and never wrong.
 */
export class ReadPins {
  #until = 0;
  #blockedSince: number | null = null;
  #freeUntil = 0;

  /**
   * A reader has been given a page behind its first. With the first alone most are content: one that is not, and finds
   * things moved, begins anew under the lease that its second page has taken.
   */
  renew(now: number): void {
    this.#until = now + LEASE_MS;
  }

  /** When what was flushed may be deleted; null for at once. To be followed by `released` once it has been. */
  blockedUntil(now: number): number | null {
    if (this.#until <= now || now < this.#freeUntil) return null;
    this.#blockedSince ??= now;
    const until = Math.min(this.#until, this.#blockedSince + MAX_HOLD_MS);
    return until <= now ? null : until;
  }

  released(now: number): void {
    if (this.#blockedSince === null) return;
    this.#freeUntil = now + (now - this.#blockedSince) * FREE_SHARE;
    this.#blockedSince = null;
  }
}

/** Milliseconds in which a writer has to begin with D1; see `LATE_WRITES_MS`. */
const FLUSH_CALL_MS = 60_000;
/** Milliseconds that the object waits for an answer: two ends of a call may lose sight of each other. */
const ANSWER_MS = 45_000;

type Stored = Extract<FlushOutcome, { outcome: "stored" }>;

/**
 * Moves batches to the cold tier, one range a step: writes down which, has them written to D1 by the stateless side, and
 * deletes them once D1 has answered. Whatever ends a step before its end, the next one takes exactly the same range, which
 * D1 then has already or not.
 */
export class Flush {
  readonly leases = new ReadPins();
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #state: WorkspaceState;
  #running: Promise<void> | null = null;
  /** The alarm run that the step belongs to. Steps do not overlap. */
  #run = newAlarmOrigin();
  /** A range that D1 has answered for and that readers hold up. */
  #arrived: { intent: FlushIntent; stored: Stored } | null = null;
  /** Until then a call for the open range that was not answered may still write, epoch milliseconds. */
  #lateUntil = 0;
  /** When the range that this life of the object works on was written down, epoch milliseconds. */
  #intentAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState) {
    this.#ctx = ctx;
    this.#env = env;
    this.#state = state;
  }

  /** Whether a range is on its way. */
  get isOpen(): boolean {
    return this.#state.row !== null && readIntent(this.#state.sql) !== null;
  }

  isDue(now: number): boolean {
    const state = this.#state;
    if (state.row === null) return false;
    if (!state.schedule.isLoaded) state.schedule.load(state.waiting.summary());
    const at = state.schedule.dueAt(this.isOpen);
    return at !== null && at <= now;
  }

  /** Sees to it that the alarm goes off in time for the next step. */
  arm(now: number): void {
    if (this.#state.row !== null) this.#state.scheduleFlush(now, this.isOpen);
  }

  /** One step, if it is due; one at a time. Throws nothing. */
  step(run: Origin): Promise<void> {
    if (this.#running === null) this.#run = run;
    this.#running ??= this.#step()
      .catch((error: unknown) => this.#failed(null, error instanceof Error ? error.name : "unknown"))
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  async #step(): Promise<void> {
    const now = Date.now();
    if (!this.isDue(now)) return;
    // What moves needs room in D1 and gives none back here: its pages stay in the object's file.
    if (hostState.disk === "low") return this.#failed(null, "The disk is nearly full");
    const open = readIntent(this.#state.sql);
    // Found on disk by a new life of the object: nobody knows what became of its calls.
    if (open !== null && this.#intentAt !== open.madeAt) this.#lateUntil = now + LATE_WRITES_MS;
    const intent = open ?? this.#begin(now);
    if (intent === null) return;
    if (open === null) this.#lateUntil = 0;
    this.#intentAt = intent.madeAt;
    const outcome = await this.#write(intent);
    switch (outcome.outcome) {
      case "stored":
        this.#arrive(intent, outcome);
        break;
      case "bad":
        // Cut otherwise, the range must not meet itself as it was before: then some of it would be there twice.
        if (Date.now() < this.#lateUntil) this.#failed(intent, "A writer may still be on its way");
        else this.#quarantine(intent, outcome.batches);
        break;
      case "failed":
        this.#lateUntil = Date.now() + LATE_WRITES_MS;
        this.#failed(intent, outcome.reason);
    }
  }

  /** Writes down what goes next. */
  #begin(now: number): FlushIntent | null {
    return this.#state.transaction(({ sql }) => {
      const range = this.#state.waiting.nextRange();
      if (range) writeIntent(sql, range, now);
      return readIntent(sql);
    });
  }

  async #write(intent: FlushIntent): Promise<FlushOutcome> {
    const { sql, row } = this.#state;
    if (this.#arrived && this.#arrived.intent.madeAt === intent.madeAt && isOpen(sql, this.#arrived.intent)) {
      return this.#arrived.stored;
    }
    const { batches, bad } = readRange(sql, intent);
    if (row === null) return { outcome: "failed", reason: "The workspace is gone" };
    // The intent is on disk before anything leaves the object.
    await this.#ctx.storage.sync();
    const { projectId, firstSeq, lastSeq, watermark } = intent;
    const deadline = Date.now() + FLUSH_CALL_MS;
    const range = { firstSeq, lastSeq };
    return this.#call({ workspaceId: row.id, projectId, range, watermark, batches, bad, deadline });
  }

  async #call(call: FlushCall): Promise<FlushOutcome> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<FlushOutcome>((resolve) => {
      timer = setTimeout(() => resolve({ outcome: "failed", reason: "D1 did not answer in time" }), ANSWER_MS);
    });
    try {
      return await Promise.race([this.#ctx.exports.ColdWriter.write(call), late]);
    } catch {
      // Its messages are the runtime's, about calls and connections.
      return { outcome: "failed", reason: "The writer cannot be reached" };
    } finally {
      clearTimeout(timer);
    }
  }

  /** The range is in D1: its batches go, unless readers are in the middle of them. */
  #arrive(intent: FlushIntent, stored: Stored): void {
    const state = this.#state;
    const now = Date.now();
    const blockedUntil = this.leases.blockedUntil(now);
    if (blockedUntil !== null) {
      this.#arrived = { intent, stored };
      state.schedule.holdUntil(blockedUntil);
      return;
    }
    this.#arrived = null;
    this.leases.released(now);
    const commits = state.transaction(({ sql }) => {
      // Its project, or its workspace, may have been deleted in the meantime: then all of it is swept.
      if (!isOpen(sql, intent)) return null;
      const gone = commitRange(sql, intent);
      recordFlush(sql, now);
      return gone;
    });
    if (commits === null) {
      this.#line("info", "dropped", intent, {});
      return;
    }
    state.schedule.succeeded();
    this.#changed(commits);
    const count = intent.lastSeq - intent.firstSeq + 1;
    const { segments, bytes, hasReplaced } = stored;
    if (hasReplaced)
      this.#line("error", "replaced", intent, { reason: "the cold tier held something else in its place" });
    this.#line("info", "ok", intent, {
      batches: commits.length,
      count,
      segments,
      bytes,
      durationMs: now - intent.madeAt,
    });
  }

  #quarantine(intent: FlushIntent, bad: readonly QuarantinedBatch[]): void {
    const now = Date.now();
    this.#state.transaction(({ sql }) => {
      if (isOpen(sql, intent)) quarantineBatches(sql, intent, bad, now);
    });
    this.#changed([]);
    for (const { commit, reason } of bad) this.#line("error", "set-aside", intent, { commit, reason });
  }

  #failed(intent: FlushIntent | null, reason: string): void {
    const now = Date.now();
    const retryMs = this.#state.schedule.failed(now);
    this.#line("error", "failed", intent, { reason, retryMs });
    try {
      this.#state.transaction(({ sql }) => recordFlushFailure(sql, `${reason}.`));
    } catch {
      // What could not be written down is in the line.
    }
  }

  /** Memory follows disk. */
  #changed(deleted: readonly number[]): void {
    const { keyProjectCache, index, schedule } = this.#state;
    keyProjectCache.clear();
    index.remove(deleted);
    schedule.unload();
  }

  #line(
    level: EventLevel,
    outcome: string,
    intent: FlushIntent | null,
    fields: Omit<EventFields, "event" | "outcome">,
  ): void {
    const workspaceId = this.#state.row?.id;
    const { projectId, firstSeq, lastSeq } = intent ?? {};
    const whose = { workspaceId, projectId, firstSeq, lastSeq };
    logObjectEvent(this.#env, "workspace", this.#run, level, {
      event: "workspace.flush",
      outcome,
      ...whose,
      ...fields,
    });
  }
}
