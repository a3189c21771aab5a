import { createHash } from "node:crypto";
import type { Identity, ProviderName } from "./provider.ts";

/** Bytes of randomness in a state, a browser's cookie, a code. */
const SECRET_BYTES = 32;

/** base64url of 32 bytes: 43 characters. */
export const SECRET_TEXT = /^[A-Za-z0-9_-]{43}$/;

/** Returns a random secret that one party keeps for a limited time. */
export function randomSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64url");
}

/** The stored form of a secret. As a PKCE challenge, this is method S256. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

/** Whether a text has the shape of such a secret or of its hash. Avoids a query for anything else. */
export function isSecretShaped(text: string): boolean {
  return SECRET_TEXT.test(text);
}

type ExpiringTable = "oauth_flows" | "oauth_exchanges" | "oauth_link_codes";

/** Milliseconds for which a row outlives its use, so that a late request is reported as late. */
const KEPT_AFTER_MS = 3_600_000;

/** Rows deleted with each insert: more than one, so that a backlog shrinks. */
const PURGED_AT_ONCE = 20;

/** Deletes expired rows with every insert, so that no table grows without bound and no timer is needed. */
export function purgeExpired(db: D1Database, table: ExpiringTable, now: number): D1PreparedStatement {
  const key = table === "oauth_flows" ? "state_hash" : "code_hash";
  return db
    .prepare(
      `DELETE FROM ${table} WHERE ${key} IN
         (SELECT ${key} FROM ${table} WHERE expires_at < ? ORDER BY expires_at LIMIT ${PURGED_AT_ONCE})`,
    )
    .bind(now - KEPT_AFTER_MS);
}

/** Milliseconds from the start of a flow to the last moment of its callback. */
export const FLOW_TTL_MS = 600_000;

/** The result of the callback: tokens in the redirect, a code to exchange for them, or a link for a signed-in user. */
export type FlowMode =
  | { mode: "tokens" }
  | { mode: "code"; codeChallenge: string }
  | { mode: "link"; userId: string; sessionId: string /** See `LinkAuthority`. */; checkedEpoch: number };

export interface FlowRecord {
  provider: ProviderName;
  purpose: FlowMode;
  verifier: string;
  nonce: string;
  /** Hash of the value of the browser's cookie. */
  browserHash: string;
}

