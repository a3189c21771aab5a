import type { LimitState } from "../limits/state.ts";
import { type Account, confirmAccount, readAccount } from "./account.ts";
import type { ActivityNote } from "./activity.ts";
import {
  isAlive,
  methodOfAlive,
  type NewFamily,
  type SignInMethod,
  signedInAt,
  startFamily,
  truncateUserAgent,
} from "./families.ts";
import { mintRefreshToken } from "./refresh.ts";

/**
 * An access token may be stolen for its 15 minutes. So what changes how an account is signed in to, or ends it, takes
 * more than a living session (OWASP ASVS 5.0, 7.5.1): a sign-in at most this many milliseconds ago, or the password.
 */
export const FRESH_SIGN_IN_MS = 10 * 60_000;

/** What a request shows for such a change. */
export interface Reauthentication {
  sessionId: string;
  /** The account's epoch when the password in the request was checked and found right; null where none was sent. */
  checkedEpoch: number | null;
}

/** Whether the request shows enough. Its session must be alive. */
export function isReauthenticated(
  sql: SqlStorage,
  account: Account,
  { sessionId, checkedEpoch }: Reauthentication,
  now: number,
): boolean {
  return checkedEpoch === account.epoch || isFresh(sql, sessionId, now);
}

/** Whether a living session was signed in to within the last 10 minutes. Refreshing does not make it younger. */
export function isFresh(sql: SqlStorage, sessionId: string, now: number): boolean {
  return now - signedInAt(sql, sessionId) <= FRESH_SIGN_IN_MS;
}

/** What a sign-in needs to check a password with, and to notice that it changed meanwhile. */
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
  /** The account's; an object of an older version leaves it out. */
  epoch?: number;
}

/** `stale`: the epoch moved since the credentials were read, so what was verified with them counts no more. */
export type SessionResult = ({ ok: true } & Session) | { ok: false; reason: "stale" };

export interface Authentication {
  alive: boolean;
  /** The user's own counter; null when nothing was to be counted or the session is dead. */
  limit: LimitState | null;
  /** How the session was signed in; null where it is dead. */
  method?: SignInMethod | null;
}

export function readCredentials(sql: SqlStorage): Credentials | null {
  const account = readAccount(sql);
  return account && { passwordHash: account.passwordHash, epoch: account.epoch };
}

/**
 * Opens a session. Whoever gets here came through the directory, so the account is listed: that confirms it.
 * `familyKey` is 32 random bytes; a repeated call keeps the first one's, so it gives the same token.
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

/** Whether the session lives and, if it does, what `count` says of one more request of its user. */
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

/** The profile of a session's owner; null where the session is dead. */
export function profileOfSession(sql: SqlStorage, sessionId: string, now: number): Profile | null {
  const account = readAccount(sql);
  return account && isAlive(sql, sessionId, account.epoch, now) ? profileOf(account) : null;
}

function profileOf({ id, email, name, emailVerified }: Account): Profile {
  return { id, email, name, emailVerified };
}
