/** Durations and sizes as LogQL writes them. Durations are nanoseconds. */

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  "\u00b5s": 1e3,
  "\u03bcs": 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
  d: 86_400e9,
  w: 7 * 86_400e9,
  y: 365 * 86_400e9,
};
const SHORT_UNITS: ReadonlySet<string> = new Set(["ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h"]);
const PART = /([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([a-z\u00b5\u03bc]+)/gy;

/**
 * Returns the nanoseconds of a duration such as `1h30m`; `null` for other texts.
 * @param hasDays whether `d`, `w` and `y` are units: they are in queries, and in values of labels they are not
 */
export function durationOf(text: string, hasDays: boolean): number | null {
  const isNegative = text.startsWith("-");
  const digits = isNegative || text.startsWith("+") ? text.slice(1) : text;
  if (digits === "0") return 0;
  let total = 0;
  PART.lastIndex = 0;
  let end = 0;
  while (end < digits.length) {
    const match = PART.exec(digits);
    if (match === null) return null;
    const [, number = "", unit = ""] = match;
    const size = hasDays || SHORT_UNITS.has(unit) ? NANOSECONDS[unit] : undefined;
    if (size === undefined) return null;
    total += Number(number) * size;
    end = PART.lastIndex;
  }
  if (digits === "" || !Number.isFinite(total)) return null;
  return isNegative ? -total : total;
}

const BYTES: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  pb: 1e15,
  eb: 1e18,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
  pib: 1024 ** 5,
  eib: 1024 ** 6,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  p: 1e15,
  e: 1e18,
  ki: 1024,
  mi: 1024 ** 2,
  gi: 1024 ** 3,
  ti: 1024 ** 4,
  pi: 1024 ** 5,
  ei: 1024 ** 6,
};

/** Returns the bytes of a size such as `1.5KB` or `20 MiB`; `null` for other texts. */
export function bytesOf(text: string): number | null {
  const match = /^([0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)$/.exec(text);
  if (match === null) return null;
  const size = BYTES[match[2]?.toLowerCase() ?? ""];
  return size === undefined ? null : Math.floor(Number(match[1]?.replaceAll(",", "")) * size);
}

const FLOAT = /^[+-]?(?:(?:[0-9][0-9_]*)?\.?[0-9]*(?:[eE][+-]?[0-9]+)?)$/;

/** Returns a number as Go reads it; `null` for other texts. */
export function floatOf(text: string): number | null {
  const word = text.replace(/^[+-]/, "").toLowerCase();
  if (word === "inf" || word === "infinity") return text.startsWith("-") ? -Infinity : Infinity;
  if (word === "nan") return Number.NaN;
  if (!FLOAT.test(text) || !/[0-9]/.test(text) || text.includes("_")) return null;
  const number = Number(text);
  return Number.isNaN(number) ? null : number;
}

/** Units of a printed duration, the largest first. */
const PRINTED = [
  ["w", 7 * 86_400e9],
  ["d", 86_400e9],
  ["h", 3600e9],
  ["m", 60e9],
  ["s", 1e9],
  ["ms", 1e6],
  ["us", 1e3],
  ["ns", 1],
] as const;

/** Writes a duration, such as `1h30m`. */
export function printDuration(nanoseconds: number): string {
  if (nanoseconds < 0) return `-${printDuration(-nanoseconds)}`;
  let left = Math.round(nanoseconds);
  let text = "";
  for (const [unit, size] of PRINTED) {
    const count = Math.floor(left / size);
    if (count === 0) continue;
    text += `${count}${unit}`;
    left -= count * size;
  }
  return text || "0s";
}
