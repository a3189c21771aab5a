const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Milliseconds between two times below a chart. */
const TICK_STEPS = [
  ...[1000, 5000, 15_000, 30_000, MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY],
];
const MAX_TICKS = 7;
/** Part of the range at its end in which a time has no room. */
const TICK_ROOM = 0.06;

/**
 * Returns times for the axis of a range: whole hours, minutes or days of a zone, at most 7.
 * @param offsetMs of the zone: local time minus UTC
 */
export function ticksOf(from: number, to: number, offsetMs: number): { times: number[]; stepMs: number } {
  const stepMs = TICK_STEPS.find((step) => (to - from) / step <= MAX_TICKS) ?? (to - from) / MAX_TICKS;
  const times: number[] = [];
  const last = to - (to - from) * TICK_ROOM;
  for (let at = Math.ceil((from + offsetMs) / stepMs) * stepMs - offsetMs; at <= last; at += stepMs) times.push(at);
  return { times, stepMs };
}
