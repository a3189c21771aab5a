/** Times in which a rule decides and notifies no one. */

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** A time without notifications, epoch milliseconds: `from <= t < to`. */
export interface MutedSpan {
  from: number;
  to: number;
}

/** A time without notifications that recurs on days of the week. */
export interface MutedHours {
  /** Days on which it begins. */
  days: readonly Weekday[];
  /** Minutes since midnight, by the clock of the time zone. `end <= start`: it ends on the next day. */
  start: number;
  end: number;
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: string;
}

export type Mute = MutedSpan | MutedHours;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Milliseconds ahead that are looked at. Mutes that cover a week recur for ever. */
const HORIZON_MS = 8 * DAY_MS;

/** The last span without notifications that was found for some mutes, so that a thousand groups cost one search. */
const spans = new WeakMap<readonly Mute[], MutedSpan>();

/** Returns the end of the mutes that are in effect at a time, at most 8 days ahead; `null` if none is. */
export function mutedUntil(mutes: readonly Mute[], at: number): number | null {
  const known = spans.get(mutes);
  if (known !== undefined && known.from <= at && at < known.to) return known.to;
  let until = at;
  while (until <= at + HORIZON_MS) {
    const now = until;
    for (const mute of mutes) until = Math.max(until, endAfter(mute, now) ?? 0);
    if (until === now) break;
  }
  if (until === at) return null;
  spans.set(mutes, { from: at, to: until });
  return until;
}

/** Returns the end of a mute that is in effect at a time; `null` if it is not. */
function endAfter(mute: Mute, at: number): number | null {
  if ("from" in mute) return mute.from <= at && at < mute.to ? mute.to : null;
  const { days, start, end, timeZone } = mute;
  const length = end > start ? end - start : end - start + 24 * 60;
  const today = Math.floor(wallOf(at, timeZone) / DAY_MS) * DAY_MS;
  // A mute that began yesterday may last until now.
  for (const midnight of [today, today - DAY_MS]) {
    if (!days.includes(weekdayOf(midnight))) continue;
    const from = instantOf(midnight + start * MINUTE_MS, timeZone);
    const to = instantOf(midnight + (start + length) * MINUTE_MS, timeZone);
    if (from <= at && at < to) return to;
  }
  return null;
}

/** @param midnight of a day, by a clock that shows UTC */
function weekdayOf(midnight: number): Weekday {
  // 1970-01-01 was a Thursday.
  return WEEKDAYS[(Math.round(midnight / DAY_MS) + 3) % 7] ?? "mon";
}

/** Whether the runtime has a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Time zones whose clocks are kept, and times for which how far they are ahead is. */
const MAX_CLOCKS = 100;
const MAX_OFFSETS = 50_000;
const clocks = new Map<string, Intl.DateTimeFormat>();
/** By time zone and the beginning of a day or quarter of an hour; `clocks` takes microseconds for each. */
const offsets = new Map<string, Map<number, number>>();
let offsetCount = 0;

/** Clocks are changed at full quarters of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;

/** Returns what the clock of a time zone shows, as milliseconds of a clock that shows UTC. */
function wallOf(at: number, timeZone: string): number {
  const day = Math.floor(at / DAY_MS) * DAY_MS;
  const offset = offsetAt(day, timeZone);
  // On a day without a change of the clock, it is as far ahead at all times.
  if (offset === offsetAt(day + DAY_MS, timeZone)) return at + offset;
  return at + offsetAt(Math.floor(at / QUARTER_MS) * QUARTER_MS, timeZone);
}

/** Returns how many milliseconds the clock of a time zone is ahead of UTC. @param at a full second */
function offsetAt(at: number, timeZone: string): number {
  let known = offsets.get(timeZone);
  const offset = known?.get(at);
  if (offset !== undefined) return offset;
  if (offsetCount === MAX_OFFSETS) {
    offsets.clear();
    offsetCount = 0;
    known = undefined;
  }
  known ??= new Map();
  offsets.set(timeZone, known);
  const found = shownBy(clockOf(timeZone), at) - at;
  known.set(at, found);
  offsetCount++;
  return found;
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  if (clocks.size === MAX_CLOCKS) clocks.clear();
  const digits = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", second: "2-digit", ...digits });
  clocks.set(timeZone, clock);
  return clock;
}

function shownBy(clock: Intl.DateTimeFormat, at: number): number {
  const parts = new Map<string, number>(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: string) => parts.get(type) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

/** Returns when the clock of a time zone shows a time. In a gap of the clock: that long after the gap began. */
function instantOf(wall: number, timeZone: string): number {
  const first = wall - (wallOf(wall, timeZone) - wall);
  const second = wall - (wallOf(first, timeZone) - first);
  return wallOf(second, timeZone) === wall ? second : Math.max(first, second);
}
