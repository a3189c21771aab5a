import { LEVEL_NAMES, type LevelName, type TimeValue } from "./syntax.ts";

/** Texts of numbers, durations, levels and times, and their values. */

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns `null` if the text is not a finite number as JSON writes it. */
export function parseNumber(text: string): number | null {
  if (!NUMBER.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

export function parseLevel(text: string): LevelName | null {
  const name = text.toLowerCase();
  return LEVEL_NAMES.find((level) => level === name) ?? null;
}

const UNITS = [
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;
const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS);
const DURATION = /^(?:\d{1,9}(?:ms|[wdhms]))+$/;
const DURATION_PART = /(\d+)(ms|[wdhms])/g;
/** A hundred years. */
const MAX_DURATION_MS = 3_155_760_000_000;

/** Returns the milliseconds of a duration such as `90s` or `1h30m`; `null` if the text is no duration, or is over 100 years. */
export function parseDuration(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let ms = 0;
  for (const [, count = "", unit = ""] of text.matchAll(DURATION_PART)) ms += Number(count) * (UNIT_MS.get(unit) ?? 0);
  return ms > 0 && ms <= MAX_DURATION_MS ? ms : null;
}

/** Returns a duration in its largest whole unit. */
export function printDuration(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

const TIME =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T_](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?(Z|[+-]\d\d:?\d\d)?)?)?)?)?$/i;
const MINUTE_MS = 60_000;

/**
 * Reads a date or time: `2026`, `2026-11`, `2026-11-22`, `2026-11-22T10`, `2026-11-22T10:30:15.250Z`. Times without a
 * zone are UTC. A text without smaller units is the whole period: a day, an hour.
 */
export function parseTime(text: string): TimeValue | null {
  const ms = parseDuration(text);
  if (ms !== null) return { kind: "ago", ms };
  const parts = TIME.exec(text);
  if (parts === null) return null;
  const [, year = "", month, day, hour, minute, second, fraction = "", zone = "Z"] = parts;
  const values = [year, month ?? "01", day ?? "01", hour ?? "00", minute ?? "00", second ?? "00"].map(Number);
  const [y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0] = values;
  const start = utc(y, mo, d, h, mi, s);
  const offset = zoneMinutes(zone);
  if (start === null || offset === null) return null;
  const from = start - offset * MINUTE_MS + Number(fraction.padEnd(3, "0"));
  return { kind: "period", from, to: from + span(y, mo, parts) };
}

/** Returns the milliseconds of the smallest unit of a time. @param parts those of `TIME` */
function span(year: number, number: number, [, , month, day, hour, minute, second, fraction]: RegExpExecArray): number {
  if (fraction !== undefined) return 10 ** (3 - fraction.length);
  if (second !== undefined) return 1000;
  if (minute !== undefined) return MINUTE_MS;
  if (hour !== undefined) return 60 * MINUTE_MS;
  if (day !== undefined) return 24 * 60 * MINUTE_MS;
  return (month === undefined ? Date.UTC(year + 1, 0) : Date.UTC(year, number)) - Date.UTC(year, number - 1);
}

/** Returns `null` if there is no such day or time. */
function utc(year: number, month: number, day: number, hour: number, minute: number, second: number): number | null {
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(ms);
  const isSame =
    year >= 1000 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour;
  return isSame && minute < 60 && second < 60 ? ms : null;
}

function zoneMinutes(zone: string): number | null {
  if (zone.toUpperCase() === "Z") return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  if (minutes > 14 * 60 || Number(zone.slice(-2)) > 59) return null;
  return zone.startsWith("-") ? -minutes : minutes;
}

/** Lengths of the ISO text of a time by precision, the coarsest first. */
const ISO_LENGTHS = [4, 7, 10, 13, 16, 19, 21, 22, 23] as const;

/** Returns the shortest text that `parseTime` reads as the value. */
export function printTime(time: TimeValue): string {
  if (time.kind === "ago") return printDuration(time.ms);
  const iso = new Date(time.from).toISOString();
  for (const length of ISO_LENGTHS) {
    const text = iso.slice(0, length);
    const read = parseTime(text);
    if (read?.kind === "period" && read.from === time.from && read.to === time.to) return text;
  }
  return iso;
}

/** Whether a text is a value that comparisons accept. */
export function isOrdered(text: string): boolean {
  return parseNumber(text) !== null || parseTime(text) !== null || parseLevel(text) !== null;
}

/** Whether two texts are levels, numbers or paths, both of the same kind, and so probably values of one field. */
export function isAlike(a: string, b: string): boolean {
  const kinds = [parseLevel, parseNumber, (text: string) => (text.startsWith("/") ? text : null)];
  return kinds.some((read) => read(a) !== null && read(b) !== null);
}
