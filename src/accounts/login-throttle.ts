import { createHmac, timingSafeEqual } from "node:crypto";
import { isBase62, isId, randomBase62 } from "../ids.ts";
import { type Limiter, SWEEP_AFTER_MS } from "../limits/limiter.ts";
import type { Duty } from "../platform/alarm.ts";
import { type Backoff, delayOf } from "../platform/backoff.ts";
import { exists, maybe } from "../platform/sql.ts";

/**
 * Device tokens mark a device that has signed in to an account (OWASP's device cookie). Its logins have a separate
 * counter of failures, so that failures of other clients cannot lock the owner out. A device token is not a credential:
 * it is useless without the password. `dt_<body>_<mac>`, both base64url:
 *
 *   body = userId.deviceId.epoch.second of issue
 *   mac  = HMAC-SHA256 over body and e-mail address, keyed from the pepper
 *
 * It is bound to the address and to the account's epoch, which rises with a new password. Nothing of it is stored.
 */
const PREFIX = "dt_";
const DEVICE_ID_LENGTH = 22;
const MAC_BYTES = 32;
const NUMBER = /^\d{1,15}$/;

/** Longer than any minted token. A longer text is no token, and must not be hashed. */
const MAX_LENGTH = 256;

/** Lifetime of a device token: 400 days, as long as browsers keep a cookie. Every sign-in issues a new one. */
export const DEVICE_TOKEN_MS = 400 * 24 * 60 * 60 * 1000;

export interface Device {
  userId: string;
  /** Names the counter of failures of the device. */
  deviceId: string;
  epoch: number;
}

/** Mints a token for a device that has just signed in. */
export function mintDeviceToken(
  { userId, email, epoch }: { userId: string; email: string; epoch: number },
  pepper: string,
  now: number,
): string {
  const parts = [userId, randomBase62(DEVICE_ID_LENGTH), epoch, Math.floor(now / 1000)];
  const body = Buffer.from(parts.join(".")).toString("base64url");
  return `${PREFIX}${body}_${macOf(body, email, pepper).toString("base64url")}`;
}

/** Opens a device token for an address; `null` if it is forged, for another address, or expired. */
export function openDeviceToken(token: string, email: string, pepper: string, now: number): Device | null {
  if (token.length > MAX_LENGTH || !token.startsWith(PREFIX)) return null;
  // The body has no `_`: base64url of ids, dots and digits never does.
  const cut = token.indexOf("_", PREFIX.length);
  if (cut < 0) return null;
  const body = token.slice(PREFIX.length, cut);
  const mac = Buffer.from(token.slice(cut + 1), "base64url");
  if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(body, email, pepper))) return null;
  const [userId = "", deviceId = "", epoch = "", issued = "", ...rest] = Buffer.from(body, "base64url")
    .toString()
    .split(".");
  const isWhole = rest.length === 0 && isId("usr", userId) && NUMBER.test(epoch) && NUMBER.test(issued);
  if (!isWhole || deviceId.length !== DEVICE_ID_LENGTH || !isBase62(deviceId)) return null;
  if (Number(issued) * 1000 + DEVICE_TOKEN_MS <= now) return null;
  return { userId, deviceId, epoch: Number(epoch) };
}

function macOf(body: string, email: string, pepper: string): Buffer {
  const key = createHmac("sha256", pepper).update("taffrail device token").digest();
  return createHmac("sha256", key).update(`${body}\n${email}`).digest();
}

/** Failed logins for one e-mail address from one IP prefix before the first lock. */
const FREE_FAILURES = 10;
/** Length of the lock after each further failure, in milliseconds: doubled every time, up to the maximum. */
const LOCK: Backoff = { firstMs: 30_000, maxMs: 900_000 };
/** Milliseconds without a failure after which the counter of failures starts again. */
const FORGET_MS = 3_600_000;

/**
 * Limit for one e-mail address over all client IPs, so that many clients do not add up to many guesses. Sliding hour.
 */
const ANYWHERE = { identifier: "login:anywhere", limit: 100, windowSeconds: 3600 } as const;

/** Milliseconds after which an attempt without a recorded outcome expires. */
const ATTEMPT_MS = 10_000;

