import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type CountedEntry, LiveCounts } from "./live-counts.ts";

/** Subscribes to new entries of a live view, before the page renders them. @returns a function that unsubscribes */
export type OnArrival = (listener: (entries: readonly CountedEntry[]) => void) => () => void;

/** Creates `onArrival` and the function that notifies its listeners. */
export function useArrivalListeners(): { onArrival: OnArrival; notify: (entries: readonly CountedEntry[]) => void } {
  const listeners = useRef(new Set<(entries: readonly CountedEntry[]) => void>());
  const onArrival = useCallback<OnArrival>((listener) => {
    listeners.current.add(listener);
    return () => listeners.current.delete(listener);
  }, []);
  const notify = useCallback((entries: readonly CountedEntry[]) => {
    for (const listener of listeners.current) listener(entries);
  }, []);
  return { onArrival, notify };
}

interface Counted {
  lastSeq: number | undefined;
}

/**
 * Adds live counts to the service's counts of the same query. The counts of the previous query stay visible until the
 * service has counted the new one.
 */
export function useLiveCounts<T extends Counted>(
  query: string,
  answer: T | null,
  bucketMs: (answer: T) => number,
  groupOf: (entry: CountedEntry) => string,
  onArrival: OnArrival,
): LiveCounts {
  const collecting = useMemo(() => new LiveCounts(groupOf), [query]);
  const shown = useRef({ answer, counts: collecting });
  if (answer !== null && answer !== shown.current.answer) {
    collecting.begin(answer.lastSeq, bucketMs(answer));
    shown.current = { answer, counts: collecting };
  }
  useLayoutEffect(() => onArrival((entries) => collecting.add(entries)), [collecting, onArrival]);
  return shown.current.counts;
}
