import type { Limiter } from "../limits/limiter.ts";

/** Failed logins for one e-mail address from one IP prefix that go unpunished. */
const FREE_FAILURES = 10;
/** Then a lock follows each failure, in milliseconds: doubled every time, up to the maximum. */
const LOCK = { firstMs: 30_000, maxMs: 900_000 } as const;
/** Failures count together while no two are further apart than this many milliseconds. */
const FORGET_MS = 3_600_000;

/** From anywhere: many addresses must not add up to many guesses. An hour, sliding. */
const ANYWHERE = { identifier: "login:anywhere", limit: 100, windowSeconds: 3600 } as const;

/** A caller that never says how its attempt went counts as gone after this many milliseconds. */
const ATTEMPT_MS = 10_000;

export const LOGIN_GATE_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS login_failures (
     -- The /24 of an IPv4 address, the /64 of an IPv6 one.
     prefix TEXT PRIMARY KEY,
     failures INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     locked_until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

export type LoginVerdict = { admitted: true } | { admitted: false /** Milliseconds. */; retryAfter: number };
export type LoginOutcome = "failed" | "succeeded" | "undecided";

/**
 * Throttles password guesses for one e-mail address, known or not. Failures are on disk; attempts under way are in
 * memory, and as many are let through at once as may fail. The rest wait for how those go: so parallel guesses get no
 * further than guesses one by one, and parallel logins with the right password all succeed.
 */
export class LoginGate {
  readonly #sql: SqlStorage;
  readonly #limiter: Limiter;
  readonly #now: () => number;
  /** Attempts under way: when each began, by prefix. */
  readonly #underWay = new Map<string, number[]>();
  #waiting: (() => void)[] = [];

  constructor(sql: SqlStorage, limiter: Limiter, now: () => number) {
    this.#sql = sql;
    this.#limiter = limiter;
    this.#now = now;
  }

  /** Lets an attempt through or not, perhaps after waiting. One that is let through must be `settle`d. */
  async attempt(prefix: string, sleep: (ms: number) => Promise<void>): Promise<LoginVerdict> {
    for (;;) {
      const verdict = this.#decide(prefix, this.#now());
      if (verdict !== "wait") return verdict;
      // Woken by the next settled attempt; the sleep is for one that is never settled.
      await Promise.race([new Promise<void>((wake) => this.#waiting.push(wake)), sleep(ATTEMPT_MS)]);
    }
  }

  settle(prefix: string, outcome: LoginOutcome): void {
    const attempts = this.#underWay.get(prefix) ?? [];
    attempts.shift();
    if (attempts.length === 0) this.#underWay.delete(prefix);
    if (outcome === "failed") this.#fail(prefix, this.#now());
    if (outcome === "succeeded") this.clear();
    this.#wake();
  }

  /** The owner got in, or set a new password: nothing counts against the address any more. */
  clear(): void {
    this.#sql.exec("DELETE FROM login_failures");
    const counter = "(SELECT id FROM rate_counters WHERE identifier = ?)";
    this.#sql.exec(`DELETE FROM rate_seconds WHERE counter = ${counter}`, ANYWHERE.identifier);
    this.#limiter.forget();
    this.#wake();
  }

  /** Deletes what counts no more; whether anything is left. */
  sweep(now: number): boolean {
    this.#sql.exec("DELETE FROM login_failures WHERE last_at <= ? AND locked_until <= ?", now - FORGET_MS, now);
    return this.#sql.exec("SELECT 1 FROM login_failures LIMIT 1").toArray().length > 0;
  }

  #decide(prefix: string, now: number): LoginVerdict | "wait" {
    const { failures, lockedUntil } = this.#failuresOf(prefix, now);
    if (lockedUntil > now) return { admitted: false, retryAfter: lockedUntil - now };
    const anywhere = this.#limiter.peek({ ...ANYWHERE, cost: 1 }, now);
    if (!anywhere.admitted) return { admitted: false, retryAfter: anywhere.resetAt - now };
    let total = 0;
    for (const [key, attempts] of this.#underWay) {
      const present = attempts.filter((startedAt) => now - startedAt < ATTEMPT_MS);
      this.#underWay.set(key, present);
      total += present.length;
    }
    const here = this.#underWay.get(prefix) ?? [];
    // Past the free failures every further one locks, so they go one at a time.
    if (here.length >= Math.max(1, FREE_FAILURES - failures) || total >= anywhere.remaining) return "wait";
    this.#underWay.set(prefix, [...here, now]);
    return { admitted: true };
  }

  #fail(prefix: string, now: number): void {
    const failures = this.#failuresOf(prefix, now).failures + 1;
    const over = failures - FREE_FAILURES;
    const lockedUntil = over < 0 ? 0 : now + Math.min(LOCK.firstMs * 2 ** over, LOCK.maxMs);
    this.#sql.exec(
      "INSERT OR REPLACE INTO login_failures (prefix, failures, last_at, locked_until) VALUES (?, ?, ?, ?)",
      prefix,
      failures,
      now,
      lockedUntil,
    );
    this.#limiter.check({ ...ANYWHERE, cost: 1 }, now);
    this.#limiter.flush();
  }

  #failuresOf(prefix: string, now: number): { failures: number; lockedUntil: number } {
    const row = this.#sql
      .exec<{ failures: number; last_at: number; locked_until: number }>(
        "SELECT failures, last_at, locked_until FROM login_failures WHERE prefix = ?",
        prefix,
      )
      .toArray()[0];
    if (!row || (now - row.last_at >= FORGET_MS && row.locked_until <= now)) return { failures: 0, lockedUntil: 0 };
    return { failures: row.failures, lockedUntil: row.locked_until };
  }

  #wake(): void {
    const woken = this.#waiting;
    this.#waiting = [];
    for (const wake of woken) wake();
  }
}

/** The part of an address that one household or host can move within. IPv6 addresses are a /64 already. */
export function ipPrefix(ip: string): string {
  return ip.replace(/^(\d+\.\d+\.\d+)\.\d+$/, "$1.0/24");
}
