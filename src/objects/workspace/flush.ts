import type { Env } from "../../env.ts";
import { coldDatabasesOf } from "../../logs/cold/store/sources.ts";
import type { Duty } from "../../platform/alarm.ts";
import { hostState } from "../../platform/host.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { settingsOf } from "../../settings.ts";
import { currentDatabase, leaveFullDatabase } from "../../workspace/flush/cold-databases.ts";
import { noteFlushed } from "../../workspace/flush/compactions.ts";
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

/** Milliseconds after a page during which a pin delays the flush. */
const LEASE_MS = 5000;
/** Maximum milliseconds for which readers delay a flush continuously. */
const MAX_HOLD_MS = 30_000;
/** Part of a delay's duration for which pins have no effect after it, so that steady readers cannot stop flushes. */
const FREE_SHARE = 1 / 2;

/**
 * Delays a flush while a router of an older version is between two pages of a read: a move of batches that it has not read
 * makes it begin again. Routers of this version follow moves and take no pin; see
 * `docs/decisions/0016-reads-follow-what-moves.md`. In memory only: a reader whose pin is lost is slower, but never wrong.
 */
export class ReadPins {
  #until = 0;
  #blockedSince: number | null = null;
  #freeUntil = 0;

  /**
   * Renews the pin after a page that is not the first of a read. Most reads end with their first page. A read that continues
   * and finds its batches moved begins again, under the pin that its second page has taken.
   */
  renew(now: number): void {
    this.#until = now + LEASE_MS;
  }

  /** Returns when flushed batches may be deleted; `null` for now. Call `released` after the deletion. */
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

/** Milliseconds within which a cold writer has to begin its writes to D1; see `LATE_WRITES_MS`. */
const FLUSH_CALL_MS = 60_000;
/** Milliseconds that the object waits for a response: a call may lose its connection without an error. */
const ANSWER_MS = 45_000;

type Stored = Extract<FlushOutcome, { outcome: "stored" }>;

/**
 * Moves batches to the cold tier, one range per step: persists the flush intent, has the cold writer insert the segments in
 * D1, and deletes the batches after D1 has confirmed. After an interruption, the next step repeats exactly the same range,
 * whether or not D1 already has it.
 */
export class Flush implements Duty {
  readonly name = "flush";
  readonly pins = new ReadPins();
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #state: WorkspaceState;
  #running: Promise<void> | null = null;
  /** The alarm run that the step belongs to. Steps do not overlap. */
  #origin = newAlarmOrigin();
  /** A range that D1 has confirmed and whose deletion pins delay. */
  #arrived: { intent: FlushIntent; stored: Stored } | null = null;
  /** Epoch milliseconds until which a call for the open range without a response may still write. */
  #lateUntil = 0;
  /** Epoch milliseconds at which the intent that this instance of the object works on was persisted. */
  #intentAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState) {
    this.#ctx = ctx;
    this.#env = env;
    this.#state = state;
  }

  /** Whether a flush is in progress. */
  get isOpen(): boolean {
    return this.#state.row !== null && readIntent(this.#state.sql) !== null;
  }

  dueAt(now: number): number | null {
    return this.#state.row === null ? null : this.#state.flushDueAt(now, this.isOpen);
  }

  /** Does one step if it is due. Steps do not overlap. Throws nothing. */
  run(now: number, origin: Origin): Promise<void> {
    if (this.#running === null) this.#origin = origin;
    this.#running ??= this.#step(now)
      .catch((error: unknown) => this.#failed(null, error instanceof Error ? error.name : "unknown"))
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  async #step(now: number): Promise<void> {
    const dueAt = this.dueAt(now);
    if (dueAt === null || dueAt > now) return;
    // A flush needs space in D1 and frees none here: the pages stay in the object's file.
    if (hostState.disk === "low") return this.#failed(null, "The disk is nearly full");
    const open = readIntent(this.#state.sql);
    // The intent is of an earlier instance of the object, whose calls may still write.
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
        // A changed range must not overlap with a late write of the earlier one, which would store entries twice.
        if (Date.now() < this.#lateUntil) this.#failed(intent, "An earlier writer may still be running");
        else this.#quarantine(intent, outcome.batches);
        break;
      case "failed":
        this.#lateUntil = Date.now() + LATE_WRITES_MS;
        this.#failed(intent, outcome.reason);
    }
  }

  /** Persists the intent to flush the next range. */
  #begin(now: number): FlushIntent | null {
    return this.#state.transaction(({ sql }) => {
      const range = this.#state.waiting.nextRange(this.#state.schedule.fullProject(now));
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
    if (row === null) return { outcome: "failed", reason: "The workspace was deleted" };
    // The intent is on disk before anything leaves the object.
    await this.#ctx.storage.sync();
    const { projectId, firstSeq, lastSeq, watermark } = intent;
    const deadline = Date.now() + FLUSH_CALL_MS;
    const range = { firstSeq, lastSeq };
    const database = currentDatabase(sql);
    const call = { workspaceId: row.id, projectId, range, watermark, batches, bad, deadline, database };
    const outcome = await this.#call(call);
    // The writer has received copies.
    for (const { body } of batches) detachBuffer(body);
    return outcome;
  }

  async #call(call: FlushCall): Promise<FlushOutcome> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<FlushOutcome>((resolve) => {
      timer = setTimeout(() => resolve({ outcome: "failed", reason: "D1 did not respond in time" }), ANSWER_MS);
    });
    try {
      return await Promise.race([this.#ctx.exports.ColdWriter.write(call), late]);
    } catch {
      // The messages of these errors are the runtime's, about calls and connections.
      return { outcome: "failed", reason: "The writer cannot be reached" };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Deletes the batches of a range that is in D1, unless a pin delays it. */
  #arrive(intent: FlushIntent, stored: Stored): void {
    const state = this.#state;
    const now = Date.now();
    const blockedUntil = this.pins.blockedUntil(now);
    if (blockedUntil !== null) {
      this.#arrived = { intent, stored };
      state.schedule.holdUntil(blockedUntil);
      return;
    }
    this.#arrived = null;
    this.pins.released(now);
    const bound = coldDatabasesOf(this.#env).map(({ name }) => name);
    let next: string | null = null;
    const commits = state.transaction(({ sql }) => {
      // The project or the workspace may have been deleted in the meantime. Cleanup deletes the range then.
      if (!isOpen(sql, intent)) return null;
      const gone = commitRange(sql, intent);
      recordFlush(sql, now);
      noteFlushed(sql, intent.project, intent.lastSeq, now);
      const size = { bytes: stored.databaseBytes ?? 0, maxBytes: settingsOf(this.#env).COLD_DB_MAX_BYTES };
      next = leaveFullDatabase(sql, bound, size, now);
      return gone;
    });
    if (next !== null) this.#line("warn", "database-full", intent, { database: next });
    if (commits === null) {
      this.#line("info", "dropped", intent, {});
      return;
    }
    state.schedule.succeeded();
    this.#changed(commits);
    const count = intent.lastSeq - intent.firstSeq + 1;
    const { segments, bytes, hasReplaced } = stored;
    if (hasReplaced)
      this.#line("error", "replaced", intent, { reason: "the cold tier had other segments in its place" });
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
      // The event above has what could not be stored.
    }
  }

  /** Drops the caches that a flush has made stale. */
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
    logObjectEvent(this.#env, "workspace", this.#origin, level, {
      event: "workspace.flush",
      outcome,
      ...whose,
      ...fields,
    });
  }
}
