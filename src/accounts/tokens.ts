import { exists, maybe } from "../platform/sql.ts";
import { isProvisioned } from "./account.ts";
import { TOKEN_LIFETIME_MS, type TokenPurpose } from "./one-time-token.ts";

/** Milliseconds for which an expired token is distinguished from an unknown one. */
export const TOKEN_EXPIRED_KEPT_MS = 24 * 60 * 60 * 1000;

export interface NewToken {
  purpose: TokenPurpose;
  hash: Uint8Array;
  /** The address that it is mailed to. A client that presents the token has proven to read mail there. */
  address: string;
  /** The mail that carries it. A retried request creates no second token, even if the first was used. */
  mailId: string;
}

/** Milliseconds for which an answered request is remembered. A retry comes within minutes (see `mail/requests.ts`). */
const ANSWERED_KEPT_MS = 60 * 60 * 1000;

export type TokenRefusal = { ok: false; code: "INVALID_TOKEN" | "TOKEN_EXPIRED" };
export type Redeemed = { ok: true; address: string } | TokenRefusal;

/**
 * Stores a token in place of an older one of its purpose, and drops the older one's pending mail.
 * @returns `false` if the token of this mail was stored before
 */
export function issueToken(sql: SqlStorage, token: NewToken, now: number): boolean {
  const { purpose, hash, address, mailId } = token;
  if (!noteAnswered(sql, mailId, now)) return false;
  sql.exec("DELETE FROM promised_mails WHERE kind = ?", purpose);
  sql.exec(
    "INSERT OR REPLACE INTO one_time_tokens (purpose, hash, address, expires_at) VALUES (?, ?, ?, ?)",
    purpose,
    hash,
    address,
    now + TOKEN_LIFETIME_MS[purpose],
  );
  return true;
}

function noteAnswered(sql: SqlStorage, mailId: string, now: number): boolean {
  sql.exec("DELETE FROM answered_requests WHERE expires_at <= ?", now);
  const insert = "INSERT OR IGNORE INTO answered_requests (mail_id, expires_at) VALUES (?, ?) RETURNING 1";
  return exists(sql, insert, mailId, now + ANSWERED_KEPT_MS);
}

/** Uses a token up: one statement deletes and returns it, so only one of several callers gets it. */
export function redeemToken(sql: SqlStorage, purpose: TokenPurpose, hash: Uint8Array, now: number): Redeemed {
  if (!isProvisioned(sql)) return { ok: false, code: "INVALID_TOKEN" };
  const used = maybe<{ address: string }>(
    sql,
    "DELETE FROM one_time_tokens WHERE purpose = ? AND hash = ? AND expires_at > ? RETURNING address",
    purpose,
    hash,
    now,
  );
  if (used) return { ok: true, address: used.address };
  const isExpired = exists(sql, "SELECT 1 FROM one_time_tokens WHERE purpose = ? AND hash = ?", purpose, hash);
  return { ok: false, code: isExpired ? "TOKEN_EXPIRED" : "INVALID_TOKEN" };
}

/** Drops all tokens and their pending mails, after a change of password or address. */
export function dropTokens(sql: SqlStorage): void {
  sql.exec("DELETE FROM one_time_tokens");
  sql.exec("DELETE FROM promised_mails WHERE seed IS NOT NULL");
}

/** One-time tokens of addresses without an account, which have no user object to store them. */

export interface AddressToken {
  purpose: TokenPurpose;
  address: string;
  hash: Uint8Array;
}

/** Stores a token in place of an older one of its purpose and address. Safe to repeat. */
export async function storeAddressToken(db: D1Database, token: AddressToken, now: number): Promise<void> {
  const { purpose, address, hash } = token;
  await db.batch([
    db.prepare("DELETE FROM address_tokens WHERE expires_at < ?").bind(now - TOKEN_EXPIRED_KEPT_MS),
    db
      .prepare("INSERT OR REPLACE INTO address_tokens (purpose, address, hash, expires_at) VALUES (?, ?, ?, ?)")
      .bind(purpose, address, hex(hash), now + TOKEN_LIFETIME_MS[purpose]),
  ]);
}

/** Deletes the token of an address that has an account by now: a newer token in the user object replaces it. */
export async function dropAddressToken(db: D1Database, purpose: TokenPurpose, address: string): Promise<void> {
  await db.prepare("DELETE FROM address_tokens WHERE purpose = ? AND address = ?").bind(purpose, address).run();
}

/** Uses a token up: one statement deletes and returns it, so only one of several callers gets it. */
export async function redeemAddressToken(
  db: D1Database,
  purpose: TokenPurpose,
  hash: Uint8Array,
  now: number,
): Promise<Redeemed> {
  const used = await db
    .prepare("DELETE FROM address_tokens WHERE hash = ? AND purpose = ? AND expires_at > ? RETURNING address")
    .bind(hex(hash), purpose, now)
    .first<{ address: string }>();
  if (used) return { ok: true, address: used.address };
  const expired = await db
    .prepare("SELECT 1 FROM address_tokens WHERE hash = ? AND purpose = ? AND expires_at <= ?")
    .bind(hex(hash), purpose, now)
    .first();
  return { ok: false, code: expired ? "TOKEN_EXPIRED" : "INVALID_TOKEN" };
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}
