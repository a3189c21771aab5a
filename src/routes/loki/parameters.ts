import { durationOf, floatOf } from "../../logql/units.ts";

/** A parameter that cannot be read. The message names it. */
export class InvalidParameter extends Error {
  constructor(name: string, message: string) {
    super(`${name}: ${message}`);
    this.name = "InvalidParameter";
  }
}

/** A time range of a request, epoch nanoseconds. */
export interface NanosecondRange {
  start: bigint;
  end: bigint;
}

const HOUR = 3_600_000_000_000n;
/** The last time that an entry can have, year 9999. */
const LAST = 253_402_300_799_999_000_000n;
const MAX_POINTS = 11_000;

/** Reads a time as Loki does: nanoseconds, seconds up to ten digits or with a fraction, or RFC 3339. */
export function timeOf(params: URLSearchParams, name: string, otherwise: bigint): bigint {
  const text = params.get(name) ?? "";
  if (text === "") return otherwise;
  const time = nanosecondsOf(text);
  if (time === null) throw new InvalidParameter(name, "must be nanoseconds, seconds or an RFC 3339 time.");
  return time < -LAST ? -LAST : time > LAST ? LAST : time;
}

function nanosecondsOf(text: string): bigint | null {
  if (/^-?[0-9]{1,20}$/.test(text)) return BigInt(text) * (text.length <= 10 ? 1_000_000_000n : 1n);
  if (/^-?[0-9]{0,12}\.[0-9]{1,12}$/.test(text)) {
    const seconds = Number(text);
    // As in Loki, a fraction has milliseconds.
    const whole = Math.trunc(seconds);
    return BigInt(whole) * 1_000_000_000n + BigInt(Math.round((seconds - whole) * 1000)) * 1_000_000n;
  }
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const whole = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (match === null || Number.isNaN(whole)) return null;
  return BigInt(whole) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** @param defaultSpan nanoseconds before the end at which the range begins without `start` and `since` */
export function rangeOf(params: URLSearchParams, now: bigint, defaultSpan = HOUR): NanosecondRange {
  const end = timeOf(params, "end", now);
  const until = end > now ? now : end;
  const since = params.get("since") ?? "";
  const span = since === "" ? defaultSpan : BigInt(Math.round(durationParameter("since", since)));
  const start = timeOf(params, "start", until - span);
  if (end < start) throw new InvalidParameter("end", "end timestamp must not be before or equal to start time");
  return { start, end };
}

/** Returns nanoseconds of a duration, or of seconds. */
function durationParameter(name: string, text: string): number {
  const seconds = floatOf(text);
  const duration = seconds === null ? durationOf(text, true) : seconds * 1e9;
  if (duration === null || !Number.isFinite(duration))
    throw new InvalidParameter(name, "must be a duration or seconds.");
  return duration;
}

/** Returns the milliseconds of `step`; by default 250 points, and at least a second. */
export function stepOf(params: URLSearchParams, { start, end }: NanosecondRange): number {
  const text = params.get("step") ?? "";
  const seconds = Math.max(1, Math.floor(Number(end - start) / 1e9 / 250));
  const step = text === "" ? seconds * 1000 : durationParameter("step", text) / 1e6;
  if (step <= 0)
    throw new InvalidParameter(
      "step",
      "zero or negative query resolution step widths are not accepted. Try a positive integer",
    );
  if (!Number.isInteger(step)) throw new InvalidParameter("step", "must be whole milliseconds.");
  if (Number(end - start) / 1e6 / step > MAX_POINTS) {
    const message = `exceeded maximum resolution of ${MAX_POINTS.toLocaleString("en-US")} points per time series. Try increasing the value of the step parameter`;
    throw new InvalidParameter("step", message);
  }
  return step;
}

/** Returns the milliseconds of `interval`; 0 without it. */
export function intervalOf(params: URLSearchParams): number {
  const text = params.get("interval") ?? "";
  const interval = text === "" ? 0 : durationParameter("interval", text) / 1e6;
  if (interval < 0) throw new InvalidParameter("interval", "must not be negative.");
  return interval;
}

export function limitOf(params: URLSearchParams, name: string, otherwise: number, max: number): number {
  const text = params.get(name) ?? "";
  if (text === "") return otherwise;
  const limit = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1) throw new InvalidParameter(name, "limit must be a positive value");
  if (limit > max)
    throw new InvalidParameter(
      name,
      `max entries limit per query exceeded, limit > max_entries_limit_per_query (${limit} > ${max})`,
    );
  return limit;
}

export function orderOf(params: URLSearchParams): "asc" | "desc" {
  const text = (params.get("direction") ?? "").toLowerCase();
  if (text === "" || text === "backward") return "desc";
  if (text === "forward") return "asc";
  throw new InvalidParameter("direction", `invalid direction '${text.slice(0, 40)}'`);
}

/** Returns the first millisecond that is not before a time. */
export function millisecondsFrom(nanoseconds: bigint): number {
  return Number(-floorMilliseconds(-nanoseconds));
}

/** Returns the millisecond that contains a time. */
export function millisecondOf(nanoseconds: bigint): number {
  return Number(floorMilliseconds(nanoseconds));
}

function floorMilliseconds(nanoseconds: bigint): bigint {
  const quotient = nanoseconds / 1_000_000n;
  return nanoseconds % 1_000_000n < 0n ? quotient - 1n : quotient;
}
