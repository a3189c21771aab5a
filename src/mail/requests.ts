import type { Limiter, LimitRequest } from "../limits/limiter.ts";
import { RowOutbox } from "../platform/outbox.ts";
import type { MailKind, TokenMailKind } from "./mail.ts";

/**
 * Table of mail requests, which unauthenticated callers can make for any e-mail address.
 *
 * A request is limited and stored before the account is looked up, so that the response does not reveal whether the
 * e-mail address has an account. The mail is composed after the response.
 */
export const MAIL_REQUEST_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS mail_requests (
     -- Row: a mail request that is not processed yet.
     -- Written by: \`magic-link\`, \`forgot-password\`, \`verify-email/resend\`; deleted once the pending mail is
     -- stored.
     -- The id of the future mail.
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL CHECK (kind IN ('verify-email', 'magic-link', 'reset-password')),
     address TEXT NOT NULL,
     seed BLOB NOT NULL,
     next_at INTEGER NOT NULL,
     tries INTEGER NOT NULL DEFAULT 0,
     -- 10 minutes later.
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

/** Adds the id of the HTTP request; `null` in rows of older versions. */
export const MAIL_REQUEST_CAUSE = [
  `-- The HTTP request; null if an older version stored the row.
 ALTER TABLE mail_requests ADD COLUMN request_id TEXT`,
] as const;

export interface MailRequest {
  id: string;
  kind: TokenMailKind;
  address: string;
  seed: Uint8Array;
  requestId?: string | undefined;
}

/** Limits for mails of one kind to one e-mail address that unauthenticated callers can trigger. */
const LIMITS = [
  { name: "minute", limit: 1, windowSeconds: 60 },
  { name: "hour", limit: 5, windowSeconds: 3600 },
] as const;

/**
 * Limit for registration mails to one e-mail address. The first one is never held back, and deleting and repeating an
 * account sends no additional mails.
 */
const REGISTRATIONS = { identifier: "mail:registration:hour", limit: 5, windowSeconds: 3600, cost: 1 } as const;

/** Milliseconds after which a request is dropped. */
const REQUEST_LIFETIME_MS = 10 * 60_000;

type MailRequestRow = {
  id: string;
  kind: TokenMailKind;
  address: string;
  seed: ArrayBuffer;
  request_id: string | null;
};

const OUTBOX = new RowOutbox<MailRequestRow>({
  name: "mail_requests",
  attempts: "tries",
  columns: "id, kind, address, seed, request_id",
  retry: { firstMs: 15_000, maxMs: REQUEST_LIFETIME_MS },
});

/**
 * Counts one mail of a kind for this object's e-mail address, if the limits allow it. The caller must not reveal the
 * result.
 */
export function admitMail(limiter: Limiter, kind: MailKind, now: number): boolean {
  const limits: LimitRequest[] = LIMITS.map(({ name, limit, windowSeconds }) => {
    return { identifier: `mail:${kind}:${name}`, limit, windowSeconds, cost: 1 };
  });
  if (!limits.every((limit) => limiter.peek(limit, now).admitted)) return false;
  for (const limit of limits) limiter.check(limit, now);
  limiter.flush();
  return true;
}

/**
 * Counts one registration mail for this object's e-mail address, if the limit allows it. Independent of other mails.
 */
export function admitRegistrationMail(limiter: Limiter, now: number): boolean {
  const { admitted } = limiter.check(REGISTRATIONS, now);
  limiter.flush();
  return admitted;
}

/** Stores a request if the limits allow it. The caller must not reveal the result. */
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

/** Returns the due requests and postpones each, so that it is retried only if this attempt does not finish. */
export function dueMailRequests(sql: SqlStorage, now: number): MailRequest[] {
  return OUTBOX.take(sql, now).due.map(({ id, kind, address, seed, request_id }) => {
    return { id, kind, address, seed: new Uint8Array(seed), requestId: request_id ?? undefined };
  });
}

export function dropMailRequest(sql: SqlStorage, id: string): void {
  OUTBOX.remove(sql, id);
}

/** Returns when the alarm must process requests next, epoch milliseconds; `null` if there are none. */
export function nextMailRequestAt(sql: SqlStorage): number | null {
  return OUTBOX.nextAt(sql);
}
