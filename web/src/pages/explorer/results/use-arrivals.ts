import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";

/** Pixels from the top that still are the top. */
const AT_TOP = 4;

interface Arrivals {
  /** Whether the list shows what comes as it comes. */
  isAtTop: boolean;
  /** Whether the entries are those of another query than before. */
  isNew: boolean;
  /** Entries that came at the top while the reader was elsewhere. */
  fresh: number;
  toTop: () => void;
  onScroll: () => void;
}

interface Reading {
  query: string | undefined;
  follow: boolean;
  /** Something is open: the top is a place like any other then. */
  isReading: boolean;
  scroller: RefObject<HTMLElement | null>;
}

/** Counts what comes at the top while the reader is elsewhere, and begins at the top with a list of other entries. */
export function useArrivals(entries: readonly LogEntry[], { query, follow, isReading, scroller }: Reading): Arrivals {
  const [isTop, setTop] = useState(true);
  const [fresh, setFresh] = useState(0);
  const before = useRef<string | undefined>(undefined);
  const shown = useRef(query);
  const isNew = shown.current !== query;
  const isAtTop = follow && isTop && !isReading;
  useLayoutEffect(() => {
    const first = before.current;
    before.current = entries[0]?.id;
    shown.current = query;
    if (isNew) {
      setFresh(0);
      scroller.current?.scrollTo({ top: 0 });
      return;
    }
    if (first === undefined || first === before.current) return;
    const added = entries.findIndex(({ id }) => id === first);
    if (added < 0) {
      setFresh(0);
      scroller.current?.scrollTo({ top: 0 });
    } else if (!isAtTop && follow) setFresh((count) => count + added);
  }, [entries, query]);
  return {
    isAtTop,
    isNew,
    fresh: isAtTop ? 0 : fresh,
    toTop() {
      setFresh(0);
      scroller.current?.scrollTo({ top: 0 });
    },
    onScroll() {
      const isNow = (scroller.current?.scrollTop ?? 0) <= AT_TOP;
      setTop(isNow);
      if (isNow) setFresh(0);
    },
  };
}
