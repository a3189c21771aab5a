import { ISO_TIME, TimestampReader } from "../../logs/ingest/timestamp.ts";

/** A client's time. */
export interface ReadTime {
  /** Epoch milliseconds, perhaps with a fraction. */
  time: number;
  /** The time as sent, if it says more than whole milliseconds. */
  sent?: string | number;
}

/** Units of a number of time, in milliseconds. `any`: by magnitude. */
export type TimeUnit = "any" | "s" | "ms" | "us" | "ns";

/**
 * Bounds between the units: 1e11 s is the year 5138 and 1e11 ms is 1973, so no time of a log can be of two units.
 */
const SECONDS_BELOW = 1e11;
const MILLISECONDS_BELOW = 1e14;
const MICROSECONDS_BELOW = 1e17;
const DIVISORS = { ms: 1, us: 1_000, ns: 1_000_000 } as const;

function unitOf(value: number): Exclude<TimeUnit, "any"> {
  if (value < SECONDS_BELOW) return "s";
  if (value < MILLISECONDS_BELOW) return "ms";
  return value < MICROSECONDS_BELOW ? "us" : "ns";
}

/** Returns the time of a number since the epoch; `null` for one that is negative or not finite. */
export function timeOfNumber(value: number, unit: TimeUnit = "any"): ReadTime | null {
  if (!Number.isFinite(value) || value < 0) return null;
  const known = unit === "any" ? unitOf(value) : unit;
  // Seconds with a fraction have at most microseconds: a number has no digits left for more.
  const time = known === "s" ? Math.round(value * 1e6) / 1e3 : value / DIVISORS[known];
  return Number.isInteger(time) ? { time } : { time, sent: value };
}

const DIGITS = /^(\d{1,20})(?:\.(\d{1,20}))?$/;

/** Returns the time of decimal digits since the epoch, which a number could not hold exactly. */
function timeOfDigits(text: string, unit: TimeUnit): ReadTime | null {
  const match = DIGITS.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  const value = Number(whole);
  const known = unit === "any" ? unitOf(value) : unit;
  const shift = known === "s" ? 3 : 0;
  const ms = known === "s" ? Number(whole + fraction.padEnd(3, "0").slice(0, 3)) : Math.floor(value / DIVISORS[known]);
  const below = known === "s" ? fraction.slice(shift) : remainder(whole, known) + fraction;
  const part = below === "" ? 0 : Number(`0.${below}`);
  return part === 0 ? { time: ms } : { time: ms + part, sent: text };
}

/** The digits after the milliseconds. */
function remainder(whole: string, unit: "ms" | "us" | "ns"): string {
  const digits = unit === "ms" ? 0 : unit === "us" ? 3 : 6;
  return digits === 0 ? "" : whole.padStart(digits, "0").slice(-digits);
}

/** `2026-11-20T14:04:05` with what may follow: a fraction, a zone. */
const SECOND_LENGTH = 19;
const DASH = 0x2d;
const AFTER_SECOND = /^(?:[.,](\d{1,9}))?([Zz]|[+-]\d\d:?\d\d)?$/;
/** `2026/11/20 14:04:05`, of Go and of nginx. */
const SLASHES = /^(\d{4})\/(\d\d)\/(\d\d)([ T].*)$/;
/** `20/Nov/2026:14:04:05 +0000`, of the common log format. */
const COMMON_LOG = /^(\d\d)\/([A-Za-z]{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/;
/** `Fri, 20 Nov 2026 14:04:05 GMT` (RFC 5322), and without the day of the week. */
const MAIL_DATE = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|Z|[+-]\d{4})$/;

let second = "";
let zone = "";
let secondMs = 0;

/** Returns the time of a text, with the zone UTC if it names none; `null` if it is not a time. */
export function timeOfText(text: string, unit: TimeUnit = "any"): ReadTime | null {
  const iso = text.length >= SECOND_LENGTH && text.charCodeAt(4) === DASH ? timeOfIso(text) : null;
  if (iso !== null) return iso;
  const digits = timeOfDigits(text, unit);
  if (digits !== null) return digits;
  // A day, or a time to the minute.
  if (ISO_TIME.test(text)) return fromDate(new TimestampReader().read(text).ms);
  const slashes = SLASHES.exec(text);
  if (slashes !== null) return timeOfIso(`${slashes[1]}-${slashes[2]}-${slashes[3]}${slashes[4]}`);
  const common = COMMON_LOG.exec(text);
  if (common !== null) return fromDate(Date.parse(`${common[1]} ${common[2]} ${common[3]} ${common[4]} ${common[5]}`));
  return MAIL_DATE.test(text) ? fromDate(Date.parse(text)) : null;
}

function timeOfIso(text: string): ReadTime | null {
  const tail = AFTER_SECOND.exec(text.slice(SECOND_LENGTH));
  if (tail === null) return null;
  const [, fraction = "", sentZone = "Z"] = tail;
  const start = text.slice(0, SECOND_LENGTH);
  if (start !== second || sentZone !== zone) {
    if (!ISO_TIME.test(start)) return null;
    const offset = sentZone.length === 5 ? `${sentZone.slice(0, 3)}:${sentZone.slice(3)}` : sentZone.toUpperCase();
    const ms = Date.parse(`${start.slice(0, 10)}T${start.slice(11)}${offset}`);
    if (!(ms >= 0)) return null;
    second = start;
    zone = sentZone;
    secondMs = ms;
  }
  if (fraction === "") return { time: secondMs };
  const time = secondMs + Number(fraction.padEnd(3, "0").slice(0, 3));
  if (fraction.length <= 3 || /^0*$/.test(fraction.slice(3))) return { time };
  return { time: time + Number(`0.${fraction.slice(3)}`), sent: text };
}

function fromDate(ms: number): ReadTime | null {
  return ms >= 0 ? { time: ms } : null;
}

/** Returns the time of any value; `null` if it is not a time. */
export function timeOf(value: unknown, unit: TimeUnit = "any"): ReadTime | null {
  if (typeof value === "string") return timeOfText(value, unit);
  return typeof value === "number" ? timeOfNumber(value, unit) : null;
}
