import { useEffect, useRef } from "preact/hooks";
import { type ApiFailure, isOutage } from "../api/failure.ts";
import { Recovery } from "./recovery.ts";

/** The one of this page. */
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
 * Repeats a call as long as it fails because the service is away. Each failure has to be an object of its own.
 * `busy`: the call is being made
 */
export function useRetry(failure: ApiFailure | null, busy: boolean, retry: () => void): void {
  const latest = useRef(retry);
  latest.current = retry;
  useEffect(() => {
    if (busy || failure === null || !isOutage(failure)) return;
    return recovery.add(() => latest.current(), (failure.retryAfter ?? 0) * 1000);
  }, [failure, busy]);
}

/** What is shown while a call that failed is repeated: a notice that comes and goes with each try would flicker. */
export function whileTrying(failure: ApiFailure | null): ApiFailure | null {
  return failure !== null && isOutage(failure) ? failure : null;
}
