/** How long the work of an entry took, and from when until when, as far as its `data` states it. */

/** Names of members of `data` with their unit in milliseconds, by precedence. Names are compared without case, `_` and `-`. */
const DURATIONS: readonly (readonly [name: string, unitMs: number])[] = [
  ["durationms", 1],
  ["elapsedms", 1],
  ["latencyms", 1],
  ["tookms", 1],
  ["responsetimems", 1],
  ["durationns", 1e-6],
  ["durationnano", 1e-6],
  ["durationus", 1e-3],
  ["durationmicros", 1e-3],
  ["durationseconds", 1000],
  ["durations", 1000],
  ["elapsedseconds", 1000],
  ["duration", 1],
  ["elapsed", 1],
  ["latency", 1],
  ["took", 1],
  ["responsetime", 1],
  ["ms", 1],
];

const STARTS = ["starttimeunixnano", "startedat", "starttime", "start"] as const;
const ENDS = ["endtimeunixnano", "endedat", "endtime", "end"] as const;

/** Units of durations as text, `1.5s`, in milliseconds. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const TEXT = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)\s*$/;

/** Durations above this are of something else than one piece of work. */
const LONGEST_MS = 30 * 86_400_000;

type Data = Readonly<Record<string, unknown>>;

/** Returns the milliseconds that an entry took; `null` if it states none. A number without a unit in its name is milliseconds. */
export function durationOf(data: Data): number | null {
  const members = membersOf(data);
  for (const [name, unitMs] of DURATIONS) {
    const ms = msOf(members.get(name), unitMs);
    if (ms !== null && ms >= 0 && ms <= LONGEST_MS) return ms;
  }
  return null;
}

/** Returns the stated times of start and end in epoch milliseconds; `null` where there is none. */
export function statedTimes(data: Data): { start: number | null; end: number | null } {
  const members = membersOf(data);
  const first = (names: readonly string[]) =>
    names.reduce<number | null>((found, name) => found ?? timeOf(members.get(name)), null);
  return { start: first(STARTS), end: first(ENDS) };
}

function membersOf(data: Data): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(data).map(([name, value]) => [name.toLowerCase().replaceAll(/[_-]/g, ""), value]));
}

function msOf(value: unknown, unitMs: number): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value * unitMs : null;
  if (typeof value !== "string") return null;
  const [, amount = "", unit = ""] = TEXT.exec(value) ?? [];
  return amount === "" ? null : Number(amount) * (UNITS[unit] ?? 1);
}

/** Earliest and latest time that a member is read as, epoch milliseconds: 2001 to 2100. */
const EARLIEST = 978_307_200_000;
const LATEST = 4_102_444_800_000;

/** Reads ISO 8601, and epoch numbers by their size: milliseconds, microseconds or nanoseconds. */
function timeOf(value: unknown): number | null {
  if (typeof value === "string" && !/^\d{13,20}$/.test(value)) {
    // A date alone or a number of another meaning is no time.
    const ms = /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value) ? Date.parse(value) : Number.NaN;
    return ms >= EARLIEST && ms <= LATEST ? ms : null;
  }
  if (typeof value !== "number" && typeof value !== "string") return null;
  const ms = [1, 1e3, 1e6].map((unit) => Number(value) / unit).find((each) => each >= EARLIEST && each <= LATEST);
  return ms ?? null;
}
