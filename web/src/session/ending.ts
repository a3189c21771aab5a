import { signal } from "@preact/signals";
import { ApiFailure } from "../api/failure.ts";
import { request } from "../api/request.ts";

/** Sessions that this browser has forgotten and the service has not heard the end of: for all tabs, and for the next load. */
export interface Ending {
  refreshTokens: readonly string[];
  /** Local time in milliseconds before which the service is not asked again; null until a try has failed. */
  notBefore: number | null;
}

const KEY = "taffrail.ending";
/** Held during a try: over all tabs one makes it. */
const LOCK = "taffrail.ending";
/** Milliseconds for one try ... */
const WITHIN_MS = 8000;
/** ... and seconds to the next where no answer says how long: nobody waits for it. */
const AGAIN_SECONDS = 15;

/** What is still to be told; null where there is nothing. Follows the other tabs. */
export const ending = signal<Ending | null>(read());

let timer: ReturnType<typeof setTimeout> | undefined;

addEventListener("storage", ({ key }) => {
  if (key === KEY || key === null) follow();
});
follow();

/** Ends a session at the service: now if it can be, later otherwise. Resolves after the first try. */
export async function endAtService(refreshToken: string): Promise<void> {
  const before = read();
  write({ refreshTokens: [...(before?.refreshTokens ?? []), refreshToken], notBefore: before?.notBefore ?? null });
  await tell();
}

async function tell(): Promise<void> {
  await navigator.locks.request(LOCK, async () => {
    for (let left = read(); left !== null && (left.notBefore ?? 0) <= Date.now(); left = read()) {
      const [refreshToken = ""] = left.refreshTokens;
      const again = await tryToEnd(refreshToken);
      // Read anew: others may have been added meanwhile.
      const refreshTokens = read()?.refreshTokens ?? [];
      if (again === null)
        write({ refreshTokens: refreshTokens.filter((each) => each !== refreshToken), notBefore: null });
      else write({ refreshTokens, notBefore: again });
    }
  });
  follow();
}

/** The local time of the next try; null where the session is over: ended just now, or before. */
async function tryToEnd(refreshToken: string): Promise<number | null> {
  try {
    await request("/auth/logout", { body: { refreshToken }, signal: AbortSignal.timeout(WITHIN_MS) });
    return null;
  } catch (error) {
    const failure = error instanceof ApiFailure ? error : null;
    // A refusal of the token itself is as good as its end; no later try would fare better.
    if (failure && failure.status >= 400 && failure.status < 500 && failure.status !== 429) return null;
    return Date.now() + (failure?.retryAfter ?? AGAIN_SECONDS) * 1000;
  }
}

/** Shows what there is, and waits for the time of the next try. */
function follow(): void {
  const left = read();
  ending.value = left;
  clearTimeout(timer);
  if (left !== null) timer = setTimeout(() => void tell(), Math.max(0, (left.notBefore ?? 0) - Date.now()));
}

function read(): Ending | null {
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

function write(left: Ending): void {
  if (left.refreshTokens.length === 0) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, JSON.stringify(left));
  ending.value = read();
}
