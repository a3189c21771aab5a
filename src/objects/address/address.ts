import { DurableObject } from "cloudflare:workers";
import { type LoginOutcome, LoginThrottle, type LoginVerdict, throttleDuty } from "../../accounts/login-throttle.ts";
import { newSeed } from "../../accounts/one-time-token.ts";
import { EMAIL_SCHEMA } from "../../accounts/schema.ts";
import type { Env } from "../../env.ts";
import { newId } from "../../ids.ts";
import { LIMITER_SCHEMA, Limiter, type LimitRequest, SWEEP_AFTER_MS, sweepDuty } from "../../limits/limiter.ts";
import { SearchCover } from "../../limits/search-cover.ts";
import type { LimitState } from "../../limits/state.ts";
import { counted, ViolationOutbox } from "../../limits/violation-outbox.ts";
import type { Violation } from "../../limits/violations.ts";
import type { Mail, TokenMailKind } from "../../mail/mail.ts";
import { claimMail, mailSent, releaseMail } from "../../mail/pending-mails.ts";
import { admitMail, admitRegistrationMail, takeMailRequest } from "../../mail/requests.ts";
import { Duties, type Duty, SharedAlarm } from "../../platform/alarm.ts";
import { logObjectEvent } from "../../platform/log.ts";
import { newAlarmOrigin, type Origin, originOrNew } from "../../platform/origin.ts";
import { hasTable, migrate } from "../../platform/sql.ts";
import type { AddressRpc } from "../../rpc/address.ts";
import { enqueueDueMails, mailDuty } from "../queues/mails.ts";
import { violationDuty } from "../queues/violations.ts";
import { mailRequestDuty, processMailRequests } from "./mail-requests.ts";

/**
 * Counts what happens before authentication. Of a client IP (`ip:<address>`): its requests. Of an e-mail address
 * (`email:<hash>`): failed logins and mails that unauthenticated clients request, with the pending mails to an address
 * without an account. Each address has a separate object, so a flood from one does not slow others. The object deletes
 * itself once nothing counts.
 */
export class AddressObject extends DurableObject<Env> implements AddressRpc {
  readonly #sql: SqlStorage;
  readonly #limiter: Limiter;
  readonly #cover: SearchCover;
  readonly #throttle: LoginThrottle;
  readonly #violations: ViolationOutbox;
  readonly #alarm: SharedAlarm;
  readonly #duties: Duties;
  #provisioned = false;
  #hasEmailTables = false;
  #isMigrated = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#limiter = new Limiter(this.#sql);
    this.#cover = new SearchCover(this.#sql);
    this.#violations = new ViolationOutbox(this.#sql);
    this.#throttle = new LoginThrottle(this.#sql, this.#limiter, () => Date.now());
    this.#alarm = new SharedAlarm(ctx.storage);
    const mailRequests = mailRequestDuty(env, ctx.storage);
    const mails = mailDuty(env, this.#sql, () => this.#name);
    const throttle = throttleDuty(this.#throttle);
    const ofEmail: ReadonlySet<Duty> = new Set([mailRequests, mails, throttle]);
    const violations = violationDuty(env, this.#violations, () => this.#name);
    this.#duties = new Duties(this.#alarm, [mailRequests, mails, sweepDuty(this.#limiter), throttle, violations], {
      applies: (duty) => !ofEmail.has(duty) || this.#isEmail(),
      failed: ({ name }, error, origin) => {
        const fault = error instanceof Error ? error.name : "unknown";
        logObjectEvent(env, "address", origin, "error", {
          event: "address.alarm",
          outcome: "failed",
          duty: name,
          fault,
        });
      },
    });
  }

  async check(request: LimitRequest, preset: string, origin?: Origin): Promise<LimitState> {
    this.#provision();
    const now = Date.now();
    const { search } = request;
    const state = counted(this.#limiter, this.#violations, () =>
      search === undefined ? this.#limiter.check(request, now) : this.#checkSearch(request, search, now),
    );
    // A request that costs more than the whole limit is refused for its size, and is no violation.
    if (state.admitted || request.cost > request.limit) return state;
    this.#noteRefusal(request, preset, origin?.requestId, now);
    const { identifier, windowSeconds } = request;
    return { ...state, refusedBy: { rule: preset, windowSeconds, identifier } };
  }

  async violationsStored(violations: readonly Violation[]): Promise<void> {
    this.#violations.stored(violations, Date.now());
  }

  async ping(): Promise<true> {
    return true;
  }

  async attemptLogin(prefix: string, device: string | null = null): Promise<LoginVerdict> {
    this.#provisionEmail();
    return this.#throttle.attempt({ prefix, device }, (ms) => scheduler.wait(ms));
  }

