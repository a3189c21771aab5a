import { useCallback, useRef } from "preact/hooks";

/** Returns a function that never changes and calls the one of the latest render. */
export function useLatest<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => R {
  const latest = useRef(call);
  latest.current = call;
  return useCallback((...args: A) => latest.current(...args), []);
}
