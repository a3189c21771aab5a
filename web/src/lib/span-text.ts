import { UNITS } from "./time-units.ts";
import { timeFormat } from "./zone.ts";

const OF_YEAR: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const THIS_YEAR = timeFormat(OF_YEAR);
const OTHER_YEAR = timeFormat({ ...OF_YEAR, year: "numeric" });
const YEAR = timeFormat({ year: "numeric" });
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });
const DAY = timeFormat({ dateStyle: "short" });

/** A minute, with the year if it is another one than today's. */
function minute(time: number): string {
  return (YEAR(time) === YEAR(Date.now()) ? THIS_YEAR : OTHER_YEAR)(time);
}

/** Formats a range in the chosen time zone. A range within one day names the day once. */
export function span(start: number, end: number): string {
  const sameDay = DAY(start) === DAY(end);
  return `${minute(start)} – ${sameDay ? CLOCK(end) : minute(end)}`;
}

/** Like `span`, for a range that may be open at its ends: `null`. */
export function openSpan(start: number | null, end: number | null): string {
  if (start === null) return end === null ? "All time" : `Before ${minute(end)}`;
  return end === null ? `Since ${minute(start)}` : span(start, end);
}

const MILLISECOND = { name: "millisecond", ms: 1 };

/** Says of which time a bar or a point is: `per 5 minutes`. @param ms whole milliseconds */
export function perSpan(ms: number): string {
  const unit = UNITS.find((each) => ms % each.ms === 0) ?? MILLISECOND;
  const count = ms / unit.ms;
  return count === 1 ? `per ${unit.name}` : `per ${count} ${unit.name}s`;
}
