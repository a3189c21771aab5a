import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";

/** Pixels from the list's top that still are the top. */
const AT_TOP = 4;

interface Arrivals {
  /** Whether the first row is in sight, and nothing is open. */
  isAtTop: boolean;
  /** Whether the list shows what comes as it comes. */
  isFollowing: boolean;
  /** Whether the entries are those of another query than before. */
  isNew: boolean;
  /** Entries that came at the top while the reader was elsewhere. */
  fresh: number;
  /** Forgets the count: the reader goes to the top. */
  clear: () => void;
  /** Takes the pixels that the list is scrolled by; negative while something above it is in sight, too. */
  onScroll: (distance: number) => void;
}

interface Reading {
  query: string | undefined;
  follow: boolean;
  /** Something is open: the top is a place like any other then. */
  isReading: boolean;
  toTop: () => void;
}

/** Counts what comes at the top while the reader is elsewhere, and begins at the top with a list of other entries. */
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
