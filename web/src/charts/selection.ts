import { useState } from "preact/hooks";

/** Spans that Page Up and Page Down move by. */
const PAGE = 10;

/** A span of time, epoch milliseconds. */
export interface Span {
  start: number;
  end: number;
}

/** The two ends of a selection of spans of time, in the order of selection. */
export interface Selection {
  anchor: number;
  at: number;
}

export function firstOf({ anchor, at }: Selection): number {
  return Math.min(anchor, at);
}

export function lastOf({ anchor, at }: Selection): number {
  return Math.max(anchor, at);
}

/** Returns the span that contains a time; for a time outside, the nearest one. */
export function spanOf(time: number, from: number, binMs: number, spans: number): number {
  return Math.max(0, Math.min(spans - 1, Math.floor((time - from) / binMs)));
}

/** Says the keys of `useSelection`. @param one of what is selected */
export function keysText(one: string, zoomsOut: boolean): string {
  return `Arrow keys, Page Up, Page Down, Home and End select a ${one}, with Shift several. Enter zooms in${zoomsOut ? ", minus zooms out" : ""}.`;
}

interface Selecting {
  selection: Selection | null;
  select: (selection: Selection | null) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** Selects among spans of time by keyboard. @param count of spans */
export function useSelection(
  count: number,
  onZoom: (selection: Selection) => void,
  onZoomOut: (() => void) | undefined,
): Selecting {
  const [selection, select] = useState<Selection | null>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event.key, selection?.at ?? null, count);
    if (next !== null) select({ anchor: event.shiftKey && selection ? selection.anchor : next, at: next });
    else if (event.key === "Enter" && selection) onZoom(selection);
    else if (event.key === "-" && onZoomOut !== undefined) onZoomOut();
    else if (event.key === "Escape" && selection) select(null);
    else return;
    event.preventDefault();
  };
  return { selection, select, onKeyDown };
}

/** Index that a key moves the selection to; `null` for other keys. Without a selection, starts at the newest bar. */
function moved(key: string, at: number | null, count: number): number | null {
  const last = count - 1;
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return at === null ? last : Math.max(0, at - 1);
    case "ArrowRight":
    case "ArrowUp":
      return at === null ? last : Math.min(last, at + 1);
    case "PageDown":
      return Math.max(0, (at ?? last) - PAGE);
    case "PageUp":
      return Math.min(last, (at ?? last) + PAGE);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
