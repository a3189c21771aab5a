const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|[smhdw])/g;
const EPOCH_MS = /^\d{12,15}$/;
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Parses `90s`, `15m`, `1h30m` or `2d` to milliseconds; `null` if invalid. */
export function parseDuration(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let total = 0;
  for (const [, count, unit = ""] of text.matchAll(PART)) total += Number(count) * (UNITS[unit] ?? 0);
  return Math.round(total);
}

/**
 * Parses a time to epoch milliseconds: a duration before `now`, ISO 8601 (local time if it has no zone), or epoch
 * milliseconds; `null` if invalid.
 */
export function parseTime(text: string, now: number): number | null {
  if (text === "now") return now;
  const ago = parseDuration(text);
  if (ago !== null) return now - ago;
  if (EPOCH_MS.test(text)) return Number(text);
  const [, date = "", clock = "00:00", zone = ""] = ISO.exec(text) ?? [];
  const day = new Date(`${date}T00:00Z`);
  // `Date` reads 31 February as 3 March.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return null;
  const ms = Date.parse(`${date}T${clock}${zone.toUpperCase()}`);
  return Number.isNaN(ms) ? null : ms;
}

/** Formats a time as `2026-11-20 14:03:05.123`, local time. Returns an invalid time unchanged. */
export function formatTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${date} ${clock}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

/** Returns the name of the zone in which `formatTime` writes, such as `Europe/Vienna` or `UTC`. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Formats a duration as `0.5 s`, `12 s` or `3 min`. */
export function formatWait(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** Waits `ms` milliseconds, or until `signal` is aborted. Never rejects. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
