import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../api/failure.ts";
import { recovery, shownWhileRetrying, useRetry } from "./retry.ts";

export interface Loaded<T> {
  data: T | null;
  failure: ApiFailure | null;
  /** True while a call is in flight, reloads included. */
  busy: boolean;
  reload: () => void;
  /** Like `reload`, for a poll: a call in flight goes on, because a slow service would never answer. */
  refresh: () => void;
  /**
   * Replaces the loaded value, for example with the response to a change. A load in flight may be older, and ends. Does
   * nothing if the key has changed since.
   */
  put: (data: T) => void;
}

/** Milliseconds after which a poll gives up a call in flight. */
const HUNG_MS = 30_000;

/**
 * Loads when `key` changes and on `reload`; nothing for `null`. The result for an older key is discarded. A call that fails
 * because of an outage is retried, and its failure stays visible until a retry ends.
 */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data: T | null; failure: ApiFailure | null; busy: boolean }>(
    {
      key,
      data: null,
      failure: null,
      busy: true,
    },
  );
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const shown = useRef(key);
  shown.current = key;
  /** `at`: milliseconds of the page at which the call began. */
  const inFlight = useRef<{ controller: AbortController; at: number } | null>(null);
  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    inFlight.current = { controller, at: performance.now() };
    setState((before) => {
      const data = before.key === key ? before.data : null;
      return { key, data, failure: shownWhileRetrying(before.failure), busy: true };
    });
    latest.current(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        inFlight.current = null;
        setState({ key, data, failure: null, busy: false });
        recovery.succeeded();
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        inFlight.current = null;
        setState((before) => ({ key, data: before.data, failure: failureOf(error), busy: false }));
      },
    );
    return () => {
      controller.abort();
      inFlight.current = null;
    };
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const refresh = useCallback(() => {
    if (inFlight.current === null || performance.now() - inFlight.current.at > HUNG_MS) reload();
  }, []);
  useRetry(key === null ? null : state.failure, state.busy, reload);
  const put = useCallback(
    (data: T) => {
      if (shown.current !== key) return;
      inFlight.current?.controller.abort();
      inFlight.current = null;
      setState({ key, data, failure: null, busy: false });
    },
    [key],
  );
  if (key === null) return { data: null, failure: null, busy: false, reload, refresh, put };
  // Until the effect for a new key has run, the state belongs to the old key.
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : null,
    failure: isCurrent ? state.failure : shownWhileRetrying(state.failure),
    busy: !isCurrent || state.busy,
    reload,
    refresh,
    put,
  };
}
