import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";

/** Rows that Page Up and Page Down move by. */
const PAGE = 15;

interface KeyActs {
  onContext: (entry: LogEntry) => void;
  onCopy: (entry: LogEntry) => void;
  toggle: (entry: LogEntry) => void;
  /** Ids of the open entries. */
  open: readonly string[];
}

interface RowKeys {
  /** Index of the row that is the tab stop. */
  stop: number;
  /** Makes a row the tab stop. With `list`, also focuses it. */
  point: (index: number, list?: Element | null) => void;
  onKeyDown: (event: KeyboardEvent, acts: KeyActs) => void;
}

/**
 * Keyboard navigation with a roving tab stop. The stop is stored by entry id, because indexes change.
 * @param reveal scrolls to a row; returns whether it can, otherwise the focus scrolls
 */
export function useRowKeys(entries: readonly LogEntry[], reveal: (index: number) => boolean): RowKeys {
  const [pointed, setPointed] = useState<{ id: string; index: number } | null>(null);
  const wantsFocus = useRef<Element | null>(null);
  const isRevealed = useRef(true);
  const stop = indexOf(entries, pointed);
  useLayoutEffect(() => {
    const list = wantsFocus.current;
    wantsFocus.current = null;
    list?.querySelector<HTMLElement>(`[data-index="${stop}"] [data-row]`)?.focus({ preventScroll: isRevealed.current });
    isRevealed.current = true;
  });
  const point = (index: number, list: Element | null = null): void => {
    wantsFocus.current = list;
    const id = entries[index]?.id;
    if (id !== undefined) setPointed({ id, index });
  };
  const onKeyDown = (event: KeyboardEvent, { onContext, onCopy, toggle, open }: KeyActs): void => {
    const { target, currentTarget, key } = event;
    if (!(target instanceof HTMLElement) || !(currentTarget instanceof Element)) return;
    const item = target.closest("[data-index]");
    if (item === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = Number(item.getAttribute("data-index"));
    const row = item.querySelector<HTMLElement>("[data-row]");
    if (target !== row) {
      if (key !== "Escape") return;
      row?.focus();
      // Leaves the details, but not the panel around the list.
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const entry = entries[index];
    if (entry === undefined) return;
    const isOpen = open.includes(entry.id);
    const next = nextRow(key, index, entries.length - 1);
    if (next !== null) {
      point(next, currentTarget);
      isRevealed.current = reveal(next);
    } else if (key === "c") onContext(entry);
    else if (key === "y") onCopy(entry);
    else if (key === "Enter" || key === " ") {
      if (!event.repeat) toggle(entry);
    } else if ((key === "ArrowRight" && !isOpen) || (key === "ArrowLeft" && isOpen)) toggle(entry);
    else return;
    event.preventDefault();
  };
  return { stop, point, onKeyDown };
}

/** The row that an element is in. */
export function rowAt(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest("[data-row]") : null;
}

/** Index of a row's entry; -1 without a row. */
export function indexOfRow(row: Element | null): number {
  return Number(row?.closest("[data-index]")?.getAttribute("data-index") ?? -1);
}

function nextRow(key: string, index: number, last: number): number | null {
  switch (key) {
    case "ArrowDown":
    case "j":
      return Math.min(index + 1, last);
    case "ArrowUp":
    case "k":
      return Math.max(index - 1, 0);
    case "PageDown":
      return Math.min(index + PAGE, last);
    case "PageUp":
      return Math.max(index - PAGE, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

/** Current index of the entry; 0 if it is gone. */
function indexOf(entries: readonly LogEntry[], pointed: { id: string; index: number } | null): number {
  if (pointed === null) return 0;
  if (entries[pointed.index]?.id === pointed.id) return pointed.index;
  return Math.max(
    0,
    entries.findIndex(({ id }) => id === pointed.id),
  );
}
