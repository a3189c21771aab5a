import { openSpan, span } from "../../../lib/span-text.ts";
import { timeFormat } from "../../../lib/zone.ts";
import { lastLabel, type Range } from "./range.ts";

const NUMBER = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = timeFormat({ dateStyle: "medium", timeStyle: "medium" });
const SECOND = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const SECONDS = timeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });

export function number(value: number): string {
  return NUMBER.format(value);
}

/** A compact number: 1.2K. */
export function short(value: number): string {
  return SHORT.format(value);
}

export function entries(count: number): string {
  return `${number(count)} ${count === 1 ? "entry" : "entries"}`;
}

/** Like `span`, with the seconds of a bar that is shorter than a minute. */
export function barSpan(start: number, end: number): string {
  return end - start < 60_000 ? `${SECOND(start)} – ${SECONDS(end)}` : span(start, end);
}

/** A short text of a range, for a button. A range within one day names the day once. */
export function rangeLabel(range: Range): string {
  if (range.kind !== "between") return rangeText(range);
  const { from, to } = range;
  return openSpan(from === null ? null : Date.parse(from), to === null ? null : Date.parse(to));
}

export function rangeText(range: Range): string {
  if (range.kind === "all") return "All time";
  if (range.kind === "last") return lastLabel(range.preset);
  const { from, to } = range;
  if (from === null) return `Before ${MOMENT(Date.parse(to ?? ""))}`;
  if (to === null) return `Since ${MOMENT(Date.parse(from))}`;
  return `${MOMENT(Date.parse(from))} – ${MOMENT(Date.parse(to))}`;
}
