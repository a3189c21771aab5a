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
import { type Settings, settingsOf } from "../../settings.ts";
import { enqueueDueMails } from "../queues/mails.ts";
import { enqueueDueViolations } from "../queues/violations.ts";

/** What a purge reaches outside the user object: the keys in workspace objects. */
export function purgePorts(env: Env, origin: Origin): PurgePorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    revokeKeys: (workspaceId, userId, until) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.revokeKeysOf(userId, until, origin)),
  };
}

/** What the deletion of an account reaches outside the user object. */
export function deletionPorts(env: Env, origin: Origin, destroySelf: () => Promise<void>): DeletionPorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    removeDeletedUser: (workspaceId, userId) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.removeDeletedUser(userId, origin)),
    unlist: (userId, departed) => unlistUser(env.DB, userId, departed),
    destroySelf,
  };
}

/** Milliseconds until another look at a registration that could not be settled, or at what could not be ended or told. */
const RETRY_MS = { settle: 600_000, purge: 30_000, deletion: 30_000, watches: 30_000 } as const;

/** What was proven holds, but what it purged is not gone everywhere yet: nobody gets in until it is. */
export interface PurgeUnfinished {
  ok: false;
  code: "PURGE_UNFINISHED";
}

/** How a user object changes: one synchronous transaction at a time, with what it promised sent after it. */
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
    // An account from before a change of the tables gets it here.
    if (this.provisioned) ctx.storage.transactionSync(() => migrate(this.sql, USER_SCHEMA));
  }

  get settings(): Settings {
    return settingsOf(this.#env);
  }

  get provisioned(): boolean {
    return isProvisioned(this.sql);
  }

  /** Runs `work` in one synchronous transaction; `note` records what it does with it. The mails that it promised are handed over once it is on disk. */
  change<T>(origin: Origin, work: (sql: SqlStorage, now: number, note: ActivityNote) => T): T {
    const now = Date.now();
    const note: ActivityNote = (entry) => recordActivity(this.sql, entry, origin, now);
    const result = this.#ctx.storage.transactionSync(() => work(this.sql, now, note));
    const account = readAccount(this.sql);
    if (account) this.#runPendingWork(account, origin, now);
    return result;
  }

  /** The same on behalf of a living session; null where it is dead. */
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

  /** The same for a change that may purge: before the answer nothing is left of what this or an earlier one purged. */
  async changeAndPurge<T extends { ok: boolean }>(
    origin: Origin,
    work: (sql: SqlStorage, now: number, note: ActivityNote) => T,
  ): Promise<T | PurgeUnfinished> {
    const proof = this.change(origin, work);
    if (!proof.ok || unfinishedPurge(this.sql) === null || (await this.finishPurge(origin))) return proof;
    return { ok: false, code: "PURGE_UNFINISHED" };
  }

  /** False where a workspace did not answer; then the alarm goes on with it. */
  async finishPurge(origin: Origin): Promise<boolean> {
    try {
      await finishPurge(this.sql, purgePorts(this.#env, origin));
      return true;
    } catch (error) {
      this.#failed("user.purge", error, origin);
      return false;
    }
  }

  /** Deletes the account, and before the answer all that it has elsewhere, if that can be reached; else by alarm. */
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
    if (!state.admitted)
      this.#violations.recordRefusal({ identifier, rule: "API_DEFAULT", ...API_DEFAULT, requestId }, now);
    this.#limiter.flush();
    this.#violations.flush();
    const account = readAccount(this.sql);
    // The first count arms the sweep, the first refusal the look at it; both arm themselves for as long as they must.
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

  /** One call, so that no crash leaves an account without its alarm: at this compatibility date it takes both. */
  async destroy(): Promise<void> {
    await this.#ctx.storage.deleteAll();
    this.#limiter.forget();
    this.#violations.forget();
  }

  async #finishDeletion(origin: Origin): Promise<void> {
    const { userId, requestId } = unfinishedDeletion(this.sql) ?? { userId: null, requestId: null };
    const cause = { ...origin, requestId: requestId ?? origin.requestId };
    // Before anything is waited for: a crash must leave an alarm.
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

  /** Sends what was promised, once the directory is known to list the account: one that is taken back mails nothing. */
  #runPendingWork(account: Account, origin: Origin, now: number): void {
    const { confirmed, id } = account;
    if (confirmed) enqueueDueMails(this.#env, this.sql, id, now, origin);
    const ended = this.#notifySessionEnds(account, origin, now);
    const owed = ended || nextMailAt(this.sql) !== null || unfinishedPurge(this.sql) !== null;
    if (owed || !confirmed) this.#arm(this.#nextDuty(account, now));
  }

  /** Tells workspaces of sessions that have ended. What does not get there is told again by the alarm. */
  #notifySessionEnds({ epoch }: Account, origin: Origin, now: number): boolean {
    const ended = endedSubscriptions(this.sql, epoch, now);
    for (const watch of ended) {
      const { sessionId, workspaceId } = watch;
      callWorkspace(this.#env, workspaceId, "replay-safe", (stub) => stub.sessionEnded(sessionId))
        .then(() => {
          // The account may have been deleted meanwhile, and its tables with it.
          if (this.provisioned) forgetWatch(this.sql, watch);
        })
        .catch((error: unknown) => this.#failed("user.session.watch", error, origin));
    }
    return ended.length > 0;
  }

  /** When the alarm has to look at something; null where nothing is left to do. */
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

  /** Not awaited on purpose: an await would end the turn. The output gate holds the answer until it is written. */
  #arm(at: number | null): void {
    if (at !== null) this.#ctx.storage.setAlarm(at);
  }

  /** `failed` rather than a throw: the platform gives up on an alarm after six tries, and this must happen some day. */
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

  /** Writes an operation line of this object. */
  line(level: EventLevel, origin: Origin, fields: EventFields): void {
    logObjectEvent(this.#env, "user", origin, level, fields);
  }

  #failed(event: string, error: unknown, origin: Origin): void {
    const fault = error instanceof Error ? error.name : "unknown";
    const userId = readAccount(this.sql)?.id ?? null;
    this.line("error", origin, { event, outcome: "failed", userId, fault });
  }
}

/** The earlier of two times, where null is never. */
function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
