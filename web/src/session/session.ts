import { computed, signal } from "@preact/signals";
import { ApiFailure } from "../api/failure.ts";
import { type Answer, type RequestOptions, request } from "../api/request.ts";
import {
  type AccessToken,
  onSessionChange,
  readAccess,
  readSession,
  type StoredUser,
  writeAccess,
  writeSession,
} from "./stored.ts";
import { Tabs } from "./tabs.ts";

/** Lifetime of an access token in seconds, as the API fixes it. */
const ACCESS_SECONDS = 900;
/** Seconds before its end at which an access token is taken as used up: a request needs time to get there. */
const MARGIN_SECONDS = 20;
/** Times a rotation whose answer was lost is asked for again, with the same key; the API honours it for 30 s. */
const ROTATION_TRIES = 3;
const ROTATION_PAUSE_MS = 1000;

/** Refusals after which a session is over for good. */
const OVER = new Set(["SESSION_REVOKED", "INVALID_REFRESH_TOKEN", "REFRESH_TOKEN_EXPIRED", "REFRESH_TOKEN_REUSED"]);
/** Refusals of an access token that a new one helps against: it ran out, or the service changed its secret. */
const RENEWABLE = new Set(["ACCESS_TOKEN_EXPIRED", "INVALID_ACCESS_TOKEN"]);

/** What every way of signing in answers. */
export interface SignedIn {
  user: StoredUser;
  accessToken: string;
  refreshToken: string;
}

const stored = signal(readSession());
/** Why the session ended without anybody asking for it: shown on the sign-in page. */
export const endedBecause = signal<string | null>(null);
/** The signed-in account; null where nobody is. Follows the other tabs. */
export const user = computed(() => stored.value?.user ?? null);

const tabs = new Tabs((userId) => (stored.peek()?.user.id === userId ? readAccess(Date.now()) : null));

onSessionChange(() => {
  const before = stored.peek();
  const after = readSession();
  // Another account in another tab: this tab's token is of the one before.
  if (before?.user.id !== after?.user.id) writeAccess(null);
  stored.value = after;
});

/** Begins a session in all tabs. */
export function signIn({ user, accessToken, refreshToken }: SignedIn): void {
  writeAccess({ token: accessToken, until: usableUntil() });
  keep({ refreshToken, user, retryKey: null });
  endedBecause.value = null;
}

/** Forgets the session in all tabs, and ends it at the service as well as it can. */
export async function signOut(): Promise<void> {
  const session = readSession();
  forget(null);
  if (session === null) return;
  // Whether the service hears of it or not: this browser has forgotten the tokens.
  await request("/auth/logout", { body: { refreshToken: session.refreshToken } }).catch(() => undefined);
}

/** Keeps what changed about the account, its name for one. */
export function updateUser(user: StoredUser): void {
  const session = readSession();
  if (session) keep({ ...session, user });
}

/**
 * A call with the account's access token, rotated first where it has run out.
 * @throws ApiFailure; after one that ends the session nobody is signed in any more
 */
export async function authorized<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  const token = await accessToken();
  try {
    return await request<T>(path, { ...options, token });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (RENEWABLE.has(error.code)) {
      writeAccess(null);
      return request<T>(path, { ...options, token: await accessToken() });
    }
    if (error.status === 401 && OVER.has(error.code)) forget(error.message);
    throw error;
  }
}

/** The access token: this tab's, another tab's, or a new one. One caller at a time, over all tabs. */
export async function accessToken(): Promise<string> {
  const own = readAccess(Date.now());
  if (own) return own.token;
  return navigator.locks.request("taffrail.refresh", async () => {
    // Somebody else in this tab may have been first.
    const fresh = readAccess(Date.now());
    if (fresh) return fresh.token;
    const session = readSession();
    if (session === null) throw notSignedIn();
    const access = (await tabs.ask(session.user.id)) ?? (await rotate());
    writeAccess(access);
    return access.token;
  });
}

/** Rotates the refresh token in storage. Only ever called under the lock. */
async function rotate(): Promise<AccessToken> {
  const session = readSession();
  if (session === null) throw notSignedIn();
  const retryKey = session.retryKey ?? crypto.randomUUID();
  keep({ ...session, retryKey });
  for (let attempt = 1; ; attempt++) {
    try {
      const until = usableUntil();
      const { data } = await request<{ accessToken: string; refreshToken: string }>("/auth/refresh", {
        body: { refreshToken: session.refreshToken },
        idempotencyKey: retryKey,
      });
      // Signed out meanwhile: the new token must not bring the session back.
      if (readSession()?.refreshToken !== session.refreshToken) throw notSignedIn();
      keep({ ...session, refreshToken: data.refreshToken, retryKey: null });
      return { token: data.accessToken, until };
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.status === 401) {
        if (OVER.has(error.code)) forget(error.message);
        throw error;
      }
      // No answer, or none that says whether it rotated: again with the same key.
      const isLost = error.status === 0 || error.status >= 500;
      if (!isLost || attempt === ROTATION_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, ROTATION_PAUSE_MS));
    }
  }
}

function keep(session: NonNullable<typeof stored.value>): void {
  writeSession(session);
  stored.value = session;
}

function forget(reason: string | null): void {
  writeAccess(null);
  writeSession(null);
  stored.value = null;
  endedBecause.value = reason;
}

function usableUntil(): number {
  return Date.now() + (ACCESS_SECONDS - MARGIN_SECONDS) * 1000;
}

function notSignedIn(): ApiFailure {
  return new ApiFailure("You are signed out. Sign in again.", { code: "UNAUTHORIZED", status: 401 });
}
