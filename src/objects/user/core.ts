import { type Account, isProvisioned, readAccount } from "../../accounts/account.ts";
import { type ActivityNote, recordActivity } from "../../accounts/activity.ts";
import { beginDeletion, type DeletionRequest, type DeletionVerdict } from "../../accounts/deletion.ts";
import { isValidSession } from "../../accounts/families.ts";
import { USER_SCHEMA } from "../../accounts/schema.ts";
import type { Env } from "../../env.ts";
import { Limiter, sweepDuty } from "../../limits/limiter.ts";
import { API_DEFAULT, type LimitState } from "../../limits/state.ts";
import { counted, ViolationOutbox } from "../../limits/violation-outbox.ts";
import type { Violation } from "../../limits/violations.ts";
import { nextMailAt } from "../../mail/pending-mails.ts";
import { Duties, type Duty, SharedAlarm } from "../../platform/alarm.ts";
import { type EventFields, type EventLevel, logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin } from "../../platform/origin.ts";
import { migrate } from "../../platform/sql.ts";
import type { PurgeUnfinished } from "../../rpc/user.ts";
import { type Settings, settingsOf } from "../../settings.ts";
import { enqueueDueMails, mailDuty } from "../queues/mails.ts";
import { violationDuty } from "../queues/violations.ts";
import { AccountDeletion, Purge, RegistrationResolution, SessionEnds } from "./duties.ts";

/** Applies changes to a user object in synchronous transactions and runs pending work after each of them. */
export class UserCore {
  readonly sql: SqlStorage;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #limiter: Limiter;
  readonly #violations: ViolationOutbox;
  readonly #alarm: SharedAlarm;
  readonly #deletion: AccountDeletion;
  readonly #registration: RegistrationResolution;
  readonly #sessionEnds: SessionEnds;
  readonly purge: Purge;
  readonly duties: Duties;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.sql = ctx.storage.sql;
    this.#limiter = new Limiter(this.sql);
    this.#violations = new ViolationOutbox(this.sql);
    this.#alarm = new SharedAlarm(ctx.storage);
    this.#deletion = new AccountDeletion(this, env);
    this.#registration = new RegistrationResolution(this, env);
    this.purge = new Purge(this, env);
    this.#sessionEnds = new SessionEnds(this, env);
    const owner = () => readAccount(this.sql)?.id ?? "";
    this.duties = new Duties(
      this.#alarm,
      [
        this.#deletion,
        this.#registration,
        sweepDuty(this.#limiter),
        this.purge,
        violationDuty(env, this.#violations, owner),
        mailDuty(env, this.sql, owner),
        this.#sessionEnds,
      ],
      {
        applies: (duty) => this.#applies(duty),
        failed: ({ name }, error, origin) => this.failed("user.alarm", error, origin, name),
      },
    );
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
      return account && isValidSession(sql, sessionId, account.epoch, now) ? work(sql, account, now, note) : null;
    });
  }

  /** Like `change`, for a change that may purge: finishes its purge and earlier ones before it returns. */
  async changeAndPurge<T extends { ok: boolean }>(
    origin: Origin,
    work: (sql: SqlStorage, now: number, note: ActivityNote) => T,
  ): Promise<T | PurgeUnfinished> {
    const proof = this.change(origin, work);
    if (!proof.ok || !this.purge.isUnfinished || (await this.purge.finish(origin))) return proof;
    return { ok: false, code: "PURGE_UNFINISHED" };
  }

  /** Deletes the account, and its data elsewhere before it returns if possible; otherwise the alarm continues. */
  async deleteAccount(request: DeletionRequest, origin: Origin): Promise<DeletionVerdict> {
    const verdict = this.#ctx.storage.transactionSync(() => beginDeletion(this.sql, request, origin, Date.now()));
    if (verdict === "begun") await this.#deletion.run(Date.now(), origin);
    return verdict;
  }

  /** Counts one request of the user. */
  count(userId: string, requestId: string | undefined, now: number): LimitState {
    const armed = this.#limiter.nextSweepAt(now) !== null;
    const dueAt = this.#violations.dueAt;
    const identifier = `user:${userId}`;
    const state = counted(this.#limiter, this.#violations, () => {
      const verdict = this.#limiter.check({ identifier, cost: 1, ...API_DEFAULT }, now);
      if (verdict.admitted) return verdict;
      const refusedBy = { rule: "API_DEFAULT", windowSeconds: API_DEFAULT.windowSeconds, identifier };
      this.#violations.recordRefusal({ ...refusedBy, limit: API_DEFAULT.limit, requestId }, now);
      return { ...verdict, refusedBy };
    });
    const account = readAccount(this.sql);
    // The first count sets the alarm for the sweep, the first refusal sets it for the violations. Both renew their
    // alarms.
    const isArmed = armed && this.#violations.dueAt === dueAt;
    if (!isArmed && account) this.duties.arm(now);
    return state;
  }

  violationsStored(violations: readonly Violation[]): void {
    if (this.provisioned) this.#violations.stored(violations, Date.now());
  }

  async alarm(): Promise<void> {
    await this.duties.fire(newAlarmOrigin());
  }

  /** One call deletes data and alarm at this compatibility date, so no crash leaves an account without its alarm. */
  async destroy(): Promise<void> {
    this.#alarm.forget();
    await this.#ctx.storage.deleteAll();
    this.#limiter.forget();
    this.#violations.forget();
  }

  /** Whether the object has this duty now. A deleted account and an unconfirmed one have only one duty. */
  #applies(duty: Duty): boolean {
    const account = readAccount(this.sql);
    if (account === null) return duty === this.#deletion && this.#deletion.isUnfinished;
    if (!account.confirmed) return duty === this.#registration;
    return duty !== this.#deletion && duty !== this.#registration;
  }

  /**
   * Sends pending mails once the directory is known to list the account, so that a discarded registration mails
   * nothing.
   */
  #runPendingWork(account: Account, origin: Origin, now: number): void {
    if (account.confirmed) enqueueDueMails(this.#env, this.sql, account.id, now, origin);
    const hasEnded = this.#sessionEnds.notify(account, now, origin);
    const waits = hasEnded || nextMailAt(this.sql) !== null || this.purge.isUnfinished;
    if (waits || !account.confirmed) this.duties.arm(now);
  }

  /** Writes a log event of this object. */
  line(level: EventLevel, origin: Origin, fields: EventFields): void {
    logObjectEvent(this.#env, "user", origin, level, fields);
  }

  /** Logs the failure of a step that the alarm repeats. */
  failed(event: string, error: unknown, origin: Origin, duty?: string): void {
    const fault = error instanceof Error ? error.name : "unknown";
    const userId = readAccount(this.sql)?.id ?? null;
    this.line("error", origin, { event, outcome: "failed", userId, fault, duty });
  }
}
