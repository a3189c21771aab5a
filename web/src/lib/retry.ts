import { useEffect, useRef } from "preact/hooks";
import { type ApiFailure, isOutage } from "../api/failure.ts";
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

/**
 * Retries a call as long as it fails because of an outage. Each failure must be a new object.
 * @param busy whether the call is in flight
 */
export function useRetry(failure: ApiFailure | null, busy: boolean, retry: () => void): void {
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(() => {
    if (busy || failure === null || !isOutage(failure)) return;
    return recovery.add(() => latest.current(), (failure.retryAfter ?? 0) * 1000);
  }, [failure, busy]);
}

/**
 * Returns the failure to show while a failed call is retried. An outage stays visible, because a notice that disappears
 * on each attempt would flicker.
 */
export function shownWhileRetrying(failure: ApiFailure | null): ApiFailure | null {
  return failure !== null && isOutage(failure) ? failure : null;
}
