import { signal } from "@preact/signals";
import { ApiFailure } from "../api/failure.ts";
import { request } from "../api/request.ts";

/**
 * Sessions that this browser has signed out of and the service has not ended yet, shared by all tabs and stored across
 * reloads.
 */
export interface PendingSignOut {
  refreshTokens: readonly string[];
  /** Local epoch milliseconds before which the service is not called again; `null` until an attempt has failed. */
  notBefore: number | null;
}

const KEY = "taffrail.ending";
/** Web Lock held during an attempt: only one tab makes it. */
const LOCK = "taffrail.ending";
/** Milliseconds within which an attempt must succeed. */
const WITHIN_MS = 8000;
/** Seconds until the next attempt if the response has no `Retry-After`. No user waits for it. */
const AGAIN_SECONDS = 15;

/** The pending sign-outs, or `null`. Follows the other tabs. */
export const pendingSignOut = signal<PendingSignOut | null>(read());

let timer: ReturnType<typeof setTimeout> | undefined;

addEventListener("storage", ({ key }) => {
  if (key === KEY || key === null) schedule();
});
schedule();

/** Ends a session at the service, now or later. Resolves after the first attempt. */
export async function endAtService(refreshToken: string): Promise<void> {
  const before = read();
  try {
    write({ refreshTokens: [...(before?.refreshTokens ?? []), refreshToken], notBefore: before?.notBefore ?? null });
  } catch {
    // The storage is full: one attempt without it.
    await tryToEnd(refreshToken);
    return;
  }
  await endPending();
}

async function endPending(): Promise<void> {
  await navigator.locks.request(LOCK, async () => {
    for (let left = read(); left !== null && (left.notBefore ?? 0) <= Date.now(); left = read()) {
      const [refreshToken = ""] = left.refreshTokens;
      const again = await tryToEnd(refreshToken);
      // Read again: another tab may have added a session.
      const refreshTokens = read()?.refreshTokens ?? [];
      if (again === null)
        write({ refreshTokens: refreshTokens.filter((each) => each !== refreshToken), notBefore: null });
      else write({ refreshTokens, notBefore: again });
    }
  });
  schedule();
}

/** Ends a session. Returns the local time of the next attempt; `null` if the session has ended, now or before. */
async function tryToEnd(refreshToken: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(WITHIN_MS);
    // The user often leaves the page right after signing out.
    await request("/auth/logout", { body: { refreshToken }, signal, keepalive: true });
    return null;
  } catch (error) {
    const failure = error instanceof ApiFailure ? error : null;
    // The token itself was refused: the session is over, and no later attempt can succeed.
    if (failure && failure.status >= 400 && failure.status < 500 && failure.status !== 429) return null;
    return Date.now() + (failure?.retryAfter ?? AGAIN_SECONDS) * 1000;
  }
}

/** Updates the signal and schedules the next attempt. */
function schedule(): void {
  const left = read();
  pendingSignOut.value = left;
  clearTimeout(timer);
  if (left !== null) timer = setTimeout(() => void endPending(), Math.max(0, (left.notBefore ?? 0) - Date.now()));
}

function read(): PendingSignOut | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (typeof value !== "object" || value === null || !("refreshTokens" in value)) return null;
    if (!Array.isArray(value.refreshTokens)) return null;
    const refreshTokens = value.refreshTokens.filter((each): each is string => typeof each === "string");
    const notBefore = "notBefore" in value && typeof value.notBefore === "number" ? value.notBefore : null;
    return refreshTokens.length === 0 ? null : { refreshTokens, notBefore };
  } catch {
    return null;
  }
}

function write(left: PendingSignOut): void {
  if (left.refreshTokens.length === 0) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, JSON.stringify(left));
  pendingSignOut.value = read();
}
