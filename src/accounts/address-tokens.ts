import { TOKEN_LIFETIME_MS, type TokenPurpose } from "./one-time-token.ts";
import { type Redeemed, TOKEN_EXPIRED_KEPT_MS } from "./tokens.ts";

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
