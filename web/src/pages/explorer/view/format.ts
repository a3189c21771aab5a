import { timeFormat } from "../../../lib/zone.ts";
import { lastLabel, type Range } from "./range.ts";

const NUMBER = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const SCALE = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });
const MOMENT = timeFormat({ dateStyle: "medium", timeStyle: "medium" });
const OF_YEAR: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const THIS_YEAR = timeFormat(OF_YEAR);
const OTHER_YEAR = timeFormat({ ...OF_YEAR, year: "numeric" });
const YEAR = timeFormat({ year: "numeric" });
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });
const SECOND = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const SECONDS = timeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = timeFormat({ dateStyle: "short" });

/** A minute, with the year if it is another one than today's. */
function minute(time: number): string {
  return (YEAR(time) === YEAR(Date.now()) ? THIS_YEAR : OTHER_YEAR)(time);
}

export function number(value: number): string {
  return NUMBER.format(value);
}

/** A compact number: 1.2K. */
export function short(value: number): string {
  return SHORT.format(value);
}

/** A number beside the scale of a drawing: 1.25K. Half of a rounded peak has three digits. */
export function scaleMark(value: number): string {
  return SCALE.format(value);
}

export function entries(count: number): string {
  return `${number(count)} ${count === 1 ? "entry" : "entries"}`;
}

/** Like `span`, with the seconds of a bar that is shorter than a minute. */
export function barSpan(start: number, end: number): string {
  return end - start < 60_000 ? `${SECOND(start)} – ${SECONDS(end)}` : span(start, end);
}

/** Formats a range in the chosen time zone. A range within one day names the day once. */
export function span(start: number, end: number): string {
  const sameDay = DAY(start) === DAY(end);
  return `${minute(start)} – ${sameDay ? CLOCK(end) : minute(end)}`;
}

/** A short text of a range, for a button. A range within one day names the day once. */
export function rangeLabel(range: Range): string {
  if (range.kind !== "between") return rangeText(range);
  const { from, to } = range;
  if (from === null) return `Before ${minute(Date.parse(to ?? ""))}`;
  return to === null ? `Since ${minute(Date.parse(from))}` : span(Date.parse(from), Date.parse(to));
}

export function rangeText(range: Range): string {
  if (range.kind === "all") return "All time";
  if (range.kind === "last") return lastLabel(range.preset);
  const { from, to } = range;
  if (from === null) return `Before ${MOMENT(Date.parse(to ?? ""))}`;
  if (to === null) return `Since ${MOMENT(Date.parse(from))}`;
  return `${MOMENT(Date.parse(from))} – ${MOMENT(Date.parse(to))}`;
}
