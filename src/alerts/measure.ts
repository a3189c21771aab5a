import { hashOf } from "../logs/aggregate/distinct.ts";
import { PERCENTILES, PERMILLES } from "../logs/aggregate/plan.ts";
import { bucketOf, middleOf } from "../logs/aggregate/sketch.ts";
import { toByteString } from "../logs/query/case-folding.ts";
import { addTerm, sumOf } from "./exact-terms.ts";
import type { Reading } from "./rule.ts";

/** What rules compute of a field's values, and the states by which steps of a window add up to it. */

export const MEASURE_FUNCTIONS = ["count_distinct", "sum", "avg", "min", "max", ...PERCENTILES] as const;

export type MeasureFunction = (typeof MEASURE_FUNCTIONS)[number];

type Family = "distinct" | "sum" | "extreme" | "percentile";

/**
 * The values of one step. Plain data. `numbers` are
 * - sum, avg: doubles whose exact sum is the sum of the values,
 * - min, max: one number,
 * - percentiles: the values (level 0), or pairs of a sketch's key and a count in order of key (level 1),
 * - count_distinct: hashes that end with at least `level` zero bits.
 */
export interface Part {
  numbers: readonly number[];
  level: number;
}

/** Values of a step that percentiles keep as they are. More are counted by the buckets of a sketch. */
export const EXACT_VALUES = 64;
/** Numbers from this size on are not added, so that no sum exceeds a double. */
export const MAX_NUMBER = 2 ** 960;
/** Separates keys of positive and negative values of a sketch. Buckets are between -36,000 and 36,000. */
const KEY_OFFSET = 100_000;
/** Bits of a hash that a number holds without loss. */
const HASH_LOW_BITS = 21;

export function familyOf(fn: MeasureFunction): Family {
  switch (fn) {
    case "count_distinct":
      return "distinct";
    case "sum":
    case "avg":
      return "sum";
    case "min":
    case "max":
      return "extreme";
    default:
      return "percentile";
  }
}

/** Returns what a measure takes of a value: a number or the hash of a scalar; `null`: the value does not count. */
export function takenOf(fn: MeasureFunction, value: unknown): number | null {
  if (fn !== "count_distinct") return typeof value === "number" && Math.abs(value) < MAX_NUMBER ? value + 0 : null;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return null;
  const { a, b } = hashOf(toByteString(JSON.stringify(value)));
  return (a >>> 0) * 2 ** HASH_LOW_BITS + ((b >>> 0) & (2 ** HASH_LOW_BITS - 1));
}

/** Adds values to a part. `null` is the part of no values. */
export function withValues(fn: MeasureFunction, part: Part | null, values: readonly number[]): Part {
  return joined(fn, part, { numbers: values, level: 0 });
}

/** Adds a part, or values, to another part. @param more values as they are have the level 0 */
export function joined(fn: MeasureFunction, part: Part | null, more: Part): Part {
  const { numbers, level } = part ?? { numbers: [], level: 0 };
  switch (familyOf(fn)) {
    case "sum": {
      const terms = [...numbers];
      for (const value of more.numbers) addTerm(terms, value);
      return { numbers: terms, level: 0 };
    }
    case "extreme": {
      let [best] = numbers;
      for (const value of more.numbers)
        if (best === undefined || (fn === "min" ? value < best : value > best)) best = value;
      return { numbers: best === undefined ? [] : [best], level: 0 };
    }
    case "percentile": {
      if (level === 0 && more.level === 0 && numbers.length + more.numbers.length <= EXACT_VALUES)
        return { numbers: [...numbers, ...more.numbers], level: 0 };
      const counts = new Map<number, number>();
      addCounts(counts, { numbers, level });
      addCounts(counts, more);
      return { numbers: [...counts].sort(([a], [b]) => a - b).flat(), level: 1 };
    }
    case "distinct": {
      const atLevel = Math.max(level, more.level);
      const hashes = new Set(atLevel > level ? numbers.filter((hash) => isAtLevel(hash, atLevel)) : numbers);
      for (const hash of more.numbers) if (isAtLevel(hash, atLevel)) hashes.add(hash);
      return { numbers: [...hashes], level: atLevel };
    }
  }
}

