import { computed, signal } from "@preact/signals";
import { ApiFailure } from "../api/failure.ts";
import { type Answer, type RequestOptions, request } from "../api/request.ts";
import { keepDeviceToken } from "./devices.ts";
import { guests } from "./guest.ts";
import { endAtService } from "./pending-sign-out.ts";
import { rotated } from "./rotate.ts";
import {
  type AccessToken,
  onSessionChange,
  readAccess,
  readEnd,
  readSession,
  removeSession,
  type StoredSession,
  type StoredUser,
  writeAccess,
  writeSession,
} from "./storage.ts";
import { TokenSharing } from "./token-sharing.ts";

/** Web Lock held while the session begins or rotates: only one tab does so at a time. */
const LOCK = "taffrail.refresh";

/** Error codes that end a session, with the text for its user. */
const END_REASONS: Readonly<Record<string, string>> = {
  SESSION_REVOKED: "Your session ended. Sign in again.",
  INVALID_REFRESH_TOKEN: "Your session ended. Sign in again.",
  REFRESH_TOKEN_EXPIRED: "Your session expired. Sign in again.",
  REFRESH_TOKEN_REUSED:
    "Your session was ended for security: its refresh token was used twice. If you did not expect this, set a new password.",
};
/** Error codes of an access token that a rotation solves: the token expired, or the service changed its secret. */
const RENEWABLE = new Set(["ACCESS_TOKEN_EXPIRED", "INVALID_ACCESS_TOKEN"]);

/** Response of every sign-in method. */
export interface SignedIn {
  user: StoredUser;
  accessToken: string;
  refreshToken: string;
  /** Marks this browser for the account's next login; absent for tokens from an address. */
  deviceToken?: string;
}

const stored = signal(readSession());
/** Why the session ended without a sign-out; shown on the sign-in page. */
export const endedBecause = signal(readEnd());
/** The signed-in account, or `null`. Follows the other tabs. */
export const user = computed(() => stored.value?.user ?? null);

const tabs = new TokenSharing();
tabs.offer(ownAccess());

onSessionChange(() => {
  const after = readSession();
  if (after?.id !== stored.peek()?.id) {
    // This tab's access token belongs to the previous session.
    setAccess(null);
    endedBecause.value = readEnd();
  }
  publish(after);
});

/** Starts a session in all tabs and ends the previous one. */
export async function signIn({ user, accessToken, refreshToken, deviceToken }: SignedIn): Promise<void> {
  if (deviceToken !== undefined) await keepDeviceToken(user.email, deviceToken);
  const before = await navigator.locks.request(LOCK, () => {
    const replaced = readSession();
    const id = crypto.randomUUID();
    try {
      saveSession({ id, refreshToken, user, retryKey: null });
    } catch (error) {
      // No page could end it later.
      void endAtService(refreshToken);
      throw error;
    }
    setAccess({ token: accessToken, until: usableUntil(), session: id });
    endedBecause.value = null;
    return replaced;
  });
  if (before !== null) await endAtService(before.refreshToken);
}

/**
 * Removes the session in all tabs and ends it at the service, now or later.
 * @param because why the user must sign in again, for the sign-in page; `null` if the user signed out
 */
export async function signOut(because: string | null = null): Promise<void> {
  const session = readSession();
  forget(because);
  if (session !== null) await endAtService(session.refreshToken);
}

/** Removes a session that the service has already ended. */
export function forget(because: string | null): void {
  setAccess(null);
  removeSession(because);
  stored.value = null;
  endedBecause.value = because;
}

/** Replaces the stored account by its present profile, unless another account has signed in. */
export function updateUser(user: StoredUser): Promise<void> {
  // Under the lock: between another tab's read and write, this write would restore the old token.
  return navigator.locks.request(LOCK, () => {
    const session = readSession();
    if (session?.user.id === user.id) saveSession({ ...session, user });
  });
}

/**
 * Calls the API with the account's access token, rotated first if expired; without it in a workspace that is open to guests.
 * @throws ApiFailure; if the failure ends the session, the user is signed out
 */
export async function authorized<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const guest = guests.get(options.workspaceId ?? "");
  if (guest !== undefined) return guest<T>(path, options);
  let access = await usableAccess(null);
  for (let isSecond = false; ; isSecond = true) {
    try {
      return await request<T>(path, { ...options, token: access.token });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (isSecond || !RENEWABLE.has(error.code)) throw forgetIfEnded(error, access.session);
    }
    access = await usableAccess(access.token);
  }
}

/** Returns an access token for a request that `authorized` cannot make, such as a download. @throws ApiFailure */
export async function accessToken(): Promise<string> {
  return (await usableAccess(null)).token;
}

/**
 * Returns an access token: this tab's, another tab's or a new one. One caller at a time over all tabs.
 * @param refused a token that the service no longer accepts
 */
async function usableAccess(refused: string | null): Promise<AccessToken> {
  const own = ownAccess();
  if (own && own.token !== refused) return own;
  return navigator.locks.request(LOCK, async () => {
    // Another call of this tab may have been first.
    const fresh = ownAccess();
    if (fresh && fresh.token !== refused) return fresh;
    setAccess(null);
    const session = readSession();
    if (session === null) throw notSignedIn();
    const access = (await tabs.ask(session.id, refused)) ?? (await rotate(session));
    // The user signed out in the meantime: the token is not used.
    if (readSession()?.id !== session.id) throw notSignedIn();
    setAccess(access);
    return access;
  });
}

/** Rotates the stored refresh token. Callers hold the lock. */
async function rotate(session: StoredSession): Promise<AccessToken> {
  const retryKey = session.retryKey ?? crypto.randomUUID();
  saveSession({ ...session, retryKey });
  const until = usableUntil();
  try {
    const { accessToken, refreshToken } = await rotated(session.refreshToken, retryKey);
    const now = readSession();
    if (now?.id === session.id) saveSession({ ...now, refreshToken, retryKey: null });
    return { token: accessToken, until, session: session.id };
  } catch (error) {
    throw error instanceof ApiFailure ? forgetIfEnded(error, session.id) : error;
  }
}

/** Returns the failure. Removes the session if the failure ends it and the session is still the stored one. */
function forgetIfEnded(failure: ApiFailure, session: string): ApiFailure {
  const because = failure.status === 401 ? END_REASONS[failure.code] : undefined;
  if (because !== undefined && readSession()?.id === session) forget(because);
  return failure;
}

function ownAccess(): AccessToken | null {
  const session = stored.peek();
  return session && readAccess(session.id, Date.now());
}

function setAccess(access: AccessToken | null): void {
  writeAccess(access);
  tabs.offer(access);
}

function saveSession(session: StoredSession): void {
  writeSession(session);
  publish(session);
}

/**
 * Updates the signal. Keeps the user object if unchanged, because the session's token changes often and must not notify
 * readers of the user.
 */
function publish(session: StoredSession | null): void {
  const before = stored.peek()?.user;
  const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(session?.user);
  stored.value = session && isSame ? { ...session, user: before } : session;
}

/** Lifetime of an access token in seconds, fixed by the API. */
const ACCESS_SECONDS = 900;
/** Seconds before expiry from which an access token is not used, to allow for the request's duration. */
const MARGIN_SECONDS = 20;

function usableUntil(): number {
  return Date.now() + (ACCESS_SECONDS - MARGIN_SECONDS) * 1000;
}

function notSignedIn(): ApiFailure {
  return new ApiFailure("You are signed out. Sign in again.", { code: "UNAUTHORIZED", status: 401 });
}
