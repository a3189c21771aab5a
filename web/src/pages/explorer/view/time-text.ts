import { timeAt, type WallTime, wallTime } from "../../../lib/wall-time.ts";
import { withPlainDate } from "./named-date.ts";
import { between, lastRange, type Range } from "./range.ts";

/** Time ranges as people write them: `last 90m`, `mon 14:00..15:00`, `2026-11-20..2026-11-22`, `Nov 20, 08:00 – 10:30`. */

export const EXAMPLES = "last 90m · yesterday 14:00..15:00 · since monday · 2026-11-20";

export type ReadTime = { ok: true; range: Range } | { ok: false; message: string };

/** A period: a day or a minute. */
interface Period {
  start: number;
  end: number;
  /** The day that its text names or means; `null` for a time without a calendar. */
  day: WallTime | null;
  isDay: boolean;
}

const UNITS: Readonly<Record<string, string>> = {
  second: "s",
  sec: "s",
  minute: "m",
  min: "m",
  hour: "h",
  hr: "h",
  day: "d",
  week: "w",
};

/** What divides two times: a hyphen without spaces only after a time of day, and not the one of an offset: `t10:00-05:00`. */
const BETWEEN = /\.\.| ?[–—] ?| - | to |(?<!t[\d:.]+)(?<=:\d\d(?: ?[ap]m)?|\d[ap]m)-(?=\d)/;

/**
 * Reads a time range in a zone. What begins with a time of day or a day of the week without a date means its last
 * occurrence: entries of the future are rare.
 */
export function readTimeText(text: string, now: number, zone: string): ReadTime {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, " ");
  if (words === "all" || words === "all time") return { ok: true, range: { kind: "all" } };
  const last = lastOfWords(words);
  if (last !== null) return { ok: true, range: last };
  const [, side = "", rest = ""] = /^(?:(since|from|after|before|until) )(.+)$/.exec(words) ?? [];
  if (side !== "") {
    const period = periodOf(rest, { now, zone, after: null });
    if (period === null) return unknown(rest);
    const start = new Date(period.start).toISOString();
    const isStart = side === "since" || side === "from" || side === "after";
    return { ok: true, range: { kind: "between", from: isStart ? start : null, to: isStart ? null : start } };
  }
  const [first = "", second, ...others] = words.split(BETWEEN);
  const start = periodOf(first, { now, zone, after: null });
  if (start === null || others.length > 0) return unknown(others.length > 0 ? words : first);
  // The second time is one of the day of the first.
  const end = second === undefined ? start : periodOf(second, { now, zone, after: start.day });
  if (end === null) return unknown(second ?? "");
  // `14:00..15:00` ends at three; the end of a day is its midnight.
  const sameDay = second === undefined || end.isDay ? end.end : end.start;
  const stop = sameDay <= start.start ? (nextDay(second ?? "", start, { now, zone }) ?? sameDay) : sameDay;
  if (stop <= start.start) return { ok: false, message: "The end is not after the start." };
  // What has not ended yet goes on.
  if (stop > now && second === undefined) {
    return { ok: true, range: { kind: "between", from: new Date(start.start).toISOString(), to: null } };
  }
  return { ok: true, range: between(start.start, stop) };
}

/**
 * Reads one time as `readTimeText` reads those of a range, such as `2026-11-20 22:00`, but `22:00` of today and the next
 * `monday` or `nov 30`, because it may be one of the future; `null` for any other text.
 */
export function readMoment(text: string, now: number, zone: string): number | null {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, " ");
  return periodOf(words, { now, zone, after: null, isPast: false })?.start ?? null;
}

/** Returns the time of day at the end of `22:00..02:00`, after midnight; `null` for other texts and before that time. */
function nextDay(text: string, { day }: Period, { now, zone }: Pick<Meaning, "now" | "zone">): number | null {
  const clock = clockOf(text);
  const end = clock === null || day === null ? now : timeAt({ ...later(day, 1), ...clock }, zone);
  return end < now ? end : null;
}

