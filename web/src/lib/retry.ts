import { useEffect, useRef } from "preact/hooks";
import { type ApiFailure, isLimited, isOutage } from "../api/failure.ts";
import { Recovery } from "./recovery.ts";

/** The retries of this page. */
export const recovery = new Recovery({
  later(milliseconds, call) {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  isHidden: () => document.hidden,
});

addEventListener("online", () => recovery.now());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) recovery.now();
});

/** Seconds to wait after a refusal by a limit that does not state them. */
const WAIT_S = 5;
/** Milliseconds over which calls that wait for the same limit are spread. */
const SPREAD_MS = 1000;

/**
 * Retries a call as long as it fails because of an outage or a limit. After a limit the call waits as long as the service
 * asks. Each failure must be a new object.
 * @param busy whether the call is in flight
 */
export function useRetry(failure: ApiFailure | null, busy: boolean, retry: () => void): void {
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(() => {
    if (busy || failure === null) return;
    const again = (): void => latest.current();
    if (isOutage(failure)) return recovery.add(again, (failure.retryAfter ?? 0) * 1000);
    if (isLimited(failure)) return afterLimit((failure.retryAfter ?? WAIT_S) * 1000, again);
  }, [failure, busy]);
}

/**
 * Calls `again` after a wait, or when the page is visible again if it is hidden then.
 * @returns a function that cancels the call
 */
function afterLimit(milliseconds: number, again: () => void): () => void {
  const due = (): void => {
    if (document.hidden) return;
    stop();
    again();
  };
  const stop = (): void => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", due);
  };
  const timer = setTimeout(
    () => {
      document.addEventListener("visibilitychange", due);
      due();
    },
    milliseconds + Math.random() * SPREAD_MS,
  );
  return stop;
}

/**
 * Returns the failure to show while a failed call is retried. An outage or a limit stays visible, because a notice that
 * disappears on each attempt would flicker.
 */
export function shownWhileRetrying(failure: ApiFailure | null): ApiFailure | null {
  return failure !== null && (isOutage(failure) || isLimited(failure)) ? failure : null;
}
