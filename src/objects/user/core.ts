import {
  type Account,
  isProvisioned,
  type RegistrationOutcome,
  readAccount,
  resolveRegistration,
} from "../../accounts/account.ts";
import { type ActivityNote, recordActivity } from "../../accounts/activity.ts";
import {
  beginDeletion,
  type DeletionPorts,
  type DeletionRequest,
  type DeletionVerdict,
  finishDeletion,
  finishPurge,
  type PurgePorts,
  unfinishedDeletion,
  unfinishedPurge,
} from "../../accounts/deletion.ts";
import { isListed, unlistUser, workspacesOf } from "../../accounts/directory.ts";
import { endedSubscriptions, forgetWatch, isAlive } from "../../accounts/families.ts";
import { USER_SCHEMA } from "../../accounts/schema.ts";
import type { Env } from "../../env.ts";
import { Limiter } from "../../limits/limiter.ts";
import { API_DEFAULT, type LimitState } from "../../limits/state.ts";
import { ViolationOutbox } from "../../limits/violation-outbox.ts";
import type { Violation } from "../../limits/violations.ts";
import { nextMailAt } from "../../mail/pending-mails.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { migrate } from "../../platform/sql.ts";
import { callWorkspace } from "../../rpc/call.ts";
import type { PurgeUnfinished } from "../../rpc/user.ts";
import { type Settings, settingsOf } from "../../settings.ts";
import { enqueueDueMails } from "../queues/mails.ts";
import { enqueueDueViolations } from "../queues/violations.ts";

/** What a purge needs outside the user object: revocation of keys in workspace objects. */
export function purgePorts(env: Env, origin: Origin): PurgePorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    revokeKeys: (workspaceId, userId, until) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.revokeKeysOf(userId, until, origin)),
  };
}

/** What the deletion of an account needs outside the user object. */
export function deletionPorts(env: Env, origin: Origin, destroySelf: () => Promise<void>): DeletionPorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    removeDeletedUser: (workspaceId, userId) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.removeDeletedUser(userId, origin)),
    unlist: (userId, departed) => unlistUser(env.DB, userId, departed),
    destroySelf,
  };
}

/** Milliseconds until the alarm retries an unresolved registration, purge, deletion or notification. */
const RETRY_MS = { settle: 600_000, purge: 30_000, deletion: 30_000, watches: 30_000 } as const;

