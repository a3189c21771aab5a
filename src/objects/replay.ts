import { ApiError } from "../http/errors.ts";
import { STORAGE_FAILS } from "../http/storage-refusal.ts";
import { hasFlag } from "../platform/failed-call.ts";
import { isStorageFailure } from "../platform/storage-failure.ts";
import { isUnknownMethod, unavailable } from "./outdated.ts";

/** Whether a call that failed on the platform's side may be sent again: what it does twice equals what it does once. */
export type RetryPolicy = "replay-safe" | "once";

/** Calls made at most, the first included. The runtime has repeated a lost call up to four times before it reports it. */
const ATTEMPTS = 3;

/** No repetition begins later than this after the first call, in milliseconds: the runtime's own bound for its retries. */
const REPEAT_WITHIN_MS = 10_000;

/** The longest wait before the first repetition, in milliseconds; it doubles for each one after. */
const BACKOFF_MS = 100;

/** Time and chance, as arguments for tests. */
export interface RetryTimer {
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
  /** 0 to 1, 1 excluded. */
  random(): number;
}

/**
 * Calls an object, and again where the call was lost or the object was reset, if that is safe.
 * @param attempt makes its own stub: one that has seen a broken connection stays broken
 * @throws ApiError SERVICE_UNAVAILABLE where the platform says that the object is overloaded, was reset or could not be
 * reached, where its storage fails, or where the object is of an older version that does not know the call; any other
 * error as it is
 */
export async function withRetry<T>(replay: RetryPolicy, attempt: () => Promise<T>, timer: RetryTimer): Promise<T> {
  const startedAt = timer.now();
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      const kind = classify(error);
      if (kind === "fault") throw error;
      if (kind === "storage") throw new ApiError(STORAGE_FAILS, { cause: error });
      if (kind !== "lost" || replay === "once" || made === ATTEMPTS) throw unavailable();
    }
    // Half of the wait is chance: an object that was reset has lost all its callers at the same moment.
    const longest = BACKOFF_MS * 2 ** (made - 1);
    const wait = longest / 2 + (timer.random() * longest) / 2;
    if (timer.now() + wait - startedAt > REPEAT_WITHIN_MS) throw unavailable();
    await timer.wait(wait);
  }
}

/**
 * By the platform's flags. `overloaded` alone: the object is there and has too much to do, so a repetition makes it worse.
 * With `durableObjectReset` the load went with the object that was reset, and the call meets a new one.
 */
function classify(error: unknown): "overloaded" | "lost" | "outdated" | "storage" | "fault" {
  if (!(error instanceof Error)) return "fault";
  if (isStorageFailure(error)) return "storage";
  if (isUnknownMethod(error)) return "outdated";
  if (hasFlag(error, "durableObjectReset")) return "lost";
  if (hasFlag(error, "overloaded")) return "overloaded";
  return hasFlag(error, "retryable") ? "lost" : "fault";
}
