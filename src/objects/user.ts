import { DurableObject } from "cloudflare:workers";
import { isProvisioned, type NewAccount, provisionAccount, readAccount } from "../accounts/account.ts";
import { isListed } from "../accounts/directory.ts";
import type { NewFamily } from "../accounts/families.ts";
import { insertLink, type NewLink, type SignInMethods } from "../accounts/links.ts";
import {
  epochOfLinked,
  finishLinking,
  type LinkAuthority,
  type LinkBegun,
  type LinkCompleted,
  methodsOfSession,
  startLinking,
  type Unlinked,
  unlinkBySession,
} from "../accounts/oauth/linking.ts";
import type { ProviderName } from "../accounts/oauth/provider.ts";
import { finishPurge } from "../accounts/purge.ts";
import { USER_SCHEMA } from "../accounts/schema.ts";
import {
  type Authentication,
  authenticate,
  type Credentials,
  openSession,
  type Profile,
  profileOfSession,
  readCredentials,
  type SessionResult,
} from "../accounts/sessions.ts";
import { type Settlement, settleRegistration } from "../accounts/settle.ts";
import type { Env } from "../env.ts";
import { operation } from "../http/log.ts";
import { Limiter, MAX_WINDOW_SECONDS } from "../limits/limiter.ts";
import { API_DEFAULT, type LimitState } from "../limits/state.ts";
import { settingsOf } from "../settings.ts";
import { purgePorts } from "./purge-ports.ts";
import { callWorkspace } from "./stubs.ts";

/** Milliseconds between two sweeps of dead counters: the longest window plus a minute. */
const SWEEP_AFTER_MS = (MAX_WINDOW_SECONDS + 60) * 1000;

/** Milliseconds until another look at a registration that could not be settled. */
const SETTLE_RETRY_MS = 600_000;

/**
 * One account: password hash, sessions as refresh families, and the counter of requests that no workspace counts.
 * One object per user makes every decision about a session one synchronous turn. An object that was never provisioned
 * answers like an account that does not exist, and writes nothing.
 */
export class UserObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #limiter: Limiter;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#limiter = new Limiter(this.#sql);
    // An account from before a table was added gets it here; every statement is safe to run again.
    if (isProvisioned(this.#sql)) for (const statement of USER_SCHEMA) this.#sql.exec(statement);
  }

  /** Makes the account exist, unconfirmed, with its first link if any and the alarm that settles it. Safe to repeat. */
  async provision(account: NewAccount, link: NewLink | null = null): Promise<void> {
    const { storage } = this.ctx;
    const now = Date.now();
    if (readAccount(this.#sql)) return;
    const settleAt = storage.transactionSync(() => {
      const at = provisionAccount(this.#sql, account, now);
      if (link) insertLink(this.#sql, link, now);
      return at;
    });
    // Not awaited on purpose: an await would end the turn. The output gate holds the answer until it is written.
    storage.setAlarm(settleAt);
  }

  /** What a sign-in is checked against; null where there is no account. */
  async credentials(): Promise<Credentials | null> {
    return readCredentials(this.#sql);
  }

  /** Opens a session for a sign-in that was verified against `family.epoch`. Safe to repeat with the same id. */
  async createSession(family: NewFamily): Promise<SessionResult> {
    const key = crypto.getRandomValues(new Uint8Array(32));
    const pepper = settingsOf(this.env).REFRESH_PEPPER;
    return this.ctx.storage.transactionSync(() => openSession(this.#sql, family, key, pepper, Date.now()));
  }

  /** Whether the session lives; with `cost` 1 also counts one request of its user. */
  async authenticate(sessionId: string, cost: 0 | 1): Promise<Authentication> {
    const now = Date.now();
    return authenticate(this.#sql, sessionId, now, cost === 0 ? null : (userId) => this.#count(userId, now));
  }

  async me(sessionId: string): Promise<Profile | null> {
    return profileOfSession(this.#sql, sessionId, Date.now());
  }

  /** The epoch for a session of whoever has this identity; null where the account has not, and never will by that claim. */
  async linkedEpoch(link: NewLink): Promise<number | null> {
    return epochOfLinked(this.#sql, link);
  }

  /** The first step of a link. Where it answers `unfinishedPurge`, `finishPurge` must follow. Safe to repeat. */
  async beginLink(link: NewLink, authority: LinkAuthority): Promise<LinkBegun> {
    return this.ctx.storage.transactionSync(() => startLinking(this.#sql, link, authority, Date.now()));
  }

  /** The last step of a link, once the directory has the claim. Safe to repeat. */
  async completeLink(link: NewLink): Promise<LinkCompleted> {
    return this.ctx.storage.transactionSync(() => finishLinking(this.#sql, link, Date.now()));
  }

  async unlink(sessionId: string, provider: ProviderName): Promise<Unlinked> {
    return unlinkBySession(this.#sql, sessionId, provider, Date.now());
  }

  async methods(sessionId: string): Promise<SignInMethods | null> {
    return methodsOfSession(this.#sql, sessionId, Date.now());
  }

  /** Ends a purge outside this object: to be called after any call that purged, before the answer to its request. */
  async finishPurge(): Promise<void> {
    await finishPurge(this.#sql, purgePorts(this.env));
  }

  /** Takes back a registration that lost its address. An account that the directory lists is never taken back. */
  async discard(): Promise<void> {
    const account = readAccount(this.#sql);
    if (account && !account.confirmed) await this.#destroy();
  }

  override async alarm(): Promise<void> {
    const settlement = await this.#settle();
    const account = readAccount(this.#sql);
    if (!account) return;
    const counts = this.#limiter.sweep(Date.now());
    if (!account.confirmed) {
      const next = settlement === "waiting" ? account.settleAt : Date.now() + SETTLE_RETRY_MS;
      await this.ctx.storage.setAlarm(next);
    } else if (counts) await this.ctx.storage.setAlarm(Date.now() + SWEEP_AFTER_MS);
  }

  /** `failed` rather than a throw: the platform gives up on an alarm after six tries, and this must happen some day. */
  async #settle(): Promise<Settlement | "failed"> {
    const userId = readAccount(this.#sql)?.id ?? null;
    const ports = {
      isListed: (id: string) => isListed(this.env.DB, id),
      destroyWorkspace: (id: string) => callWorkspace(this.env, id, "replay-safe", (stub) => stub.destroy()),
      destroySelf: () => this.#destroy(),
      now: () => Date.now(),
    };
    const event = "user.registration.settle";
    const threshold = settingsOf(this.env).LOG_LEVEL;
    try {
      const outcome = await settleRegistration(this.#sql, ports);
      if (outcome !== null) operation(threshold, "info", { event, outcome, userId });
      return outcome;
    } catch (error) {
      const fault = error instanceof Error ? error.name : "unknown";
      operation(threshold, "error", { event, outcome: "failed", userId, fault });
      return "failed";
    }
  }

  /** The first count arms the sweep; the sweep arms itself for as long as counts are left. */
  #count(userId: string, now: number): LimitState {
    const armed = this.#sql.exec("SELECT 1 FROM rate_seconds LIMIT 1").toArray().length > 0;
    const state = this.#limiter.check({ identifier: `user:${userId}`, cost: 1, ...API_DEFAULT }, now);
    this.#limiter.flush();
    // Not awaited, as in `provision`.
    if (!armed) this.ctx.storage.setAlarm(now + SWEEP_AFTER_MS);
    return state;
  }

  /** One call, so that no crash leaves an account without its alarm: at this compatibility date it takes both. */
  async #destroy(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#limiter.forget();
  }
}
