import { useEffect, useState } from "preact/hooks";
import type { ApiFailure } from "../api/failure.ts";

/** Milliseconds between two updates: short enough that no second is skipped. */
const TICK_MS = 500;

/** Whole seconds left until `at` (local epoch milliseconds); 0 after that and for `null`. */
export function useSecondsUntil(at: number | null): number {
  const [, update] = useState({});
  useEffect(() => {
    if (at === null) return;
    const timer = setInterval(() => {
      update({});
      if (secondsUntil(at) === 0) clearInterval(timer);
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [at]);
  // Not kept as state, which a first render with another `at` would still have of the one before.
  return secondsUntil(at);
}

/** Seconds until a call that was refused with 429 may succeed; 0 for any other failure and for `null`. */
export function useWait(failure: ApiFailure | null): number {
  // After a clock that was set back, the time of the failure is ahead.
  const isLimited = failure !== null && failure.status === 429 && failure.at <= Date.now();
  return useSecondsUntil(isLimited ? failure.at + (failure.retryAfter ?? 0) * 1000 : null);
}

function secondsUntil(at: number | null): number {
  return at === null ? 0 : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