/** Whether a hash is kept at a level: each level halves the number of hashes. */
export function isAtLevel(hash: number, level: number): boolean {
  return level === 0 || hash % 2 ** level === 0;
}

/** Numbers that a part holds, as `ALERT_LIMITS.groupCells` counts them. */
export function cellsOf(fn: MeasureFunction | null, part: Part | null): number {
  return fn === null || part === null ? 0 : cellsOfPart(fn, part.numbers.length, part.level);
}

/** Returns what `cellsOf` does of a part with so many numbers. */
export function cellsOfPart(fn: MeasureFunction, numbers: number, level: number): number {
  const family = familyOf(fn);
  if (family === "distinct") return numbers;
  return family === "percentile" ? numbers / (level + 1) : 0;
}

/**
 * Returns what a measure has in a window.
 * @param count values of all steps
 * @param parts of the steps
 */
export function readingOf(fn: MeasureFunction, count: number, parts: readonly Part[]): Reading {
  switch (familyOf(fn)) {
    case "sum": {
      const sum = sumOf(parts.map(({ numbers }) => numbers));
      return { count, value: fn === "sum" ? sum : count === 0 ? null : sum / count, isExact: true };
    }
    case "extreme": {
      const { numbers } = parts.reduce<Part>((all, part) => joined(fn, all, part), { numbers: [], level: 0 });
      return { count, value: numbers[0] ?? null, isExact: true };
    }
    case "percentile":
      return percentileOf(permilleOf(fn), count, parts);
    case "distinct": {
      const level = parts.reduce((most, part) => Math.max(most, part.level), 0);
      const hashes = new Set<number>();
      for (const { numbers } of parts) for (const hash of numbers) if (isAtLevel(hash, level)) hashes.add(hash);
      return { count, value: hashes.size * 2 ** level, isExact: level === 0 };
    }
  }
}

function permilleOf(fn: MeasureFunction): number {
  // SAFETY: percentiles are what `familyOf` has not named otherwise.
  return PERMILLES[fn as keyof typeof PERMILLES];
}

function percentileOf(permille: number, count: number, parts: readonly Part[]): Reading {
  const isExact = parts.every(({ level }) => level === 0);
  if (count === 0) return { count, value: null, isExact };
  const rank = Math.max(1, Math.ceil((count * permille) / 1000));
  if (isExact) {
    const values = Float64Array.from(parts.flatMap(({ numbers }) => numbers)).sort();
    return { count, value: values[rank - 1] ?? null, isExact };
  }
  const counts = new Map<number, number>();
  for (const part of parts) addCounts(counts, part);
  let left = rank;
  for (const key of Float64Array.from(counts.keys()).sort()) {
    left -= counts.get(key) ?? 0;
    if (left <= 0) return { count, value: valueOfKey(key), isExact };
  }
  return { count, value: null, isExact };
}

function addCounts(counts: Map<number, number>, { numbers, level }: Part): void {
  const add = (key: number, count: number) => counts.set(key, (counts.get(key) ?? 0) + count);
  if (level === 0) for (const value of numbers) add(keyOf(value), 1);
  else for (let at = 0; at < numbers.length; at += 2) add(numbers[at] ?? 0, numbers[at + 1] ?? 0);
}

/** Returns the key of a value's bucket: a whole number with the order of the values. */
function keyOf(value: number): number {
  if (value === 0) return 0;
  return value > 0 ? KEY_OFFSET + bucketOf(value) : -KEY_OFFSET - bucketOf(-value);
}

function valueOfKey(key: number): number {
  if (key === 0) return 0;
  return key > 0 ? middleOf(key - KEY_OFFSET) : -middleOf(-key - KEY_OFFSET);
}
