/** Times of syslog messages: RFC 3339, and the local times without a year of RFC 3164. */

import { type ReadTime, timeOfText } from "../shared/times.ts";

/** Reads a local time as epoch milliseconds. `local` is the time as if it were UTC. */
export type Zone = (local: number) => number;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Years to look back for 29 February. */
const LEAP_YEARS = 8;

const ISO_START = /^\d{4}-\d\d-\d\d[Tt]/;
const ISO_ZONE = /(?:[Zz]|[+-]\d\d:?\d\d)$/;

/** Reads an RFC 3339 time, `null` for any other text. A time without a zone is local. */
export function readIsoTime(text: string, zone: Zone): ReadTime | null {
  const read = ISO_START.test(text) ? timeOfText(text) : null;
  return read === null || ISO_ZONE.test(text) ? read : { ...read, time: zone(read.time) };
}

/** Parts of a time such as `Oct  9 22:14:15.123`. */
export interface LocalTimeParts {
  month: string;
  day: string;
  /** Mostly missing. */
  year: string | undefined;
  /** `HH:MM:SS`. */
  clock: string;
  fraction: string;
}

/**
 * Reads a local time. Without a year it is the latest such time that is not after tomorrow, because clocks may be ahead
 * and the zone may be unknown. Returns `null` if no such day exists.
 */
export function readLocalTime(parts: LocalTimeParts, zone: Zone, now: number): number | null {
  const month = MONTHS.indexOf(parts.month);
  const [hours = 0, minutes = 0, seconds = 0] = parts.clock.split(":").map(Number);
  const day = Number(parts.day);
  const milliseconds = parts.fraction === "" ? 0 : Number(`0.${parts.fraction}`) * 1000;
  if (month < 0 || hours > 23 || minutes > 59 || seconds > 60) return null;
  const timeIn = (year: number): number | null => {
    const date = new Date(Date.UTC(year, month, day));
    const isDay = date.getUTCMonth() === month && date.getUTCDate() === day;
    return isDay ? zone(Date.UTC(year, month, day, hours, minutes, seconds)) + milliseconds : null;
  };
  if (parts.year !== undefined) return timeIn(Number(parts.year));
  const thisYear = new Date(now).getUTCFullYear();
  for (let year = thisYear + 1; year > thisYear - LEAP_YEARS; year--) {
    const time = timeIn(year);
    if (time !== null && time <= now + DAY_MS) return time;
  }
  return null;
}

/**
 * Returns the zone of an offset (`+02:00`) or of a name (`Europe/Berlin`), `null` if the runtime has none of this name.
 * Names of zones cost some microseconds a call, so the last hour is remembered.
 */
export function zoneOf(name: string): Zone | null {
  if (/^[+-]\d\d:?\d\d$/.test(name)) return (local) => local - offsetMs(name);
  const offsetAt = namedOffset(name);
  if (offsetAt === null) return null;
  let hour = Number.NaN;
  let offset = 0;
  return (local) => {
    const localHour = Math.floor(local / HOUR_MS);
    if (localHour !== hour) {
      hour = localHour;
      // The first guess is off by an hour next to a change of the clocks. The second one is right where one is.
      offset = offsetAt(local - offsetAt(local));
    }
    return local - offset;
  };
}

export const utc: Zone = (local) => local;

function namedOffset(timeZone: string): ((time: number) => number) | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    return null;
  }
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    return name === "GMT" ? 0 : offsetMs(name.slice("GMT".length));
  };
}

function offsetMs(text: string): number {
  if (text.toUpperCase() === "Z") return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(-2));
  return (text.startsWith("-") ? -minutes : minutes) * 60_000;
}
