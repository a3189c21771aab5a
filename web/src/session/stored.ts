/** The signed-in account as the console remembers it, so that a reload asks nobody who is signed in. */
export interface StoredUser {
  id: string;
  email: string;
  name?: string;
  /** Whether the address is confirmed, as far as this browser knows; a confirmed one stays so. */
  emailVerified?: boolean;
}

/**
 * What all tabs share, in local storage. The access token is not in it: every tab has its own in session storage.
 * `id` is this browser's own name for the session: what a tab learns about an older session must not touch this one.
 * `retryKey` is written before a rotation is asked for: a tab that dies on the way leaves the key with which the next one
 * gets the very same successor.
 */
export interface StoredSession {
  id: string;
  refreshToken: string;
  user: StoredUser;
  retryKey: string | null;
}

/** An access token, the session it is of, and the local time in milliseconds from which it is not used any more. */
export interface AccessToken {
  token: string;
  until: number;
  session: string;
}

const SESSION_KEY = "taffrail.session";
const ACCESS_KEY = "taffrail.access";

/** Null where nobody is signed in, and where storage holds something that is no session. */
export function readSession(): StoredSession | null {
  const value = parsed(localStorage.getItem(SESSION_KEY));
  if (!isRecord(value) || typeof value.id !== "string" || typeof value.refreshToken !== "string") return null;
  const user = userOf(value.user);
  if (user === null) return null;
  const retryKey = typeof value.retryKey === "string" ? value.retryKey : null;
  return { id: value.id, refreshToken: value.refreshToken, user, retryKey };
}

export function writeSession(session: StoredSession): void {
  localStorage.setItem(SESSION_KEY, JSON.stringify(session));
}

/** `because`: why it ended without anybody here asking for it, left in its place for all tabs to read. */
export function removeSession(because: string | null): void {
  if (because === null) localStorage.removeItem(SESSION_KEY);
  else localStorage.setItem(SESSION_KEY, JSON.stringify({ ended: because }));
}

/** Why the last session ended; null where it was signed out of, or there was none. */
export function readEnd(): string | null {
  const value = parsed(localStorage.getItem(SESSION_KEY));
  return isRecord(value) && typeof value.ended === "string" ? value.ended : null;
}

/** The tab's access token of this session while it can still be used; null otherwise. */
export function readAccess(session: string, now: number): AccessToken | null {
  const value = parsed(sessionStorage.getItem(ACCESS_KEY));
  if (!isRecord(value) || typeof value.token !== "string" || typeof value.until !== "number") return null;
  return value.session === session && value.until > now ? { token: value.token, until: value.until, session } : null;
}

export function writeAccess(access: AccessToken | null): void {
  if (access === null) sessionStorage.removeItem(ACCESS_KEY);
  else sessionStorage.setItem(ACCESS_KEY, JSON.stringify(access));
}

/** Calls back when another tab has signed in, out, or rotated, or may have while this page was put aside. */
export function onSessionChange(changed: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === SESSION_KEY || key === null) changed();
  });
  // A page that comes back from the browser's history as it was has heard nothing meanwhile.
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
