import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../api/failure.ts";
import { recovery, useRetry, whileTrying } from "./retry.ts";

export interface Loaded<T> {
  data: T | null;
  failure: ApiFailure | null;
  /** True from the start of a call to its end, a later one included. */
  busy: boolean;
  reload: () => void;
  /** Puts a value in the place of what was loaded: the answer of a change, say. */
  put: (data: T) => void;
}

/**
 * Loads when `key` changes and when asked to; the answer to an older key is thrown away. What fails because the service is
 * away is repeated, and its failure stays until the outcome is known.
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; data: T | null; failure: ApiFailure | null; busy: boolean }>({
    key,
    data: null,
    failure: null,
    busy: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => {
      const data = before.key === key ? before.data : null;
      return { key, data, failure: whileTrying(before.failure), busy: true };
    });
    latest.current(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        setState({ key, data, failure: null, busy: false });
        recovery.succeeded();
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setState((before) => ({ key, data: before.data, failure: failureOf(error), busy: false }));
      },
    );
    return () => controller.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useRetry(state.failure, state.busy, reload);
  const put = useCallback((data: T) => setState({ key, data, failure: null, busy: false }), [key]);
  // Until the effect of a new key has run, what is there belongs to the old one.
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : null,
    failure: isCurrent ? state.failure : whileTrying(state.failure),
    busy: !isCurrent || state.busy,
    reload,
    put,
  };
}
