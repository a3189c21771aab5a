import type { Range } from "./range.ts";
import { PRESETS } from "./range.ts";

const NUMBER = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const MINUTE = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const SECONDS = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

export function number(value: number): string {
  return NUMBER.format(value);
}

/** A number where there is little room: 1.2K. */
export function short(value: number): string {
  return SHORT.format(value);
}

export function entries(count: number): string {
  return `${number(count)} ${count === 1 ? "entry" : "entries"}`;
}

/** A span of time in the local zone, its day named once where it is one. */
export function span(start: number, end: number): string {
  const sameDay = DAY.format(start) === DAY.format(end);
  return `${MINUTE.format(start)} – ${sameDay ? CLOCK.format(end) : MINUTE.format(end)}`;
}

/**
 * The time of a mark on an axis: a day where one begins or where marks are days apart, a time of day elsewhere, with
 * seconds where marks are closer than a minute.
 */
export function axisTime(ms: number, stepMs: number): string {
  const date = new Date(ms);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (isMidnight || stepMs >= 86_400_000) return DAY.format(date);
  return (stepMs < 60_000 ? SECONDS : CLOCK).format(date);
}

export function rangeText(range: Range): string {
  if (range.kind === "all") return "All that is kept";
  if (range.kind === "last") return PRESETS.find(({ name }) => name === range.preset)?.label ?? range.preset;
  const { from, to } = range;
  if (from === null) return `Before ${MOMENT.format(Date.parse(to ?? ""))}`;
  if (to === null) return `Since ${MOMENT.format(Date.parse(from))}`;
  return `${MOMENT.format(Date.parse(from))} – ${MOMENT.format(Date.parse(to))}`;
}
