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

/** A compact number: 1.2K. */
export function short(value: number): string {
  return SHORT.format(value);
}

export function entries(count: number): string {
  return `${number(count)} ${count === 1 ? "entry" : "entries"}`;
}

/** Formats a range in the local time zone. A range within one day names the day once. */
export function span(start: number, end: number): string {
  const sameDay = DAY.format(start) === DAY.format(end);
  return `${MINUTE.format(start)} – ${sameDay ? CLOCK.format(end) : MINUTE.format(end)}`;
}

/**
 * Formats a tick of a time axis: the day at midnight or if ticks are days apart, otherwise the time, with seconds if
 * ticks are less than a minute apart.
 */
export function axisTime(ms: number, stepMs: number): string {
  const date = new Date(ms);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (isMidnight || stepMs >= 86_400_000) return DAY.format(date);
  return (stepMs < 60_000 ? SECONDS : CLOCK).format(date);
}

export function rangeText(range: Range): string {
  if (range.kind === "all") return "All time";
  if (range.kind === "last") return PRESETS.find(({ name }) => name === range.preset)?.label ?? range.preset;
  const { from, to } = range;
  if (from === null) return `Before ${MOMENT.format(Date.parse(to ?? ""))}`;
  if (to === null) return `Since ${MOMENT.format(Date.parse(from))}`;
  return `${MOMENT.format(Date.parse(from))} – ${MOMENT.format(Date.parse(to))}`;
}
