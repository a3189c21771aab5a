import type { Limiter, LimitRequest } from "../limits/limiter.ts";
import type { MailKind, TokenMailKind } from "./mail.ts";

/**
 * Requests for a mail that anybody can make for any address. They are taken in, throttled and on disk before anything
 * about the address is looked up, so the answer cannot tell whether it has an account; what follows happens after it.
 */
export const MAIL_REQUEST_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS mail_requests (
     -- The id that the mail will have.
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL CHECK (kind IN ('verify-email', 'magic-link', 'reset-password')),
     address TEXT NOT NULL,
     seed BLOB NOT NULL,
     next_at INTEGER NOT NULL,
     tries INTEGER NOT NULL DEFAULT 0,
     -- From then on whoever asked has asked again.
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

/** The HTTP request that asked for the mail; null where an older version took it in. */
export const MAIL_REQUEST_CAUSE = ["ALTER TABLE mail_requests ADD COLUMN request_id TEXT"] as const;

export interface MailRequest {
  id: string;
  kind: TokenMailKind;
  address: string;
  seed: Uint8Array;
  requestId?: string | undefined;
}

/** Mails of one kind for one address that a stranger can trigger. */
const LIMITS = [
  { name: "minute", limit: 1, windowSeconds: 60 },
  { name: "hour", limit: 5, windowSeconds: 3600 },
] as const;

/** Mails of registrations of one address: nobody's first one is held back, and whoever deletes and repeats mails no more. */
const REGISTRATIONS = { identifier: "mail:registration:hour", limit: 5, windowSeconds: 3600, cost: 1 } as const;

/** A request is worth answering for this many milliseconds. */
const REQUEST_LIFETIME_MS = 10 * 60_000;
/** Milliseconds until a request whose answer was cut short is taken up again: doubled with every try. */
const RETRY_MS = 15_000;

/** Counts one mail of a kind for this object's address, if it fits; the caller must not tell anybody that it does not. */
export function admitMail(limiter: Limiter, kind: MailKind, now: number): boolean {
  const limits: LimitRequest[] = LIMITS.map(({ name, limit, windowSeconds }) => {
    return { identifier: `mail:${kind}:${name}`, limit, windowSeconds, cost: 1 };
  });
  if (!limits.every((limit) => limiter.peek(limit, now).admitted)) return false;
  for (const limit of limits) limiter.check(limit, now);
  limiter.flush();
  return true;
}

/** Counts the mail of one registration of this object's address, if it fits; other mails to the address do not matter. */
export function admitRegistrationMail(limiter: Limiter, now: number): boolean {
  const { admitted } = limiter.check(REGISTRATIONS, now);
  limiter.flush();
  return admitted;
}

/** Takes a request in; the caller must not tell anybody that it was too much. */
export function takeMailRequest(sql: SqlStorage, limiter: Limiter, request: MailRequest, now: number): boolean {
  if (!admitMail(limiter, request.kind, now)) return false;
  sql.exec(
    "INSERT INTO mail_requests (id, kind, address, seed, next_at, expires_at, request_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
    request.id,
    request.kind,
    request.address,
    request.seed,
    now,
    now + REQUEST_LIFETIME_MS,
    request.requestId ?? null,
  );
  return true;
}

/** The requests to answer now; each is put off at once, so that it is taken up again only if this comes to nothing. */
export function dueMailRequests(sql: SqlStorage, now: number): MailRequest[] {
  sql.exec("DELETE FROM mail_requests WHERE expires_at <= ?", now);
  const rows = sql
    .exec<MailRequestRow>(
      "SELECT id, kind, address, seed, tries, request_id FROM mail_requests WHERE next_at <= ?",
      now,
    )
    .toArray();
  return rows.map(({ id, kind, address, seed, tries, request_id }) => {
    const next = now + RETRY_MS * 2 ** tries;
    sql.exec("UPDATE mail_requests SET next_at = ?, tries = tries + 1 WHERE id = ?", next, id);
    return { id, kind, address, seed: new Uint8Array(seed), requestId: request_id ?? undefined };
  });
}

type MailRequestRow = {
  id: string;
  kind: TokenMailKind;
  address: string;
  seed: ArrayBuffer;
  tries: number;
  request_id: string | null;
};

export function dropMailRequest(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM mail_requests WHERE id = ?", id);
}

/** When the alarm must look at the requests again; null where there are none. */
export function nextMailRequestAt(sql: SqlStorage): number | null {
  return sql.exec<{ at: number | null }>("SELECT MIN(MIN(next_at, expires_at)) AS at FROM mail_requests").one().at;
}
