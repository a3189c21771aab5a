import { useCallback, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../api/failure.ts";

/** A user action that calls the API. At most one call is in flight. */
export interface Action<A extends unknown[]> {
  /** Runs the action. A failure is stored, never thrown. A call while another is in flight does nothing. */
  run: (...args: A) => Promise<void>;
  busy: boolean;
  failure: ApiFailure | null;
  /** Clears the failure. */
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

/** Returns the message that a refused request has for one field, as a sentence to show below that field. */
export function fieldError(failure: ApiFailure | null, path: string): string | undefined {
  const message = failure?.details.find((detail) => detail.path === path)?.message;
  return message && sentence(message);
}

/** Turns a message of the API such as "must be an e-mail address" into a sentence. */
export function sentence(message: string): string {
  const whole = message.startsWith("must") ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