/** Writes a time as it can be read, to the second. */
export function writtenTime(ms: number, zone: string): string {
  const { year, month, day, hour, minute, second } = wallTime(ms, zone);
  const two = (value: number): string => String(value).padStart(2, "0");
  const seconds = second === 0 ? "" : `:${two(second)}`;
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}${seconds}`;
}

function unknown(text: string): ReadTime {
  return { ok: false, message: text === "" ? "A time is missing." : `“${text}” is no time.` };
}

/** `90m`, `last 90 minutes`, `past 2 days`, `last hour`. */
function lastOfWords(words: string): Range | null {
  const [, digits, unit = ""] = /^(?:(?:last|past) )?(\d+) ?([a-z]+)$/.exec(words) ?? [];
  if (digits !== undefined) return lastRange(`${digits}${UNITS[unit.replace(/s$/, "")] ?? unit}`);
  const [, alone = ""] = /^(?:last|past) ([a-z]+)$/.exec(words) ?? [];
  return alone === "" ? null : lastRange(`1${UNITS[alone] ?? ""}`);
}

const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const CLOCK = /^(\d{1,2})(?::(\d{2})(?::(\d{2})(?:\.\d+)?)?)? ?(am|pm)?$/;

interface Meaning {
  now: number;
  zone: string;
  /** The day of the range's start, which the text continues; `null`: the text starts a range. */
  after: WallTime | null;
  /** Whether a day without a year or a date means its last occurrence, in place of the next one. */
  isPast?: boolean;
}

function periodOf(text: string, { now, zone, after, isPast = true }: Meaning): Period | null {
  if (text === "now") return { start: now, end: now, day: null, isDay: false };
  if (/^\d{12,14}$/.test(text)) return { start: Number(text), end: Number(text) + 1, day: null, isDay: false };
  if (/^\d{4}-\d\d-\d\dt.*(?:z|[+-]\d\d:?\d\d)$/.test(text)) {
    const start = Date.parse(text.toUpperCase());
    return Number.isNaN(start) ? null : { start, end: start + 60_000, day: null, isDay: false };
  }
  const today = wallTime(now, zone);
  const plain = withPlainDate(text, today, isPast ? after : today);
  const [one = "", two, ...others] = plain.replace(/(\d)t(\d)/, "$1 $2").split(/ (?!am|pm)/);
  if (others.length > 0) return null;
  const named = dayOf(one, midnight(today), after);
  if (two === undefined && named !== null) {
    const day = !isPast && named.every !== null ? later(named.day, named.every) : named.day;
    return { start: timeAt(day, zone), end: timeAt(later(day, 1), zone), day, isDay: true };
  }
  const clock = clockOf(two ?? one);
  if (clock === null || (two !== undefined && named === null)) return null;
  const { day, every } = named ?? { day: after ?? midnight(today), every: isPast && after === null ? 1 : null };
  const at = (date: WallTime): Period => {
    const start = timeAt({ ...date, ...clock }, zone);
    return { start, end: start + 60_000, day: date, isDay: false };
  };
  const found = at(day);
  if (every === null || found.start > now !== isPast) return found;
  return at(later(day, isPast ? -every : every));
}

/** A day, and after how many days its name comes again; `null` for a date. */
interface NamedDay {
  day: WallTime;
  every: number | null;
}

/** @param today its midnight */
function dayOf(text: string, today: WallTime, after: WallTime | null): NamedDay | null {
  if (text === "today") return { day: today, every: null };
  if (text === "yesterday") return { day: later(today, -1), every: null };
  if (text === "tomorrow") return { day: later(today, 1), every: null };
  const weekday = weekdayOf(text);
  if (weekday !== null) {
    // The last one until today, or the next one from the day of the start.
    const back = (weekdayNumber(today) - weekday + 7) % 7;
    if (after === null) return { day: later(today, -back), every: 7 };
    return { day: later(after, (weekday - weekdayNumber(after) + 7) % 7), every: null };
  }
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return null;
  const date = { year: Number(year), month: Number(month), day: Number(day), hour: 0, minute: 0, second: 0 };
  const there = new Date(Date.UTC(date.year, date.month - 1, date.day));
  const isThere = there.getUTCMonth() + 1 === date.month && there.getUTCDate() === date.day;
  return isThere ? { day: date, every: null } : null;
}

/** The browser's locale, and what is typed in English wherever. */
const LOCALES: readonly (string | undefined)[] = [undefined, "en-US"];

/** A Sunday, noon UTC. */
const SUNDAY = Date.UTC(2026, 10, 22, 12);
const DAY = 24 * 60 * 60 * 1000;
/** Letters that tell the days of a week apart: `mon`, `tues`. */
const FEWEST_LETTERS = 3;

/**
 * Reads the name of a day of the week, or its first letters.
 * @param text in lower case
 * @returns 0 for Sunday to 6; `null` for other texts
 */
export function weekdayOf(text: string, locales = LOCALES): number | null {
  const typed = text.replace(/\.$/, "");
  for (const locale of locales) {
    for (const weekday of ["long", "short"] as const) {
      const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" });
      for (let day = 0; day < 7; day++) {
        const name = format
          .format(SUNDAY + day * DAY)
          .toLowerCase()
          .replace(/\.$/, "");
        const isStart = weekday === "long" && typed.length >= FEWEST_LETTERS && name.startsWith(typed);
        if (name === typed || isStart) return day;
      }
    }
  }
  return null;
}

function weekdayNumber({ year, month, day }: WallTime): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

/** Midnight some days later, or earlier. */
function later({ year, month, day }: WallTime, days: number): WallTime {
  // The calendar carries over: day 0 is the last of the month before.
  const date = new Date(Date.UTC(year, month - 1, day + days));
  return {
    ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
    ...{ hour: 0, minute: 0, second: 0 },
  };
}

function midnight(date: WallTime): WallTime {
  return { ...date, hour: 0, minute: 0, second: 0 };
}

function clockOf(text: string): Pick<WallTime, "hour" | "minute" | "second"> | null {
  const [, hours, minutes, seconds, half] = CLOCK.exec(text) ?? [];
  if (hours === undefined || (minutes === undefined && half === undefined)) return null;
  const isPm = half === "pm";
  if (half !== undefined && (Number(hours) < 1 || Number(hours) > 12)) return null;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (isPm ? 12 : 0);
  const [minute, second] = [Number(minutes ?? 0), Number(seconds ?? 0)];
  return hour <= 24 && minute < 60 && second < 60 ? { hour, minute, second } : null;
}
