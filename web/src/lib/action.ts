import { useCallback, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../api/failure.ts";

/** Something a person does that calls the API: at most once at a time. */
export interface Action<A extends unknown[]> {
  /** Does it; a failure is kept for showing, never thrown. A call while one is under way does nothing. */
  run: (...args: A) => Promise<void>;
  busy: boolean;
  failure: ApiFailure | null;
  /** Forgets the failure. */
  clear: () => void;
}

export function useAction<A extends unknown[]>(act: (...args: A) => Promise<void>): Action<A> {
  const [state, setState] = useState<{ busy: boolean; failure: ApiFailure | null }>({ busy: false, failure: null });
  const latest = useRef(act);
  latest.current = act;
  const isRunning = useRef(false);
  const run = useCallback(async (...args: A) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ busy: true, failure: null });
    try {
      await latest.current(...args);
      setState({ busy: false, failure: null });
    } catch (error) {
      setState({ busy: false, failure: failureOf(error) });
    } finally {
      isRunning.current = false;
    }
  }, []);
  const clear = useCallback(() => setState((before) => ({ ...before, failure: null })), []);
  return { ...state, run, clear };
}

/** What a refusal says about one field of the body, as a sentence below that field. */
export function fieldError(failure: ApiFailure | null, path: string): string | undefined {
  const message = failure?.details.find((detail) => detail.path === path)?.message;
  return message && sentence(message);
}

/** "must be an e-mail address" as a sentence: the API's messages go on after the field's name. */
export function sentence(message: string): string {
  const whole = message.startsWith("must") ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
