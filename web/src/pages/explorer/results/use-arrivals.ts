import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";

/** Pixels from the top at which the list still counts as at its top. */
const AT_TOP = 4;

interface Arrivals {
  /** Whether the first row is visible and no entry is open. */
  isAtTop: boolean;
  /** Whether the list shows new entries as they arrive. */
  isFollowing: boolean;
  /** Whether the entries are those of a new query. */
  isNew: boolean;
  /** Entries that arrived at the top while the reader was elsewhere. */
  fresh: number;
  /** Resets the count when the reader goes to the top. */
  clear: () => void;
  /** Takes the scroll offset of the list in pixels; negative while something above the list is visible. */
  onScroll: (distance: number) => void;
}

interface Reading {
  query: string | undefined;
  follow: boolean;
  /** Whether an entry is open: the list then does not follow at its top. */
  isReading: boolean;
  toTop: () => void;
}

/** Counts entries that arrive at the top while the reader is elsewhere, and scrolls to the top for a new query. */
export function useArrivals(entries: readonly LogEntry[], { query, follow, isReading, toTop }: Reading): Arrivals {
  const [isTop, setTop] = useState(true);
  const [fresh, setFresh] = useState(0);
  const before = useRef<string | undefined>(undefined);
  const shown = useRef(query);
  const isNew = shown.current !== query;
  const isAtTop = isTop && !isReading;
  const isFollowing = follow && isAtTop;
  useLayoutEffect(() => {
    const first = before.current;
    before.current = entries[0]?.id;
    shown.current = query;
    if (isNew) {
      setFresh(0);
      toTop();
      return;
    }
    if (first === undefined || first === before.current) return;
    const added = entries.findIndex(({ id }) => id === first);
    if (added < 0) {
      setFresh(0);
      toTop();
    } else if (!isAtTop && follow) setFresh((count) => count + added);
  }, [entries, query]);
  return {
    isAtTop,
    isFollowing,
    isNew,
    fresh: isFollowing ? 0 : fresh,
    clear: () => setFresh(0),
    onScroll(distance) {
      const isNow = distance <= AT_TOP;
      setTop(isNow);
      if (isNow) setFresh(0);
    },
  };
}
