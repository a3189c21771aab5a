/** Which time a view is about. A relative one moves with the clock each time it is loaded; an absolute one stays. */
export type Range =
  | { kind: "last"; preset: Preset }
  | { kind: "all" }
  /** ISO 8601; `from` inclusive, `to` exclusive. At least one of them. */
  | { kind: "between"; from: string | null; to: string | null };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Relative ranges: what a link calls them, what they are called on the page, and their milliseconds. */
export const PRESETS = [
  { name: "15m", label: "Last 15 minutes", ms: 15 * MINUTE },
  { name: "1h", label: "Last hour", ms: HOUR },
  { name: "6h", label: "Last 6 hours", ms: 6 * HOUR },
  { name: "24h", label: "Last 24 hours", ms: DAY },
  { name: "7d", label: "Last 7 days", ms: 7 * DAY },
  { name: "30d", label: "Last 30 days", ms: 30 * DAY },
] as const;

export type Preset = (typeof PRESETS)[number]["name"];

export const DEFAULT_RANGE: Range = { kind: "last", preset: "24h" };

/** A range at one moment. */
export interface Times {
  /** What to ask for; absent where there is no bound. */
  from?: string;
  to?: string;
  /** What a chart shows, in epoch milliseconds. */
  start: number;
  end: number;
}

/**
 * The range as it is now. A relative one begins at a whole minute, which costs the service nothing to count from, and has
 * no end: the newest entries count, also where the sender's clock or this one is wrong.
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

/** The longest time that entries are kept: no retention is longer. */
const LONGEST = 365 * DAY;

/**
 * A range of twice the length around the same middle, which does not reach into the future: there it ends openly, and what would
 * lie behind `now` lies before the rest. Past what can be kept at all, everything.
 */
export function wider({ start, end }: Times, now: number): Range {
  const length = Math.max(end - start, MINUTE);
  if (length > LONGEST) return { kind: "all" };
  const last = Math.round(end + length / 2);
  if (last < now) return between(Math.round(start - length / 2), last);
  return { kind: "between", from: new Date(Math.round(now - 2 * length)).toISOString(), to: null };
}

/** Whether what comes now may be in it. */
export function isOpen(range: Range): boolean {
  return range.kind !== "between" || range.to === null;
}

export function between(start: number, end: number): Range {
  return { kind: "between", from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** The range with its times fixed, for a link that shows the same tomorrow. */
export function fixed(range: Range, { start, end }: Times): Range {
  return range.kind === "last" ? between(start, end) : range;
}

function msOf(preset: Preset): number {
  return PRESETS.find(({ name }) => name === preset)?.ms ?? DAY;
}
