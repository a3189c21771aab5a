import { computed, signal } from "@preact/signals";
import { ApiFailure } from "../api/failure.ts";
import { type Answer, type RequestOptions, request } from "../api/request.ts";
import { keepDeviceToken } from "./devices.ts";
import { endAtService } from "./ending.ts";
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
} from "./stored.ts";
import { Tabs } from "./tabs.ts";

/** Held while the session is begun or rotated: over all tabs one does so at a time. */
const LOCK = "taffrail.refresh";

/** Refusals after which a session is over for good, in words for whoever had it. */
const OVER: Readonly<Record<string, string>> = {
  SESSION_REVOKED: "Your session was ended. Sign in again.",
  INVALID_REFRESH_TOKEN: "Your session was ended. Sign in again.",
  REFRESH_TOKEN_EXPIRED: "Your session ran out. Sign in again.",
  REFRESH_TOKEN_REUSED:
    "Your session was ended for safety: what it is renewed with was used twice. If that seems odd to you, set a new password.",
};
/** Refusals of an access token that a new one helps against: it ran out, or the service changed its secret. */
const RENEWABLE = new Set(["ACCESS_TOKEN_EXPIRED", "INVALID_ACCESS_TOKEN"]);

/** What every way of signing in answers. */
export interface SignedIn {
  user: StoredUser;
  accessToken: string;
  refreshToken: string;
  /** Marks this browser for the account's next login; tokens that came in an address have none. */
  deviceToken?: string;
}

const stored = signal(readSession());
/** Why the session ended without anybody asking for it: shown on the sign-in page. */
export const endedBecause = signal(readEnd());
/** The signed-in account; null where nobody is. Follows the other tabs. */
export const user = computed(() => stored.value?.user ?? null);

const tabs = new Tabs();
tabs.offer(ownAccess());

onSessionChange(() => {
  const after = readSession();
  if (after?.id !== stored.peek()?.id) {
    // What this tab has is of the session before.
    hold(null);
    endedBecause.value = readEnd();
  }
  show(after);
});

/** Begins a session in all tabs; one that was there before ends. */
export async function signIn({ user, accessToken, refreshToken, deviceToken }: SignedIn): Promise<void> {
  if (deviceToken !== undefined) await keepDeviceToken(user.email, deviceToken);
  const before = await navigator.locks.request(LOCK, () => {
    const replaced = readSession();
    const id = crypto.randomUUID();
    keep({ id, refreshToken, user, retryKey: null });
    hold({ token: accessToken, until: usableUntil(), session: id });
    endedBecause.value = null;
    return replaced;
  });
  if (before !== null) await endAtService(before.refreshToken);
}

/**
 * Forgets the session in all tabs, and has it ended at the service: at once, or as soon as that can be.
 * `because`: why somebody who wants to go on has to sign in anew, for the sign-in page to say
 */
export async function signOut(because: string | null = null): Promise<void> {
  const session = readSession();
  forget(because);
  if (session !== null) await endAtService(session.refreshToken);
}

/** Forgets a session that the service has ended already. */
export function forget(because: string | null): void {
  hold(null);
  removeSession(because);
  stored.value = null;
  endedBecause.value = because;
}

/** Keeps what was learnt about an account, if it is still the one that is signed in. */
export function updateUser(user: StoredUser): Promise<void> {
  // Not between another tab's reading and writing: the token of before would be put back.
  return navigator.locks.request(LOCK, () => {
    const session = readSession();
    if (session?.user.id === user.id) keep({ ...session, user: { ...session.user, ...user } });
  });
}

/**
 * A call with the account's access token, rotated first where it has run out.
 * @throws ApiFailure; after one that ends the session nobody is signed in any more
 */
export async function authorized<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  let access = await usableAccess(null);
  for (let isSecond = false; ; isSecond = true) {
    try {
      return await request<T>(path, { ...options, token: access.token });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (isSecond || !RENEWABLE.has(error.code)) throw endedBy(error, access.session);
    }
    access = await usableAccess(access.token);
  }
}

/**
 * The access token: this tab's, another tab's, or a new one. One caller at a time, over all tabs.
 * `refused`: one that the service does not take any more, which is as good as none.
 */
async function usableAccess(refused: string | null): Promise<AccessToken> {
  const own = ownAccess();
  if (own && own.token !== refused) return own;
  return navigator.locks.request(LOCK, async () => {
    // Somebody else in this tab may have been first.
    const fresh = ownAccess();
    if (fresh && fresh.token !== refused) return fresh;
    hold(null);
    const session = readSession();
    if (session === null) throw notSignedIn();
    const access = (await tabs.ask(session.id, refused)) ?? (await rotate(session));
    // Signed out while this was under way: whatever came of it belongs to nobody here.
    if (readSession()?.id !== session.id) throw notSignedIn();
    hold(access);
    return access;
  });
}

/** Rotates the refresh token in storage. Only ever called under the lock. */
async function rotate(session: StoredSession): Promise<AccessToken> {
  const retryKey = session.retryKey ?? crypto.randomUUID();
  keep({ ...session, retryKey });
  const until = usableUntil();
  try {
    const { accessToken, refreshToken } = await rotated(session.refreshToken, retryKey);
    const now = readSession();
    if (now?.id === session.id) keep({ ...now, refreshToken, retryKey: null });
    return { token: accessToken, until, session: session.id };
  } catch (error) {
    throw error instanceof ApiFailure ? endedBy(error, session.id) : error;
  }
}

/** The failure, after the session is forgotten if that is what it means, and if it is still the one that is kept here. */
function endedBy(failure: ApiFailure, session: string): ApiFailure {
  const because = failure.status === 401 ? OVER[failure.code] : undefined;
  if (because !== undefined && readSession()?.id === session) forget(because);
  return failure;
}

function ownAccess(): AccessToken | null {
  const session = stored.peek();
  return session && readAccess(session.id, Date.now());
}

function hold(access: AccessToken | null): void {
  writeAccess(access);
  tabs.offer(access);
}

function keep(session: StoredSession): void {
  writeSession(session);
  show(session);
}

/** Without telling anybody of a user who has not changed: the session's token does so all the time. */
function show(session: StoredSession | null): void {
  const before = stored.peek()?.user;
  const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(session?.user);
  stored.value = session && isSame ? { ...session, user: before } : session;
}

/** Lifetime of an access token in seconds, as the API fixes it. */
const ACCESS_SECONDS = 900;
/** Seconds before its end at which an access token is taken as used up: a request needs time to get there. */
const MARGIN_SECONDS = 20;

function usableUntil(): number {
  return Date.now() + (ACCESS_SECONDS - MARGIN_SECONDS) * 1000;
}

function notSignedIn(): ApiFailure {
  return new ApiFailure("You are signed out. Sign in again.", { code: "UNAUTHORIZED", status: 401 });
}