  async recordLoginOutcome(prefix: string, outcome: LoginOutcome, device: string | null = null): Promise<void> {
    this.#provisionEmail();
    this.#throttle.recordOutcome({ prefix, device }, outcome);
  }

  /** @deprecated The earlier name of `recordLoginOutcome`: routers of the version before call it during a deploy. */
  settleLogin(prefix: string, outcome: LoginOutcome, device: string | null = null): Promise<void> {
    return this.recordLoginOutcome(prefix, outcome, device);
  }

  async clearLoginFailures(): Promise<void> {
    if (!this.#isEmail()) return;
    this.#provisionEmail();
    this.#throttle.clear();
  }

  /** @deprecated The earlier name of `clearLoginFailures`. */
  forgiveLogins(): Promise<void> {
    return this.clearLoginFailures();
  }

  async requestMail(kind: TokenMailKind, address: string, origin?: Origin): Promise<void> {
    this.#provisionEmail();
    const now = Date.now();
    const cause = originOrNew(origin);
    const request = { id: newId("mail"), kind, address, seed: newSeed(), requestId: cause.requestId };
    const taken = this.ctx.storage.transactionSync(() => takeMailRequest(this.#sql, this.#limiter, request, now));
    if (!taken) return;
    this.#duties.arm(now);
    // Not awaited: the response must not wait for it. The alarm repeats what does not finish.
    this.ctx.waitUntil(this.#processMailRequests(cause));
  }

  async admitInvite(): Promise<boolean> {
    this.#provisionEmail();
    return this.ctx.storage.transactionSync(() => admitMail(this.#limiter, "invite", Date.now()));
  }

  async admitRegistrationMail(): Promise<boolean> {
    this.#provisionEmail();
    return this.ctx.storage.transactionSync(() => admitRegistrationMail(this.#limiter, Date.now()));
  }

  async claimMail(mailId: string): Promise<Mail | null> {
    return this.#isEmail() ? claimMail(this.#sql, mailId, Date.now()) : null;
  }

  async mailSent(mailId: string): Promise<void> {
    if (this.#isEmail()) mailSent(this.#sql, mailId);
  }

  async releaseMail(mailId: string): Promise<void> {
    if (this.#isEmail()) releaseMail(this.#sql, mailId);
  }

  override async alarm(): Promise<void> {
    this.#provision();
    if (this.#isEmail()) this.#provisionEmail();
    if (await this.#duties.fire(newAlarmOrigin())) return;
    this.#provisioned = false;
    this.#hasEmailTables = false;
    this.#isMigrated = false;
    this.#alarm.forget();
    await this.ctx.storage.deleteAll();
    this.#cover.forget();
    this.#violations.forget();
  }

  /** Counts the first request of a search; those that it covers cost nothing. */
  #checkSearch(request: LimitRequest, search: string, now: number): LimitState {
    const { identifier } = request;
    if (this.#cover.take(identifier, search, now)) return this.#limiter.peek({ ...request, cost: 0 }, now);
    const state = this.#limiter.check(request, now);
    if (state.admitted) this.#cover.begin(identifier, search, now);
    return state;
  }

  #noteRefusal(
    { limit, windowSeconds }: LimitRequest,
    preset: string,
    requestId: string | undefined,
    now: number,
  ): void {
    const before = this.#violations.dueAt;
    const identifier = this.#name;
    const refusal = { identifier, rule: preset, limit, windowSeconds, requestId };
    counted(this.#limiter, this.#violations, () => this.#violations.recordRefusal(refusal, now));
    if (this.#violations.dueAt !== before) this.#duties.arm(now);
  }

  async #processMailRequests(origin: Origin): Promise<void> {
    await processMailRequests(this.env, this.ctx.storage, origin, Date.now());
    enqueueDueMails(this.env, this.#sql, this.#name, Date.now(), origin);
    this.#duties.arm(Date.now());
  }

  get #name(): string {
    return this.ctx.id.name ?? "";
  }

  #isEmail(): boolean {
    this.#hasEmailTables ||= hasTable(this.#sql, "mail_requests");
    return this.#hasEmailTables;
  }

  #provisionEmail(): void {
    this.#provision();
    if (this.#isMigrated) return;
    // Migrates tables of an older version, too.
    this.ctx.storage.transactionSync(() => migrate(this.#sql, EMAIL_SCHEMA));
    this.#hasEmailTables = true;
    this.#isMigrated = true;
  }

  /** Creates the tables and sets the alarm that deletes them in one turn, so that neither exists without the other. */
  #provision(): void {
    if (this.#provisioned) return;
    if (!hasTable(this.#sql, "rate_seconds")) {
      for (const statement of LIMITER_SCHEMA) this.#sql.exec(statement);
      this.#alarm.by(Date.now() + SWEEP_AFTER_MS);
    }
    this.#provisioned = true;
  }
}