/** Applies changes to a user object in synchronous transactions and runs pending work after each of them. */
export class UserCore {
  readonly sql: SqlStorage;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #limiter: Limiter;
  readonly #violations: ViolationOutbox;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.sql = ctx.storage.sql;
    this.#limiter = new Limiter(this.sql);
    this.#violations = new ViolationOutbox(this.sql);
    // Migrates an account that an older version created.
    if (this.provisioned) ctx.storage.transactionSync(() => migrate(this.sql, USER_SCHEMA));
  }

  get settings(): Settings {
    return settingsOf(this.#env);
  }

  get provisioned(): boolean {
    return isProvisioned(this.sql);
  }

  /**
   * Runs `work` in one synchronous transaction, then sends its pending mails. `note` records an action in the activity.
   */
  change<T>(origin: Origin, work: (sql: SqlStorage, now: number, note: ActivityNote) => T): T {
    const now = Date.now();
    const note: ActivityNote = (entry) => recordActivity(this.sql, entry, origin, now);
    const result = this.#ctx.storage.transactionSync(() => work(this.sql, now, note));
    const account = readAccount(this.sql);
    if (account) this.#runPendingWork(account, origin, now);
    return result;
  }

  /** Like `change`, on behalf of a session; `null` if the session has ended. */
  changeInSession<T>(
    sessionId: string,
    origin: Origin,
    work: (sql: SqlStorage, account: Account, now: number, note: ActivityNote) => T,
  ): T | null {
    return this.change(origin, (sql, now, note) => {
      const account = readAccount(sql);
      return account && isAlive(sql, sessionId, account.epoch, now) ? work(sql, account, now, note) : null;
    });
  }

  /** Like `change`, for a change that may purge: finishes its purge and earlier ones before it returns. */
  async changeAndPurge<T extends { ok: boolean }>(
    origin: Origin,
    work: (sql: SqlStorage, now: number, note: ActivityNote) => T,
  ): Promise<T | PurgeUnfinished> {
    const proof = this.change(origin, work);
    if (!proof.ok || unfinishedPurge(this.sql) === null || (await this.finishPurge(origin))) return proof;
    return { ok: false, code: "PURGE_UNFINISHED" };
  }

  /** Returns `false` if a workspace did not answer; the alarm then retries. */
  async finishPurge(origin: Origin): Promise<boolean> {
    try {
      await finishPurge(this.sql, purgePorts(this.#env, origin));
      return true;
    } catch (error) {
      this.#failed("user.purge", error, origin);
      return false;
    }
  }

  /** Deletes the account, and its data elsewhere before it returns if possible; otherwise the alarm continues. */
  async deleteAccount(request: DeletionRequest, origin: Origin): Promise<DeletionVerdict> {
    const verdict = this.#ctx.storage.transactionSync(() => beginDeletion(this.sql, request, origin, Date.now()));
    if (verdict === "begun") await this.#finishDeletion(origin);
    return verdict;
  }

  /** Counts one request of the user. */
  count(userId: string, requestId: string | undefined, now: number): LimitState {
    const armed = this.#limiter.nextSweepAt(now) !== null;
    const dueAt = this.#violations.dueAt;
    const identifier = `user:${userId}`;
    const state = this.#limiter.check({ identifier, cost: 1, ...API_DEFAULT }, now);
    if (!state.admitted) {
      const refusedBy = { rule: "API_DEFAULT", windowSeconds: API_DEFAULT.windowSeconds, identifier };
      state.refusedBy = refusedBy;
      this.#violations.recordRefusal({ ...refusedBy, limit: API_DEFAULT.limit, requestId }, now);
    }
    this.#limiter.flush();
    this.#violations.flush();
    const account = readAccount(this.sql);
    // The first count sets the alarm for the sweep, the first refusal sets it for the violations. Both renew their
    // alarms.
    const isArmed = armed && this.#violations.dueAt === dueAt;
    if (!isArmed && account) this.#arm(this.#nextDuty(account, now));
    return state;
  }

  violationsStored(violations: readonly Violation[]): void {
    if (this.provisioned) this.#violations.stored(violations, Date.now());
  }

  async alarm(): Promise<void> {
    const run = newAlarmOrigin();
    if (this.provisioned && unfinishedDeletion(this.sql)) return this.#finishDeletion(run);
    const settlement = await this.#resolveRegistration(run);
    if (!this.provisioned) return;
    const sweepAt = this.#limiter.sweep(Date.now());
    if (unfinishedPurge(this.sql) !== null) await this.finishPurge(run);
    const now = Date.now();
    const account = readAccount(this.sql);
    if (!account) return;
    enqueueDueViolations(this.#env, this.#violations, account.id, now, run);
    this.#runPendingWork(account, run, now);
    if (settlement === "failed") this.#arm(now + RETRY_MS.settle);
    else this.#arm(earlier(sweepAt, this.#nextDuty(account, now)));
  }

  /** One call deletes data and alarm at this compatibility date, so no crash leaves an account without its alarm. */
  async destroy(): Promise<void> {
    await this.#ctx.storage.deleteAll();
    this.#limiter.forget();
    this.#violations.forget();
  }

  async #finishDeletion(origin: Origin): Promise<void> {
    const { userId, requestId } = unfinishedDeletion(this.sql) ?? { userId: null, requestId: null };
    const cause = { ...origin, requestId: requestId ?? origin.requestId };
    // Before the first await, so that a crash leaves an alarm.
    this.#arm(Date.now() + RETRY_MS.deletion);
    const event = "user.delete";
    try {
      const isDone = await finishDeletion(
        this.sql,
        deletionPorts(this.#env, cause, () => this.destroy()),
      );
      this.line("info", cause, { event, outcome: isDone ? "ok" : "unfinished", userId });
    } catch (error) {
      const fault = error instanceof Error ? error.name : "unknown";
      this.line("error", cause, { event, outcome: "failed", userId, fault });
    }
  }

  /**
   * Sends pending mails once the directory is known to list the account, so that a discarded registration mails
   * nothing.
   */
  #runPendingWork(account: Account, origin: Origin, now: number): void {
    const { confirmed, id } = account;
    if (confirmed) enqueueDueMails(this.#env, this.sql, id, now, origin);
    const ended = this.#notifySessionEnds(account, origin, now);
    const owed = ended || nextMailAt(this.sql) !== null || unfinishedPurge(this.sql) !== null;
    if (owed || !confirmed) this.#arm(this.#nextDuty(account, now));
  }

  /** Notifies workspaces of ended sessions. The alarm repeats notifications that fail. */
  #notifySessionEnds({ epoch }: Account, origin: Origin, now: number): boolean {
    const ended = endedSubscriptions(this.sql, epoch, now);
    for (const watch of ended) {
      const { sessionId, workspaceId } = watch;
      callWorkspace(this.#env, workspaceId, "replay-safe", (stub) => stub.sessionEnded(sessionId))
        .then(() => {
          // The account may have been deleted in the meantime, and its tables with it.
          if (this.provisioned) forgetWatch(this.sql, watch);
        })
        .catch((error: unknown) => this.#failed("user.session.watch", error, origin));
    }
    return ended.length > 0;
  }

  /** Returns the next due time of the alarm; `null` if nothing is left to do. */
  #nextDuty({ confirmed, resolveAt, epoch }: Account, now: number): number | null {
    if (!confirmed) return resolveAt;
    const duties = [
      nextMailAt(this.sql),
      this.#violations.dueAt,
      unfinishedPurge(this.sql) === null ? null : now + RETRY_MS.purge,
      endedSubscriptions(this.sql, epoch, now).length === 0 ? null : now + RETRY_MS.watches,
      this.#limiter.nextSweepAt(now),
    ].filter((at) => at !== null);
    return duties.length > 0 ? Math.min(...duties) : null;
  }

  /**
   * Not awaited on purpose: an await would end the turn. The output gate holds the response until the alarm is written.
   */
  #arm(at: number | null): void {
    if (at !== null) this.#ctx.storage.setAlarm(at);
  }

  /**
   * Returns `failed` instead of throwing: the platform drops an alarm after six failures, and the registration must be
   * resolved.
   */
  async #resolveRegistration(run: Origin): Promise<RegistrationOutcome | "failed"> {
    const userId = readAccount(this.sql)?.id ?? null;
    const ports = {
      isListed: (id: string) => isListed(this.#env.DB, id),
      destroyWorkspace: (id: string) => callWorkspace(this.#env, id, "replay-safe", (stub) => stub.destroy(run)),
      destroySelf: () => this.destroy(),
      now: () => Date.now(),
    };
    const event = "user.registration.settle";
    try {
      const outcome = await resolveRegistration(this.sql, ports);
      if (outcome !== null) this.line("info", run, { event, outcome, userId });
      return outcome;
    } catch (error) {
      this.#failed(event, error, run);
      return "failed";
    }
  }

  /** Writes a log event of this object. */
  line(level: EventLevel, origin: Origin, fields: EventFields): void {
    logObjectEvent(this.#env, "user", origin, level, fields);
  }

  #failed(event: string, error: unknown, origin: Origin): void {
    const fault = error instanceof Error ? error.name : "unknown";
    const userId = readAccount(this.sql)?.id ?? null;
    this.line("error", origin, { event, outcome: "failed", userId, fault });
  }
}

/** Returns the earlier of two times; `null` means never. */
function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
