import { ApiFailure } from "../api/failure.ts";

/** The signed-in account as stored in this browser, so that a reload needs no request. */
export interface StoredUser {
  id: string;
  email: string;
  name?: string;
  /** Whether the address is confirmed, as far as this browser has stored; a confirmed one stays confirmed. */
  emailVerified?: boolean;
}

/**
 * The session in local storage, shared by all tabs. Does not contain the access token, which each tab has in session
 * storage.
 * `id` is this browser's own id of the session, so that a result for an older session does not affect this one.
 * `retryKey` is stored before a rotation is requested. If the tab closes before the response, the next rotation with
 * the key gets the same successor.
 */
export interface StoredSession {
  id: string;
  refreshToken: string;
  user: StoredUser;
  retryKey: string | null;
}

/** An access token, its session, and the local epoch milliseconds from which the token is no longer used. */
export interface AccessToken {
  token: string;
  until: number;
  session: string;
}

const SESSION_KEY = "taffrail.session";
const ACCESS_KEY = "taffrail.access";
/** More than a retry key is longer than `null`. */
const ROOM = " ".repeat(40);

/** Reads the session; `null` if signed out or if storage contains anything else. */
export function readSession(): StoredSession | null {
  const value = parsed(localStorage.getItem(SESSION_KEY));
  if (!isRecord(value) || typeof value.id !== "string" || typeof value.refreshToken !== "string") return null;
  const user = userOf(value.user);
  if (user === null) return null;
  const retryKey = typeof value.retryKey === "string" ? value.retryKey : null;
  return { id: value.id, refreshToken: value.refreshToken, user, retryKey };
}

/**
 * Stores the session. One without a retry key takes the room of a key, so that a storage that has become full does not
 * stop a rotation.
 * @throws ApiFailure if the storage is full
 */
export function writeSession(session: StoredSession): void {
  const room = session.retryKey === null ? ROOM : "";
  try {
    localStorage.setItem(SESSION_KEY, JSON.stringify({ ...session, room }));
  } catch {
    throw new ApiFailure(
      "This browser's storage for this site is full, so the session cannot be stored. Delete the site's data in the settings of the browser, then sign in again.",
      { code: "STORAGE_FULL", status: 0 },
    );
  }
}

/** Removes the session. `because`, if set, is why it ended without a sign-out; all tabs can read it. */
export function removeSession(because: string | null): void {
  if (because === null) localStorage.removeItem(SESSION_KEY);
  else localStorage.setItem(SESSION_KEY, JSON.stringify({ ended: because }));
}

/** Why the last session ended; `null` after a sign-out, or without a session. */
export function readEnd(): string | null {
  const value = parsed(localStorage.getItem(SESSION_KEY));
  return isRecord(value) && typeof value.ended === "string" ? value.ended : null;
}

/** The tab's access token of this session while it is usable, or `null`. */
export function readAccess(session: string, now: number): AccessToken | null {
  const value = parsed(sessionStorage.getItem(ACCESS_KEY));
  if (!isRecord(value) || typeof value.token !== "string" || typeof value.until !== "number") return null;
  return value.session === session && value.until > now ? { token: value.token, until: value.until, session } : null;
}

export function writeAccess(access: AccessToken | null): void {
  if (access === null) sessionStorage.removeItem(ACCESS_KEY);
  else sessionStorage.setItem(ACCESS_KEY, JSON.stringify(access));
}

/**
 * Calls `changed` when another tab signs in, signs out or rotates, and when the browser restores this page from its
 * history.
 */
export function onSessionChange(changed: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === SESSION_KEY || key === null) changed();
  });
  // A page restored from the browser's history has received no events in the meantime.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) changed();
  });
}

function userOf(value: unknown): StoredUser | null {
  if (!isRecord(value)) return null;
  const { id, email, name, emailVerified } = value;
  if (typeof id !== "string" || typeof email !== "string") return null;
  return {
    id,
    email,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof emailVerified === "boolean" ? { emailVerified } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
