import { isProvisioned } from "./account.ts";
import { TOKEN_LIFETIME_MS, type TokenPurpose } from "./one-time-token.ts";

/** An expired token is told apart from one that never was for this many milliseconds. */
export const TOKEN_EXPIRED_KEPT_MS = 24 * 60 * 60 * 1000;

export interface NewToken {
  purpose: TokenPurpose;
  hash: Uint8Array;
  /** The address it is mailed to: the token proves that whoever has it reads mail there. */
  address: string;
  /** The mail it travels in: a request that is repeated makes no second token, whatever became of the first. */
  mailId: string;
}

/** A request is repeated within minutes or never (see `mail/requests.ts`); remembered for this many milliseconds. */
const ANSWERED_KEPT_MS = 60 * 60 * 1000;

export type TokenRefusal = { ok: false; code: "INVALID_TOKEN" | "TOKEN_EXPIRED" };
export type Redeemed = { ok: true; address: string } | TokenRefusal;

/**
 * Stores a token in place of an older one of its purpose, whose mail is not sent any more if it has not been.
 * @returns false where this very mail's token was stored before
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
  const noted = sql.exec(
    "INSERT OR IGNORE INTO answered_requests (mail_id, expires_at) VALUES (?, ?) RETURNING 1",
    mailId,
    now + ANSWERED_KEPT_MS,
  );
  return noted.toArray().length > 0;
}

/** Uses a token up: one statement deletes and returns it, so of many callers one gets it. */
export function redeemToken(sql: SqlStorage, purpose: TokenPurpose, hash: Uint8Array, now: number): Redeemed {
  if (!isProvisioned(sql)) return { ok: false, code: "INVALID_TOKEN" };
  const used = sql
    .exec<{ address: string }>(
      "DELETE FROM one_time_tokens WHERE purpose = ? AND hash = ? AND expires_at > ? RETURNING address",
      purpose,
      hash,
      now,
    )
    .toArray()[0];
  if (used) return { ok: true, address: used.address };
  const expired = sql.exec("SELECT 1 FROM one_time_tokens WHERE purpose = ? AND hash = ?", purpose, hash);
  return { ok: false, code: expired.toArray().length > 0 ? "TOKEN_EXPIRED" : "INVALID_TOKEN" };
}

/** After a change of password or address nothing that was mailed before it may be used, or is still to be mailed. */
export function dropTokens(sql: SqlStorage): void {
  sql.exec("DELETE FROM one_time_tokens");
  sql.exec("DELETE FROM promised_mails WHERE seed IS NOT NULL");
}

/** One-time tokens of addresses that have no account yet: there is no user object to keep them. */

export interface AddressToken {
  purpose: TokenPurpose;
  address: string;
  hash: Uint8Array;
}

/** Stores a token in place of an older one of its purpose and address. Repeated, it changes nothing. */
export async function storeAddressToken(db: D1Database, token: AddressToken, now: number): Promise<void> {
  const { purpose, address, hash } = token;
  await db.batch([
    db.prepare("DELETE FROM address_tokens WHERE expires_at < ?").bind(now - TOKEN_EXPIRED_KEPT_MS),
    db
      .prepare("INSERT OR REPLACE INTO address_tokens (purpose, address, hash, expires_at) VALUES (?, ?, ?, ?)")
      .bind(purpose, address, hex(hash), now + TOKEN_LIFETIME_MS[purpose]),
  ]);
}

/** Once the address has an account, a newer token of it is in the user object, and replaces the one here. */
export async function dropAddressToken(db: D1Database, purpose: TokenPurpose, address: string): Promise<void> {
  await db.prepare("DELETE FROM address_tokens WHERE purpose = ? AND address = ?").bind(purpose, address).run();
}

/** Uses a token up: one statement deletes and returns it, so of many callers one gets it. */
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