/** Stores a flow under the hash of its state. */
export async function beginFlow(db: D1Database, state: string, flow: FlowRecord, now: number): Promise<void> {
  const { provider, purpose, browserHash, verifier, nonce } = flow;
  await db.batch([
    purgeExpired(db, "oauth_flows", now),
    db
      .prepare(
        `INSERT INTO oauth_flows
           (state_hash, provider, mode, browser_hash, verifier, nonce, code_challenge, user_id, session_id,
            checked_epoch, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(
        hashOf(state),
        provider,
        purpose.mode,
        browserHash,
        verifier,
        nonce,
        purpose.mode === "code" ? purpose.codeChallenge : null,
        purpose.mode === "link" ? purpose.userId : null,
        purpose.mode === "link" ? purpose.sessionId : null,
        purpose.mode === "link" ? purpose.checkedEpoch : null,
        now + FLOW_TTL_MS,
      ),
  ]);
}

/** Returns a flow once, to the first caller; `null` if the state is unknown, used or expired. */
export async function takeFlow(db: D1Database, state: string, now: number): Promise<FlowRecord | null> {
  if (!isSecretShaped(state)) return null;
  const row = await db
    .prepare("DELETE FROM oauth_flows WHERE state_hash = ? RETURNING *")
    .bind(hashOf(state))
    .first<FlowRow>();
  if (!row || row.expires_at <= now) return null;
  const purpose = purposeOf(row);
  const { provider, verifier, nonce, browser_hash: browserHash } = row;
  return purpose && { provider, verifier, nonce, browserHash, purpose };
}

type FlowRow = { provider: ProviderName; browser_hash: string; verifier: string; nonce: string; expires_at: number } & (
  | { mode: "tokens" }
  | { mode: "code"; code_challenge: string }
  | { mode: "link"; user_id: string; session_id: string; checked_epoch: number | null }
);

/** `null` for a link that an older version began without the required reauthentication. */
function purposeOf(row: FlowRow): FlowMode | null {
  switch (row.mode) {
    case "tokens":
      return { mode: "tokens" };
    case "code":
      return { mode: "code", codeChallenge: row.code_challenge };
    case "link":
      return row.checked_epoch === null
        ? null
        : { mode: "link", userId: row.user_id, sessionId: row.session_id, checkedEpoch: row.checked_epoch };
  }
}

/** Lifetime of a code, in milliseconds. */
export const CODE_TTL_MS = 60_000;

export type Taken<T> = { ok: true; value: T } | { ok: false; reason: "unknown" | "expired" };

/** A sign-in that is complete except for its session, which begins with the exchange. */
export interface PendingSignIn {
  userId: string;
  epoch: number;
  provider: ProviderName;
  isNewUser: boolean;
  codeChallenge: string;
}

export async function issueExchangeCode(
  db: D1Database,
  code: string,
  signIn: PendingSignIn,
  now: number,
): Promise<void> {
  const { userId, epoch, provider, isNewUser, codeChallenge } = signIn;
  await db.batch([
    purgeExpired(db, "oauth_exchanges", now),
    db
      .prepare(
        `INSERT INTO oauth_exchanges (code_hash, user_id, epoch, provider, is_new_user, code_challenge, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(hashOf(code), userId, epoch, provider, isNewUser ? 1 : 0, codeChallenge, now + CODE_TTL_MS),
  ]);
}

/** Returns the sign-in of a code once, to the first caller, who must still check the verifier. */
export async function takeExchangeCode(db: D1Database, code: string, now: number): Promise<Taken<PendingSignIn>> {
  const row = isSecretShaped(code)
    ? await db
        .prepare("DELETE FROM oauth_exchanges WHERE code_hash = ? RETURNING *")
        .bind(hashOf(code))
        .first<ExchangeRow>()
    : null;
  if (!row) return { ok: false, reason: "unknown" };
  if (row.expires_at <= now) return { ok: false, reason: "expired" };
  const { user_id: userId, epoch, provider, is_new_user, code_challenge: codeChallenge } = row;
  return { ok: true, value: { userId, epoch, provider, isNewUser: is_new_user === 1, codeChallenge } };
}

/** A link that is complete except for the confirmation by the account's owner. */
export interface PendingLink {
  identity: Identity;
  /** See `LinkAuthority`. */
  checkedEpoch: number;
}

export async function issueLinkCode(
  db: D1Database,
  code: string,
  userId: string,
  { identity, checkedEpoch }: PendingLink,
  now: number,
): Promise<void> {
  await db.batch([
    purgeExpired(db, "oauth_link_codes", now),
    db
      .prepare(
        `INSERT INTO oauth_link_codes (code_hash, user_id, provider, subject, checked_epoch, expires_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .bind(hashOf(code), userId, identity.provider, identity.subject, checkedEpoch, now + CODE_TTL_MS),
  ]);
}

/** Returns the link once, and only to its user. For another user the code is unknown, and stays valid for its own. */
export async function takeLinkCode(
  db: D1Database,
  code: string,
  userId: string,
  now: number,
): Promise<Taken<PendingLink>> {
  const row = isSecretShaped(code)
    ? await db
        .prepare("DELETE FROM oauth_link_codes WHERE code_hash = ? AND user_id = ? RETURNING *")
        .bind(hashOf(code), userId)
        .first<LinkRow>()
    : null;
  // No epoch: an older version began the link without the required reauthentication.
  if (!row || row.checked_epoch === null) return { ok: false, reason: "unknown" };
  if (row.expires_at <= now) return { ok: false, reason: "expired" };
  const { provider, subject, checked_epoch: checkedEpoch } = row;
  return { ok: true, value: { identity: { provider, subject }, checkedEpoch } };
}

type ExchangeRow = {
  user_id: string;
  epoch: number;
  provider: ProviderName;
  is_new_user: number;
  code_challenge: string;
  expires_at: number;
};

type LinkRow = { provider: ProviderName; subject: string; checked_epoch: number | null; expires_at: number };
