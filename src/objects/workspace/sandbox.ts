import type { Env } from "../../env.ts";
import type { Batch } from "../../logs/batch.ts";
import type { Duty } from "../../platform/alarm.ts";
import { logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import type { SandboxAccess } from "../../rpc/workspace.ts";
import { demoKey, provisionSandbox, readSandbox, resetSandbox } from "../../sandbox/reset.ts";
import { nextReset, SANDBOX_INTAKE, SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import { settingsOf } from "../../settings.ts";
import type { IngestResult } from "../../workspace/ingest-calls.ts";
import type { WorkspaceCore } from "./core.ts";

/** Milliseconds until a failed reset is repeated. */
const RETRY_MS = 60_000;

/** Maximum milliseconds by which the clock of cron triggers is ahead of the object's clock. */
const MAX_SKEW_MS = 60_000;

/**
 * Creates and resets the sandbox in its workspace object. In every other workspace object it does nothing.
 *
 * A reset is one synchronous transaction: a failure before its commit leaves the previous sandbox and its key unchanged. The
 * cron trigger, the object's alarm, and a request for the key while a reset is overdue start a reset, each with the time at
 * which it was due. A sandbox created since that time is the reset itself, so a reset never happens twice.
 */
export class Sandbox implements Duty {
  readonly name = "sandbox";
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #core: WorkspaceCore;
  /** When a failed reset is repeated; 0 without one. */
  #retryAt = 0;

  constructor(ctx: DurableObjectState, env: Env, core: WorkspaceCore) {
    this.#ctx = ctx;
    this.#env = env;
    this.#core = core;
  }

  /** Returns the current key. Creates the sandbox if it does not exist. If an overdue reset fails, the old key is kept. */
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
   * Resets the sandbox unless it has been reset since `dueAt`.
   * @returns whether this call reset it
   */
  resetSince(dueAt: number, now: number): boolean {
    // A time far in the future must not create a sandbox that lasts until then.
    const due = Math.min(dueAt, now + MAX_SKEW_MS);
    const known = this.#known();
    if (known && known.epoch >= due) return false;
    this.#reset(now, due, newAlarmOrigin());
    return true;
  }

  /** Counts the bytes of a call to the sandbox. Returns a refusal if it has reached its limit for this hour, `null` otherwise. */
  full(batches: readonly Batch[], now: number): Exclude<IngestResult, { ok: true }> | null {
    const { state } = this.#core;
    if (batches.length === 0) return null;
    const cost = batches.reduce((sum, { body }) => sum + body.length, 0);
    const request = { identifier: "sandbox-intake", ...SANDBOX_INTAKE, cost };
    const intake = state.transaction(({ limiter }) => limiter.check(request, now));
    if (intake === null || intake.admitted) return null;
    return { ok: false, code: "SANDBOX_FULL", retryAfter: intake.retryAfter };
  }

  dueAt(now: number): number | null {
    const at = this.#nextReset(now);
    return at && Math.max(at, this.#retryAt);
  }

  run(now: number, origin: Origin): void {
    const due = this.#nextReset(now);
    if (due === null || now < due) return;
    try {
      this.#reset(now, due, origin);
      this.#retryAt = 0;
    } catch {
      // The reset has logged its failure, and the previous sandbox is unchanged.
      this.#retryAt = now + RETRY_MS;
    }
  }

  /** Returns when the next reset is due, epoch milliseconds; `null` if this object is not the sandbox. */
  #nextReset(now: number): number | null {
    const { row, sql } = this.#core.state;
    if (row?.id !== SANDBOX_WORKSPACE_ID) return null;
    const live = readSandbox(sql);
    return live ? nextReset(live.epoch) : now;
  }

  /** Returns the stored sandbox with its key; `null` without one, or if its key derives from a replaced secret. */
  #known(): { epoch: number; projectId: string; apiKey: string } | null {
    const { row, sql } = this.#core.state;
    const live = row && readSandbox(sql);
    if (!live) return null;
    const { epoch, projectId, keyHash } = live;
    const key = demoKey(epoch, this.#pepper);
    return key.hash === keyHash ? { epoch, projectId, apiKey: key.secret } : null;
  }

  #reset(now: number, due: number, origin: Origin): void {
    if (!this.#isHere()) throw new Error("This object is not the sandbox.");
    const { state } = this.#core;
    const line = { event: "sandbox.reset", workspaceId: SANDBOX_WORKSPACE_ID };
    try {
      if (!state.row) this.#ctx.storage.transactionSync(() => provisionSandbox(state.sql, now));
      const before = readSandbox(state.sql)?.epoch ?? 0;
      const epoch = Math.max(now, due, before + 1);
      const count = state.transaction((admission) => resetSandbox(admission, epoch, this.#pepper, origin, now));
      // Keys, projects, the newest commit and the index of batches have changed.
      state.forget();
      // The next alarm deletes the old project, and is set for the next reset afterwards.
      this.#core.housekeeping.startNow();
      logObjectEvent(this.#env, "workspace", origin, "info", { ...line, outcome: "ok", count });
    } catch (error) {
      const fault = error instanceof Error ? error.name : "unknown";
      logObjectEvent(this.#env, "workspace", origin, "error", { ...line, outcome: "failed", fault });
      throw error;
    }
  }

  /** Whether this is the object under the sandbox's id. Locators and ids can be forged; no other object becomes one. */
  #isHere(): boolean {
    return this.#ctx.id.equals(this.#env.WORKSPACES.idFromName(SANDBOX_WORKSPACE_ID));
  }

  get #pepper(): string {
    return settingsOf(this.#env).REFRESH_PEPPER;
  }
}
