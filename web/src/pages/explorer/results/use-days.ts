import { useCallback, useLayoutEffect, useMemo } from "preact/hooks";
import { timeFormat, zone } from "../../../lib/zone.ts";
import type { LogEntry } from "../../../model/types.ts";
import { density, ROW_HEIGHTS } from "../../../ui/density.ts";
import { dayStarts } from "./days.ts";
import type { Virtual } from "./use-virtual.ts";

const DATE = timeFormat({ dateStyle: "full" });

interface Days {
  /** The date above an entry, if the entry before is of another day; otherwise `null`. */
  dateAbove: (index: number) => string | null;
  /** Height of a closed row in pixels, with the date above it. */
  sizeOf: (index: number) => number;
  /** Key of a row: changes with the heights, so that the virtualizer asks for them again. */
  getItemKey: (index: number) => string | number;
}

/** Finds the days of a list in the chosen zone, and the heights of its closed rows. */
export function useDays(entries: readonly LogEntry[], isNarrow: boolean): Days {
  const { one, two, day } = ROW_HEIGHTS[density.value];
  const row = isNarrow ? two : one;
  const name = zone.value;
  const starts = useMemo(() => new Set(dayStarts(entries, name)), [entries, name]);
  const getItemKey = useCallback((index: number) => entries[index]?.id ?? index, [entries, starts]);
  const dateAbove = (index: number): string | null => {
    const entry = starts.has(index) ? entries[index] : undefined;
    return entry === undefined ? null : DATE(new Date(entry.timestamp));
  };
  return { dateAbove, sizeOf: (index) => (starts.has(index) ? row + day : row), getItemKey };
}

/** Corrects rows that keep the height of when they were closed: since then a date may have come above them, or gone. */
export function useClosedHeights(
  { virtual, items }: Pick<Virtual, "virtual" | "items">,
  open: readonly string[],
  sizeOf: Days["sizeOf"],
): void {
  useLayoutEffect(() => {
    for (const { index, key, size = sizeOf(index) } of items) {
      if (size !== sizeOf(index) && !open.some((id) => id === key)) virtual?.resizeItem(index, sizeOf(index));
    }
  });
}