export const LOGIN_THROTTLE_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS login_failures (
     -- Row: an IP prefix or a device that failed to sign in.
     -- Written by: failed logins; cleared by a success or a reset, swept an hour after the last.
     -- The /24 of an IPv4 address, the /64 of an IPv6 address, or \`device:<id>\`.
     prefix TEXT PRIMARY KEY,
     failures INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     locked_until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

export type LoginVerdict = { admitted: true } | { admitted: false /** Milliseconds. */; retryAfter: number };
/** The origin of a login. `device`: the id of a device that has signed in before; it has a separate counter. */
export interface LoginOrigin {
  prefix: string;
  device: string | null;
}

export type LoginOutcome = "failed" | "succeeded" | "undecided";

/**
 * Throttles password guesses for one e-mail address, known or unknown. Failures are on disk, attempts in progress are
 * in memory. As many attempts run at once as may fail; the others wait for their outcomes. So parallel guesses get no
 * further than sequential ones, and parallel logins with the right password all succeed.
 *
 * A device that has signed in before has a separate counter, with the same free failures and locks. Other clients
 * cannot lock it out, and its failures do not lock out others.
 */
export class LoginThrottle {
  readonly #sql: SqlStorage;
  readonly #limiter: Limiter;
  readonly #now: () => number;
  /** Start times of the attempts in progress, by prefix. */
  readonly #inProgress = new Map<string, number[]>();
  #waiting: (() => void)[] = [];

  constructor(sql: SqlStorage, limiter: Limiter, now: () => number) {
    this.#sql = sql;
    this.#limiter = limiter;
    this.#now = now;
  }

  /**
   * Admits or refuses an attempt, perhaps after a wait for attempts in progress. `recordOutcome` ends an admitted one.
   */
  async attempt(origin: LoginOrigin, sleep: (ms: number) => Promise<void>): Promise<LoginVerdict> {
    for (;;) {
      const verdict = this.#decide(origin, this.#now());
      if (verdict !== "wait") return verdict;
      // The next recorded outcome wakes this attempt. The sleep covers an outcome that is never recorded.
      await Promise.race([new Promise<void>((wake) => this.#waiting.push(wake)), sleep(ATTEMPT_MS)]);
    }
  }

  recordOutcome(origin: LoginOrigin, outcome: LoginOutcome): void {
    const counter = counterOf(origin);
    const attempts = this.#inProgress.get(counter) ?? [];
    attempts.shift();
    if (attempts.length === 0) this.#inProgress.delete(counter);
    if (outcome === "failed") this.#fail(origin, this.#now());
    if (outcome === "succeeded") {
      // Failures of other clients keep counting: the sign-in of this device does not excuse them.
      if (origin.device === null) this.clear();
      else this.#sql.exec("DELETE FROM login_failures WHERE prefix = ?", counter);
    }
    this.#wake();
  }

  /** Clears all failures of the address, after a successful sign-in or a new password. */
  clear(): void {
    this.#sql.exec("DELETE FROM login_failures");
    const counter = "(SELECT id FROM rate_counters WHERE identifier = ?)";
    this.#sql.exec(`DELETE FROM rate_seconds WHERE counter = ${counter}`, ANYWHERE.identifier);
    this.#limiter.forget();
    this.#wake();
  }

  get hasFailures(): boolean {
    return exists(this.#sql, "SELECT 1 FROM login_failures LIMIT 1");
  }

  /** Deletes expired failures. */
  sweep(now: number): void {
    this.#sql.exec("DELETE FROM login_failures WHERE last_at <= ? AND locked_until <= ?", now - FORGET_MS, now);
  }

  #decide(origin: LoginOrigin, now: number): LoginVerdict | "wait" {
    const counter = counterOf(origin);
    const { failures, lockedUntil } = this.#failuresOf(counter, now);
    if (lockedUntil > now) return { admitted: false, retryAfter: lockedUntil - now };
    let room = Number.POSITIVE_INFINITY;
    if (origin.device === null) {
      const anywhere = this.#limiter.peek({ ...ANYWHERE, cost: 1 }, now);
      if (!anywhere.admitted) return { admitted: false, retryAfter: anywhere.resetAt - now };
      room = anywhere.remaining;
    }
    let total = 0;
    for (const [key, attempts] of this.#inProgress) {
      const present = attempts.filter((startedAt) => now - startedAt < ATTEMPT_MS);
      this.#inProgress.set(key, present);
      if (!key.startsWith(DEVICE)) total += present.length;
    }
    const here = this.#inProgress.get(counter) ?? [];
    // After the free failures each further one locks, so attempts run one at a time.
    if (here.length >= Math.max(1, FREE_FAILURES - failures) || total >= room) return "wait";
    this.#inProgress.set(counter, [...here, now]);
    return { admitted: true };
  }

  #fail(origin: LoginOrigin, now: number): void {
    const counter = counterOf(origin);
    const failures = this.#failuresOf(counter, now).failures + 1;
    const over = failures - FREE_FAILURES;
    const lockedUntil = over < 0 ? 0 : now + delayOf(LOCK, over);
    this.#sql.exec(
      "INSERT OR REPLACE INTO login_failures (prefix, failures, last_at, locked_until) VALUES (?, ?, ?, ?)",
      counter,
      failures,
      now,
      lockedUntil,
    );
    if (origin.device !== null) return;
    this.#limiter.check({ ...ANYWHERE, cost: 1 }, now);
    this.#limiter.flush();
  }

  #failuresOf(counter: string, now: number): { failures: number; lockedUntil: number } {
    const row = maybe<{ failures: number; last_at: number; locked_until: number }>(
      this.#sql,
      "SELECT failures, last_at, locked_until FROM login_failures WHERE prefix = ?",
      counter,
    );
    if (!row || (now - row.last_at >= FORGET_MS && row.locked_until <= now)) return { failures: 0, lockedUntil: 0 };
    return { failures: row.failures, lockedUntil: row.locked_until };
  }

  #wake(): void {
    const woken = this.#waiting;
    this.#waiting = [];
    for (const wake of woken) wake();
  }
}

/** The duty of an e-mail address's object to delete expired failures. */
export function throttleDuty(throttle: LoginThrottle): Duty {
  return {
    name: "login failures",
    dueAt: (now) => (throttle.hasFailures ? now + SWEEP_AFTER_MS : null),
    run: (now) => throttle.sweep(now),
  };
}

/** Prefix of the name of a device's counter; no IP prefix begins with it. */
const DEVICE = "device:";

function counterOf({ prefix, device }: LoginOrigin): string {
  return device === null ? prefix : `${DEVICE}${device}`;
}

/** The part of an IP address that one household or host shares. IPv6 addresses are a /64 already. */
export function ipPrefix(ip: string): string {
  return ip.replace(/^(\d+\.\d+\.\d+)\.\d+$/, "$1.0/24");
}
