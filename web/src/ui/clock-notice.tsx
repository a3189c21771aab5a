import { clockAhead } from "../api/service-clock.ts";
import { UNITS } from "../lib/time-units.ts";
import css from "./shell.module.css";

/** Says that the clock of this device is wrong, because relative ranges follow it. */
export function ClockNotice() {
  const ahead = clockAhead.value;
  if (ahead === 0) return null;
  return (
    <div class={css.notice} role="status">
      The clock of this device is {roughly(Math.abs(ahead))} {ahead > 0 ? "ahead of" : "behind"} the service. Ranges
      such as the last 24 hours follow it, and are off by as much.
    </div>
  );
}

/** The largest unit of at least one, rounded: `3 hours`. @param ms at least a second */
function roughly(ms: number): string {
  const unit = UNITS.find((each) => ms >= each.ms) ?? UNITS[4];
  const count = Math.round(ms / unit.ms);
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}
