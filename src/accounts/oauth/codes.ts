import { purgeExpired } from "./expiry.ts";
import type { Identity, ProviderName } from "./provider.ts";
import { hashOf, isSecretShaped } from "./secret-text.ts";

/** Milliseconds that a code can be used. */
export const CODE_TTL_MS = 60_000;

export type Taken<T> = { ok: true; value: T } | { ok: false; reason: "unknown" | "expired" };

/** A sign-in that is done but for its session, which begins with the exchange. */
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

/** Gives what a code stands for once, to the first who asks; the caller still has to check the verifier. */
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

/** A link that is done but for the word of the account's owner. */
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

/** Gives the link once, and to its user alone: in other hands the code is unknown, and stays good for the user. */
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
  // Without an epoch: of a link that an older version began, without the reauthentication that it takes.
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
