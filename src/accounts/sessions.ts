import type { LimitState } from "../limits/state.ts";
import { type Account, confirmAccount, readAccount } from "./account.ts";
import type { ActivityNote } from "./activity.ts";
import {
  isValidSession,
  methodOfAlive,
  type NewFamily,
  type SignInMethod,
  signedInAt,
  startFamily,
  truncateUserAgent,
} from "./families.ts";
import { mintRefreshToken } from "./refresh.ts";

/**
 * Milliseconds for which a sign-in is fresh. An access token may be stolen for its 15 minutes. So a change of how an
 * account is signed in to, or its deletion, requires a fresh session or the password (OWASP ASVS 5.0, 7.5.1).
 */
export const FRESH_SIGN_IN_MS = 10 * 60_000;

/** The proof in a request that authorizes such a change. */
export interface Reauthentication {
  sessionId: string;
  /** The account's epoch when the password in the request was verified; `null` if no password was sent. */
  checkedEpoch: number | null;
}

/** Whether the request presents enough. Its session must be valid. */
export function isReauthenticated(
  sql: SqlStorage,
  account: Account,
  { sessionId, checkedEpoch }: Reauthentication,
  now: number,
): boolean {
  return checkedEpoch === account.epoch || isFresh(sql, sessionId, now);
}

/** Whether a valid session was signed in to within the last 10 minutes. A refresh does not make it fresh. */
export function isFresh(sql: SqlStorage, sessionId: string, now: number): boolean {
  return now - signedInAt(sql, sessionId) <= FRESH_SIGN_IN_MS;
}

/** The data that a sign-in needs to verify a password, and to notice a change in the meantime. */
export interface Credentials {
  passwordHash: string | null;
  epoch: number;
}

/** The account as its owner sees it. */
export interface Profile {
  id: string;
  email: string;
  name: string | null;
  emailVerified: boolean;
}

/** A session that has just been opened. */
export interface Session {
  refreshToken: string;
  profile: Profile;
  /** The account's epoch; absent if the object is of an older version. */
  epoch?: number;
}

/** `stale`: the epoch has risen since the credentials were read, so their check is void. */
export type SessionResult = ({ ok: true } & Session) | { ok: false; reason: "stale" };

export interface Authentication {
  alive: boolean;
  /** The user's counter; `null` if nothing was to be counted or the session has ended. */
  limit: LimitState | null;
  /** The sign-in method of the session; `null` if it has ended. */
  method?: SignInMethod | null;
}

export function readCredentials(sql: SqlStorage): Credentials | null {
  const account = readAccount(sql);
  return account && { passwordHash: account.passwordHash, epoch: account.epoch };
}

/**
 * Opens a session and confirms the account, because the caller found it in the directory. `familyKey` is 32 random
 * bytes. A repeated call keeps the first key, so it returns the same token.
 */
export function openSession(
  sql: SqlStorage,
  family: NewFamily,
  familyKey: Uint8Array,
  pepper: string,
  note: ActivityNote,
  now: number,
): SessionResult {
  const account = readAccount(sql);
  if (!account || account.epoch !== family.epoch) return { ok: false, reason: "stale" };
  confirmAccount(sql);
  const { key, familyId, counter, isNew } = startFamily(sql, family, familyKey, now);
  if (isNew) {
    const { method } = family;
    note({
      action: "session.start",
      session: familyId,
      userAgent: truncateUserAgent(family.userAgent),
      details: { method },
    });
  }
  const refreshToken = mintRefreshToken({ userId: account.id, familyId, counter }, key, pepper);
  return { ok: true, refreshToken, profile: profileOf(account), epoch: account.epoch };
}

/** Returns whether the session is valid and, if so, the result of `count`, which counts one request of its user. */
export function authenticate(
  sql: SqlStorage,
  sessionId: string,
  now: number,
  count: ((userId: string) => LimitState) | null,
): Authentication {
  const account = readAccount(sql);
  const method = account && methodOfAlive(sql, sessionId, account.epoch, now);
  if (!account || method === null) return { alive: false, limit: null, method: null };
  return { alive: true, limit: count ? count(account.id) : null, method };
}

/** Returns the profile of a session's owner; `null` if the session has ended. */
export function profileOfSession(sql: SqlStorage, sessionId: string, now: number): Profile | null {
  const account = readAccount(sql);
  return account && isValidSession(sql, sessionId, account.epoch, now) ? profileOf(account) : null;
}

export function profileOf({ id, email, name, emailVerified }: Account): Profile {
  return { id, email, name, emailVerified };
}
