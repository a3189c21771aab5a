import type { Account } from "./account.ts";
import { signedInAt } from "./families.ts";

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
