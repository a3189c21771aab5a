import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { LIMITER_SCHEMA, Limiter, type LimitRequest, MAX_WINDOW_SECONDS } from "../limits/limiter.ts";
import type { LimitState } from "../limits/state.ts";

/** Milliseconds between an idle object's last sweep and the next look: the longest window plus a minute. */
const SWEEP_AFTER_MS = (MAX_WINDOW_SECONDS + 60) * 1000;

/**
 * The counters of one client address (or of one e-mail hash): what is counted before anybody is known.
 * One object per address, so a flood from one never slows another; it deletes itself once nothing counts any more.
 */
export class AddressObject extends DurableObject<Env> {
  readonly #limiter: Limiter;
  #provisioned = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#limiter = new Limiter(ctx.storage.sql);
  }

  /** Decides on one request of this address and counts it if it is admitted. */
  async check(request: LimitRequest): Promise<LimitState> {
    this.#provision();
    const now = Date.now();
    const state = this.#limiter.check(request, now);
    this.#limiter.flush();
    return state;
  }

  /** Answers, and writes nothing: the health check's object. */
  async ping(): Promise<true> {
    return true;
  }

  override async alarm(): Promise<void> {
    this.#provision();
    if (this.#limiter.sweep(Date.now())) return this.ctx.storage.setAlarm(Date.now() + SWEEP_AFTER_MS);
    this.#provisioned = false;
    await this.ctx.storage.deleteAll();
  }

  /** Tables and the alarm that ends them are written in one turn, so neither exists without the other. */
  #provision(): void {
    if (this.#provisioned) return;
    const { storage } = this.ctx;
    const exists = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'rate_seconds'").toArray().length > 0;
    if (!exists) {
      for (const statement of LIMITER_SCHEMA) storage.sql.exec(statement);
      // Not awaited on purpose: an await would end the turn. The output gate holds the answer until it is written.
      storage.setAlarm(Date.now() + SWEEP_AFTER_MS);
    }
    this.#provisioned = true;
  }
}
