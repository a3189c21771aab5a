/** The signed-in account as the console remembers it, so that a reload asks nobody who is signed in. */
export interface StoredUser {
  id: string;
  email: string;
  name?: string;
}

/**
 * What all tabs share, in local storage. The access token is not in it: every tab has its own in session storage.
 * `retryKey` is written before a rotation is asked for: a tab that dies on the way leaves the key with which the next one
 * gets the very same successor.
 */
export interface StoredSession {
  refreshToken: string;
  user: StoredUser;
  retryKey: string | null;
}

/** An access token and the local time, in milliseconds, from which it is not used any more. */
export interface AccessToken {
  token: string;
  until: number;
}

const SESSION_KEY = "taffrail.session";
const ACCESS_KEY = "taffrail.access";

/** Null where nobody is signed in, and where storage holds something that is no session. */
export function readSession(): StoredSession | null {
  const value = parsed(localStorage.getItem(SESSION_KEY));
  if (!isRecord(value) || typeof value.refreshToken !== "string" || !isRecord(value.user)) return null;
  const { id, email, name } = value.user;
  if (typeof id !== "string" || typeof email !== "string") return null;
  const user: StoredUser = { id, email, ...(typeof name === "string" ? { name } : {}) };
  return {
    refreshToken: value.refreshToken,
    user,
    retryKey: typeof value.retryKey === "string" ? value.retryKey : null,
  };
}

export function writeSession(session: StoredSession | null): void {
  if (session === null) localStorage.removeItem(SESSION_KEY);
  else localStorage.setItem(SESSION_KEY, JSON.stringify(session));
}

/** The tab's access token while it can still be used; null otherwise. */
export function readAccess(now: number): AccessToken | null {
  const value = parsed(sessionStorage.getItem(ACCESS_KEY));
  if (!isRecord(value) || typeof value.token !== "string" || typeof value.until !== "number") return null;
  return value.until > now ? { token: value.token, until: value.until } : null;
}

export function writeAccess(access: AccessToken | null): void {
  if (access === null) sessionStorage.removeItem(ACCESS_KEY);
  else sessionStorage.setItem(ACCESS_KEY, JSON.stringify(access));
}

/** Calls back when another tab signs in, out, or rotates. Returns how to stop. */
export function onSessionChange(changed: () => void): () => void {
  const listener = (event: StorageEvent): void => {
    if (event.key === SESSION_KEY || event.key === null) changed();
  };
  addEventListener("storage", listener);
  return () => removeEventListener("storage", listener);
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
