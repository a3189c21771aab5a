import { wallTime } from "./wall-time.ts";
import { timeFormat, zone } from "./zone.ts";

const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });
const SECONDS = timeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = timeFormat({ day: "numeric", month: "short" });

/**
 * Formats a tick of a time axis: the day at midnight or if ticks are days apart, otherwise the time, with seconds if
 * ticks are less than a minute apart.
 */
export function axisTime(ms: number, stepMs: number): string {
  const { hour, minute, second } = wallTime(ms, zone.value);
  const isMidnight = hour === 0 && minute === 0 && second === 0;
  if (isMidnight || stepMs >= 86_400_000) return DAY(ms);
  return (stepMs < 60_000 ? SECONDS : CLOCK)(ms);
}
