import { isTwelveHour } from "./zone.ts";

/** A time of day as it may be typed, in lower case and without the dots of `p.m.` */
const TYPED = /^(\d{1,2})(?:[:.h ]?([0-5]\d))? ?([ap]m?)?$/;

/**
 * Writes a time of day by the reader's clock: `22:30`, or `10:30 PM`. In English in every locale, so that it can be typed.
 * @param time `hh:mm` of 24 hours
 */
export function clockText(time: string): string {
  if (!isTwelveHour.value) return time;
  const [hours = "", minutes = ""] = time.split(":");
  return `${Number(hours) % 12 || 12}:${minutes} ${Number(hours) < 12 ? "AM" : "PM"}`;
}

/** Reads a typed time of day, by either clock, as `hh:mm` of 24 hours; `null` for any other text. Midnight may be `24:00`. */
export function readClock(text: string): string | null {
  const typed = text
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/([ap])\.\s?m\.?/g, "$1m");
  const [, hours, minutes = "00", half] = TYPED.exec(typed) ?? [];
  if (hours === undefined) return null;
  const typedHour = Number(hours);
  if (half !== undefined && (typedHour < 1 || typedHour > 12)) return null;
  const hour = half === undefined ? typedHour : (typedHour % 12) + (half.startsWith("p") ? 12 : 0);
  if (hour > 24 || (hour === 24 && minutes !== "00")) return null;
  return `${String(hour % 24).padStart(2, "0")}:${minutes}`;
}
