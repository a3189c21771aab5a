import type { RefObject } from "preact";
import { useRef } from "preact/hooks";

/** Open entries that stay in the page when scrolled away, with their expanded state. */
const KEPT_OPEN = 20;

type Key = string | number | bigint;

/** Elements of the rows in the page, by the key of the entry that each shows, in the order of the page. */
export type RowElements = ReadonlyMap<Key, number>;

/**
 * Returns the elements that show entries next. An entry that stays keeps its element. Elements of entries that leave show those that
 * come, in order, so that a jump moves no element.
 * @param isPinned whether an element shows no other entry and is not moved. Elements between two of them stay between them
 */
export function nextElements(
  before: RowElements,
  keys: readonly Key[],
  isPinned: (key: Key, element: number) => boolean,
): RowElements {
  const staying = new Set(keys);
  /** Elements to fill again, by the key of the last pinned element before them. */
  const free = new Map<Key | null, number[]>();
  const isAnyFree = [...before.keys()].some((key) => !staying.has(key));
  let part: Key | null = null;
  for (const [key, element] of isAnyFree ? before : []) {
    const stays = staying.has(key);
    if (isPinned(key, element)) part = stays ? key : part;
    else if (!stays) free.set(part, [...(free.get(part) ?? []), element]);
  }
  let unused = Math.max(-1, ...before.values()) + 1;
  const next = new Map<Key, number>();
  part = null;
  for (const key of keys) {
    const element = before.get(key);
    next.set(key, element ?? free.get(part)?.shift() ?? unused++);
    if (isAnyFree && element !== undefined && isPinned(key, element)) part = key;
  }
  return next;
}

/**
 * Returns the element of each row: those that leave the page are filled again, which is a third less work for a jump than new
 * ones. An open entry, and an element with the focus or a part of the selected text, keep theirs.
 */
export function useRowElements(
  keys: readonly Key[],
  open: readonly Key[],
  rows: RefObject<HTMLElement | null>,
): RowElements {
  const elements = useRef<RowElements>(new Map());
  let pins: { focused: string | null; isSelected: boolean } | null = null;
  elements.current = nextElements(elements.current, keys, (key, element) => {
    // Only once a row leaves: a browser may lay out the page to tell what is selected.
    pins ??= pinsOf(rows.current);
    return pins.isSelected || String(element) === pins.focused || open.includes(key);
  });
  return elements.current;
}

function pinsOf(list: HTMLElement | null): { focused: string | null; isSelected: boolean } {
  const { activeElement } = document;
  const focused = list?.contains(activeElement) ? activeElement?.closest("[data-element]") : null;
  const selection = getSelection();
  const hasRange = selection !== null && selection.rangeCount > 0 && !selection.isCollapsed;
  return {
    focused: focused?.getAttribute("data-element") ?? null,
    isSelected: list !== null && hasRange && selection.containsNode(list, true),
  };
}

/** Indexes of the open entries whose rows stay in the page. */
export function openRows(entries: readonly { id: string }[], ids: readonly string[]): number[] {
  if (ids.length === 0) return [];
  const wanted = new Set(ids.slice(-KEPT_OPEN));
  return entries.flatMap(({ id }, index) => (wanted.has(id) ? [index] : []));
}
