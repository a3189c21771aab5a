import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type CountedEntry, LiveCounts } from "./live-counts.ts";

/** Calls back with what a live view brings, before the page is drawn with it. @returns how to end that */
export type OnArrival = (listener: (entries: readonly CountedEntry[]) => void) => () => void;

/** Listeners, and how to call all of them. */
export function useArrivalListeners(): { onArrival: OnArrival; tell: (entries: readonly CountedEntry[]) => void } {
  const listeners = useRef(new Set<(entries: readonly CountedEntry[]) => void>());
  const onArrival = useCallback<OnArrival>((listener) => {
    listeners.current.add(listener);
    return () => listeners.current.delete(listener);
  }, []);
  const tell = useCallback((entries: readonly CountedEntry[]) => {
    for (const listener of listeners.current) listener(entries);
  }, []);
  return { onArrival, tell };
}

interface Counted {
  lastSeq: number | undefined;
}

/**
 * The counts of a live view on top of the service's, of the same query. Those of a query before stay until the service has
 * counted the new one.
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
