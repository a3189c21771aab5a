import { isAccepted, type Range } from "../../explorer/view/range.ts";
import type { View } from "../../explorer/view/view.ts";
import { viewOf } from "../links.ts";

/** A length of time, in epoch milliseconds; the end is excluded. */
export interface TimeSpan {
  start: number;
  end: number;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Spans with which the one of the view is compared: value in the address, and label. */
export const BASES = [
  { value: "before", label: "The range before" },
  { value: "1d", label: "Yesterday" },
  { value: "7d", label: "Last week" },
  { value: "custom", label: "Another range" },
] as const;
export type Base = (typeof BASES)[number]["value"];

/** Returns the span of a range. A relative one, which begins with a whole minute, is exactly as long as its name says. */
export function nowSpan(range: Range, { start, end }: TimeSpan): TimeSpan {
  if (range.kind !== "last") return { start, end };
  return { start: end - Math.max(MINUTE, Math.floor((end - start) / MINUTE) * MINUTE), end };
}

/** Returns the other span. One whose times are not valid is the span before. */
export function baseSpan({ start, end }: TimeSpan, base: Base, custom: TimeSpan | null): TimeSpan {
  if (base === "1d" || base === "7d") {
    const shift = base === "1d" ? DAY : 7 * DAY;
    return { start: start - shift, end: end - shift };
  }
  if (base === "custom" && custom !== null) return custom;
  // The service refuses times before 1970.
  return { start: Math.max(0, start - (end - start)), end: Math.max(MINUTE, start) };
}

/** Reads the times of another span; `null` if they are missing, refused by the service or in the wrong order. */
export function customSpan(from: string | null, to: string | null): TimeSpan | null {
  const [start, end] = [Date.parse(from ?? ""), Date.parse(to ?? "")];
  return start < end && isAccepted(start) && isAccepted(end) ? { start, end } : null;
}

export function boundsOf({ start, end }: TimeSpan): { from: string; to: string } {
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** The view of the entries of one of both spans. */
export function spanView(query: string, span: TimeSpan): View {
  return viewOf(query, { kind: "between", ...boundsOf(span) });
}
