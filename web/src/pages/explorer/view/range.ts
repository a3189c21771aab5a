import { UNITS, unitOf } from "../../../lib/time-units.ts";

/** The time range of a view. A relative range moves with the clock at each load; an absolute one is fixed. */
export type Range =
  /** A number of seconds, minutes, hours, days or weeks: `15m`, `90m`. */
  | { kind: "last"; preset: string }
  | { kind: "all" }
  /** ISO 8601; `from` inclusive, `to` exclusive. At least one of them is set. */
  | { kind: "between"; from: string | null; to: string | null };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Relative ranges: name in a link, label and milliseconds. */
export const PRESETS = [
  { name: "15m", label: "Last 15 minutes", ms: 15 * MINUTE },
  { name: "1h", label: "Last hour", ms: HOUR },
  { name: "6h", label: "Last 6 hours", ms: 6 * HOUR },
  { name: "24h", label: "Last 24 hours", ms: DAY },
  { name: "7d", label: "Last 7 days", ms: 7 * DAY },
  { name: "30d", label: "Last 30 days", ms: 30 * DAY },
] as const;

export const DEFAULT_RANGE: Range = { kind: "last", preset: "24h" };

/** The longest range, which is the longest retention. */
const LONGEST = 365 * DAY;

/** Returns the relative range of a duration such as `90m`; `null` for other texts and durations over a year. */
export function lastRange(text: string): Extract<Range, { kind: "last" }> | null {
  const ms = durationOf(text);
  return ms === null ? null : { kind: "last", preset: text };
}

function durationOf(text: string): number | null {
  const [, digits, letter] = /^([1-9]\d{0,3})([smhdw])$/.exec(text) ?? [];
  const ms = Number(digits) * (unitOf(letter)?.ms ?? Number.NaN);
  return ms <= LONGEST ? ms : null;
}

/** Returns the relative range of a length: in the largest unit that fits, otherwise rounded up. */
export function lastOf(ms: number): Range {
  const units = UNITS.filter(({ letter }) => letter !== "w");
  const exact = units.find((each) => ms >= each.ms && ms % each.ms === 0);
  const fit = [exact, ...units.toReversed()].find((each) => each !== undefined && ms / each.ms < 10_000);
  return fit === undefined ? { kind: "all" } : { kind: "last", preset: `${Math.ceil(ms / fit.ms)}${fit.letter}` };
}

/** Label of a relative range: `Last 90 minutes`. */
export function lastLabel(preset: string): string {
  const known = PRESETS.find(({ name }) => name === preset);
  if (known !== undefined) return known.label;
  const [, digits = "", letter] = /^(\d+)(\w)$/.exec(preset) ?? [];
  const name = unitOf(letter)?.name ?? "";
  return digits === "1" ? `Last ${name}` : `Last ${Number(digits).toLocaleString()} ${name}s`;
}

/** A range, resolved at one moment. */
export interface Times {
  /** Bounds of the query; absent if the range is open. */
  from?: string;
  to?: string;
  /** Bounds of the chart in epoch milliseconds. */
  start: number;
  end: number;
}

/**
 * Resolves a range. A relative range starts at a whole minute, so that the service can count from summaries, and has no
 * end, so that entries of senders with a fast clock are included.
 */
export function timesOf(range: Range, now: number, retentionDays: number): Times {
  switch (range.kind) {
    case "last": {
      const start = Math.floor((now - msOf(range.preset)) / MINUTE) * MINUTE;
      return { from: new Date(start).toISOString(), start, end: now };
    }
    case "all":
      return { start: Math.floor((now - retentionDays * DAY) / MINUTE) * MINUTE, end: now };
    case "between": {
      const { from, to } = range;
      const end = to === null ? now : Date.parse(to);
      const start = from === null ? Math.min(end, now) - retentionDays * DAY : Date.parse(from);
      return {
        ...(from === null ? {} : { from }),
        ...(to === null ? {} : { to }),
        start,
        end: Math.max(end, start + 1),
      };
    }
  }
}

/** Doubles a range. A relative range stays one, so that it ends now. */
export function zoomedOut(range: Range, times: Times, now: number): Range {
  if (range.kind !== "last") return wider(times, now);
  const ms = msOf(range.preset) * 2;
  return ms > LONGEST ? { kind: "all" } : lastOf(ms);
}

/**
 * Doubles a range around its middle. A range that would reach into the future gets no end and starts earlier instead. A
 * range longer than the retention becomes all time.
 */
export function wider({ start, end }: Times, now: number): Range {
  const length = Math.max(end - start, MINUTE);
  if (length > LONGEST) return { kind: "all" };
  const last = Math.round(end + length / 2);
  if (last < now) return between(Math.round(start - length / 2), last);
  return { kind: "between", from: new Date(Math.round(now - 2 * length)).toISOString(), to: null };
}

/** The first millisecond that the service refuses: the year 10,000. */
const ACCEPTED_BEFORE = 253_402_300_800_000;

/** Whether the service accepts a time in epoch milliseconds: from 1970 to 9999. */
export function isAccepted(ms: number): boolean {
  return ms >= 0 && ms < ACCEPTED_BEFORE;
}

/** Whether new entries may be in the range. */
export function isOpen(range: Range): boolean {
  return range.kind !== "between" || range.to === null;
}

export function between(start: number, end: number): Range {
  return { kind: "between", from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** Fixes the times of a range, for a link that always shows the same. */
export function fixed(range: Range, { start, end }: Times): Range {
  return range.kind === "last" ? between(start, end) : range;
}

function msOf(preset: string): number {
  return durationOf(preset) ?? DAY;
}
