import { TOKEN_LIFETIME_MS, type TokenPurpose } from "./one-time-token.ts";

export interface NewToken {
  purpose: TokenPurpose;
  hash: Uint8Array;
  /** The address it is mailed to: the token proves that whoever has it reads mail there. */
  address: string;
  /** The mail it travels in: a request that is repeated makes no second token. */
  mailId: string;
}

export type TokenRefusal = { ok: false; code: "INVALID_TOKEN" | "TOKEN_EXPIRED" };
export type Redeemed = { ok: true; address: string } | TokenRefusal;

/** Stores a token in place of an older one of its purpose; false where this very mail's token is stored already. */
export function issueToken(sql: SqlStorage, token: NewToken, now: number): boolean {
  const { purpose, hash, address, mailId } = token;
  const known = sql.exec("SELECT 1 FROM one_time_tokens WHERE purpose = ? AND mail_id = ?", purpose, mailId);
  if (known.toArray().length > 0) return false;
  sql.exec(
    "INSERT OR REPLACE INTO one_time_tokens (purpose, hash, address, mail_id, expires_at) VALUES (?, ?, ?, ?, ?)",
    purpose,
    hash,
    address,
    mailId,
    now + TOKEN_LIFETIME_MS[purpose],
  );
  return true;
}

/** Uses a token up: one statement deletes and returns it, so of many callers one gets it. */
export function redeemToken(sql: SqlStorage, purpose: TokenPurpose, hash: Uint8Array, now: number): Redeemed {
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

/** After a change of password or address nothing that was mailed before it may be used. */
export function dropTokens(sql: SqlStorage): void {
  sql.exec("DELETE FROM one_time_tokens");
}
