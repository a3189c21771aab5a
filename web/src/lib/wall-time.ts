/** A time of a calendar and a clock. */
export interface WallTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

let parts: { of: string; format: Intl.DateTimeFormat } | null = null;

/** Returns what calendar and clock of a zone show at a time. */
export function wallTime(ms: number, name: string): WallTime {
  if (parts?.of !== name) {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    parts = { of: name, format };
  }
  const found = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of parts.format.formatToParts(ms)) {
    if (type in found) found[type as keyof WallTime] = Number(value);
  }
  return found;
}

/**
 * Returns the time at which calendar and clock of a zone show this. A day of 32 is the first of the next month. A time that the
 * clock leaves out counts as if it had not.
 */
export function timeAt({ year, month, day, hour, minute, second }: WallTime, name: string): number {
  const wanted = Date.UTC(year, month - 1, day, hour, minute, second);
  let ms = wanted;
  // The offset is that of the time that is searched for.
  for (let round = 0; round < 2; round++) ms += wanted - asUtc(wallTime(ms, name));
  // West of Greenwich, the second round ends before a time that the clock leaves out: for midnight, on the day before.
  return ms + Math.max(0, wanted - asUtc(wallTime(ms, name)));
}

/** Returns the milliseconds by which the clock of a zone is ahead of UTC at a time. */
export function offsetAt(ms: number, name: string): number {
  return asUtc(wallTime(ms, name)) - Math.floor(ms / 1000) * 1000;
}

function asUtc({ year, month, day, hour, minute, second }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
