import type { Env } from "../../env.ts";
import { logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { demoKey, provisionSandbox, readSandbox, resetSandbox } from "../../sandbox/reset.ts";
import { nextReset, SANDBOX_INTAKE, SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import { settingsOf } from "../../settings.ts";
import type { IngestCall, IngestResult } from "../../workspace/ingest.ts";
import type { WorkspaceCore } from "./core.ts";

/** Milliseconds until a reset that failed is tried again. */
const RETRY_MS = 60_000;

/** Milliseconds by which the clock that cron triggers follow may be ahead of the object's. */
const MAX_SKEW_MS = 60_000;

/** What anybody may know of the sandbox. */
export interface SandboxAccess {
  projectId: string;
  apiKey: string;
  /** Epoch milliseconds. */
  resetsAt: number;
}

/**
 * The sandbox's life in its workspace object; every other workspace has one of these that does nothing.
 *
 * A reset is one synchronous transaction: whatever ends it before its commit leaves the sandbox before it as it was, key
 * included. Three parties ask for one (the cron trigger, the object's alarm, and whoever wants the key while a reset is
 * overdue), each by the time at which it was due. A sandbox made since then is that reset, so there is never a second one.
 */
export class Sandbox {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #core: WorkspaceCore;

  constructor(ctx: DurableObjectState, env: Env, core: WorkspaceCore) {
    this.#ctx = ctx;
    this.#env = env;
    this.#core = core;
  }

  /** The key of now; makes the sandbox where there is none yet. An overdue reset that fails leaves the old one. */
  access(now: number, origin: Origin): SandboxAccess {
    const known = this.#known();
    const due = known ? nextReset(known.epoch) : now;
    const current = known && { projectId: known.projectId, apiKey: known.apiKey, resetsAt: due };
    if (current && now < due) return current;
    try {
      this.#reset(now, due, origin);
    } catch (error) {
      if (current) return current;
      throw error;
    }
    return this.access(now, origin);
  }

  /**
   * Resets the sandbox unless that has happened since `dueAt`.
   * @returns whether it was done now
   */
  resetSince(dueAt: number, now: number): boolean {
    // A time that is far ahead must not make a sandbox that stays until then.
    const due = Math.min(dueAt, now + MAX_SKEW_MS);
    const known = this.#known();
    if (known && known.epoch >= due) return false;
    this.#reset(now, due, newAlarmOrigin());
    return true;
  }

  /** Counts what a call would store; says so where the sandbox has taken in enough for this hour. Null otherwise. */
  full({ batch }: IngestCall, now: number): IngestResult | null {
    const { state } = this.#core;
    if (batch === null || state.row?.id !== SANDBOX_WORKSPACE_ID) return null;
    const request = { identifier: "sandbox-intake", ...SANDBOX_INTAKE, cost: batch.body.length };
    const intake = state.transaction(({ limiter }) => limiter.check(request, now));
    if (intake === null || intake.admitted) return null;
    return { ok: false, code: "SANDBOX_FULL", retryAfter: intake.retryAfter };
  }

  /** To be called when the object's alarm has done everything else. */
  alarm(now: number, run: Origin): void {
    const { row, sql, alarm } = this.#core.state;
    if (row?.id !== SANDBOX_WORKSPACE_ID) return;
    const live = readSandbox(sql);
    const due = live ? nextReset(live.epoch) : now;
    try {
      if (now < due) alarm.by(due);
      else this.#reset(now, due, run);
    } catch {
      // The reset has written its line; the sandbox before it goes on.
      alarm.by(now + RETRY_MS);
    }
  }

  /** The sandbox on disk with its key; null without one, and where its key was made by a secret that is no more. */
  #known(): { epoch: number; projectId: string; apiKey: string } | null {
    const { row, sql } = this.#core.state;
    const live = row && readSandbox(sql);
    if (!live) return null;
    const { epoch, projectId, keyHash } = live;
    const key = demoKey(epoch, this.#pepper);
    return key.hash === keyHash ? { epoch, projectId, apiKey: key.secret } : null;
  }

  #reset(now: number, due: number, origin: Origin): void {
    if (!this.#isHere()) throw new Error("This object is not the sandbox's.");
    const { state } = this.#core;
    const line = { event: "sandbox.reset", workspaceId: SANDBOX_WORKSPACE_ID };
    try {
      if (!state.row) this.#ctx.storage.transactionSync(() => provisionSandbox(state.sql, now));
      const before = readSandbox(state.sql)?.epoch ?? 0;
      const epoch = Math.max(now, due, before + 1);
      const count = state.transaction((admission) => resetSandbox(admission, epoch, this.#pepper, origin, now));
      // Keys, projects, the newest commit and the index of batches are others now.
      state.forget();
      // The alarm that deletes the old project is the next one; it sets itself to the next reset.
      this.#core.scheduleSweep();
      logObjectEvent(this.#env, "workspace", origin, "info", { ...line, outcome: "ok", count });
    } catch (error) {
      const fault = error instanceof Error ? error.name : "unknown";
      logObjectEvent(this.#env, "workspace", origin, "error", { ...line, outcome: "failed", fault });
      throw error;
    }
  }

  /** A locator or an id can be forged: only the object under the sandbox's own id ever becomes one. */
  #isHere(): boolean {
    return this.#ctx.id.equals(this.#env.WORKSPACES.idFromName(SANDBOX_WORKSPACE_ID));
  }

  get #pepper(): string {
    return settingsOf(this.#env).REFRESH_PEPPER;
  }
}
