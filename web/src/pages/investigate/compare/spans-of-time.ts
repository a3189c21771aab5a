import type { Range } from "../../explorer/view/range.ts";
import { timeOf, type View } from "../../explorer/view/view.ts";
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
  if (range.kind === "last") return { start: end - Math.max(MINUTE, Math.floor((end - start) / MINUTE) * MINUTE), end };
  const first = Math.max(0, start);
  return { start: first, end: Math.max(first + 1, end) };
}

/** Returns the other span, as far as the service accepts it; `null` if all of it is before 1970. */
export function baseSpan({ start, end }: TimeSpan, base: Base, custom: TimeSpan | null): TimeSpan | null {
  if (base === "custom" && custom !== null) return custom;
  const shift = base === "1d" ? DAY : base === "7d" ? 7 * DAY : end - start;
  const last = end - shift;
  return last > 0 ? { start: Math.max(0, start - shift), end: last } : null;
}

/**
 * Reads the times of another span; `null` if they are missing, refused by the service or in the wrong order.
 * @param invalidParameters is given the names of those that are there and not used
 */
export function customSpan(
  params: URLSearchParams,
  names: readonly [from: string, to: string],
  invalidParameters: string[] = [],
): TimeSpan | null {
  const wrong: string[] = [];
  const [start, end] = names.map((name) => Date.parse(timeOf(params, name, wrong) ?? ""));
  const span = start !== undefined && end !== undefined && start < end ? { start, end } : null;
  if (span === null && wrong.length === 0) wrong.push(...names.filter((name) => params.has(name)));
  invalidParameters.push(...wrong);
  return span;
}

export function boundsOf({ start, end }: TimeSpan): { from: string; to: string } {
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** The view of the entries of one of both spans. */
export function spanView(query: string, span: TimeSpan): View {
  return viewOf(query, { kind: "between", ...boundsOf(span) });
}
