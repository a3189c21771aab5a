import { timeAt, wallTime } from "../../../lib/wall-time.ts";

/**
 * Returns the indexes of entries that are of another day than the entry before, in either order. Finds the bounds of each day once:
 * the calendar of a zone costs a thousand times as much as a comparison, and a list may have 100,000 entries.
 * @param zone IANA name
 */
export function dayStarts(entries: readonly { timestamp: string }[], zone: string): number[] {
  const found: number[] = [];
  let [start, end] = ["", ""];
  for (const [index, { timestamp }] of entries.entries()) {
    // Timestamps of entries are in UTC, all in the same form.
    if (timestamp >= start && timestamp < end) continue;
    if (index > 0) found.push(index);
    [start, end] = dayOf(timestamp, zone);
  }
  return found;
}

function dayOf(timestamp: string, zone: string): [start: string, end: string] {
  const midnight = { ...wallTime(Date.parse(timestamp), zone), hour: 0, minute: 0, second: 0 };
  const at = (day: number): string => new Date(firstOf(timeAt({ ...midnight, day }, zone), zone)).toISOString();
  return [at(midnight.day), at(midnight.day + 1)];
}

/** Returns the first of two midnights, which the clock shows if it is turned back by an hour at 01:00; otherwise the time. */
function firstOf(ms: number, zone: string): number {
  const before = ms - 3_600_000;
  return wallTime(before, zone).hour === wallTime(ms, zone).hour ? before : ms;
}
