import { timeFormat } from "../lib/zone.ts";

const FULL = timeFormat({ dateStyle: "medium", timeStyle: "long" });

/** A time in the chosen time zone, which the full format names, with UTC in its title. */
export function Time({ at, format = FULL }: { at: string | number; format?: (time: Date) => string }) {
  const date = new Date(at);
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={`${iso} (UTC)`}>
      {format(date)}
    </time>
  );
}
