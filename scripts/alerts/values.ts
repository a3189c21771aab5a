import { hashOf } from "../../src/logs/aggregate/distinct.ts";
import { sketched } from "../../src/logs/aggregate/sketch.ts";
import { toByteString } from "../../src/logs/query/case-folding.ts";
import type { PlainEntry, PlainRule } from "./recompute.ts";

/**
 * What a rule has in a window, from the values of its entries. Of the service it takes two functions of one value: the hash
 * by which distinct counts are sampled, and what a sketch returns for a value.
 */

const PERMILLES = { p50: 500, p75: 750, p90: 900, p95: 950, p99: 990, p999: 999 } as const;

export type PlainFunction = "count_distinct" | "sum" | "avg" | "min" | "max" | keyof typeof PERMILLES;

export interface Reading {
  /** Entries, or values. */
  count: number;
  value: number | null;
  isExact: boolean;
}

/** Values of a step up to which percentiles are exact. */
const EXACT_VALUES = 64;
/** Different values of a group up to which distinct counts are exact. */
export const DISTINCT_HASHES = 4096;

/**
 * @param received entries of the group that were received before the decision, if it has more than `DISTINCT_HASHES` values
 * @param entries those of the window
 * @param until the end of the window
 */
export function readingOf(
  rule: PlainRule,
  received: readonly PlainEntry[],
  entries: readonly PlainEntry[],
  until: number,
): Reading {
  const { fn, windowMs } = rule;
  if (fn === null) return { count: entries.length, value: entries.length, isExact: true };
  const values = entries.flatMap((entry) => entry.values);
  const count = values.length;
  if (fn === "count_distinct") return { count, ...distinctOf(rule, received, values, until) };
  const numbers = values.map(Number);
  switch (fn) {
    case "sum":
      return { count, value: sumOf(numbers), isExact: true };
    case "avg":
      return { count, value: count === 0 ? null : sumOf(numbers) / count, isExact: true };
    case "min":
    case "max":
      return { count, value: count === 0 ? null : numbers.reduce((a, b) => Math[fn](a, b)), isExact: true };
    default: {
      const step = Math.max(1000, windowMs / 60);
      const counts = new Map<number, number>();
      for (const { at, values: own } of entries) {
        const number = Math.ceil(at / step);
        counts.set(number, (counts.get(number) ?? 0) + own.length);
      }
      const isExact = [...counts.values()].every((each) => each <= EXACT_VALUES);
      const rank = Math.max(1, Math.ceil((count * PERMILLES[fn]) / 1000));
      const value = numbers.sort((a, b) => a - b)[rank - 1];
      if (value === undefined) return { count, value: null, isExact };
      // A sketch keeps the order of values.
      return { count, value: isExact ? value : sketched(value), isExact };
    }
  }
}

/** The exact sum, rounded once: in whole numbers where all values are, otherwise in units of the smallest double. */
function sumOf(values: readonly number[]): number {
  if (values.every(Number.isSafeInteger)) {
    const sum = values.reduce((a, b) => a + BigInt(b), 0n);
    return Number(sum);
  }
  const sum = values.reduce((all, value) => all + unitsOf(value), 0n);
  const size = sum < 0n ? -sum : sum;
  const dropped = Math.max(0, size.toString(2).length - 64);
  let kept = size >> BigInt(dropped);
  if (kept << BigInt(dropped) !== size) kept |= 1n;
  const exponent = dropped - 1074;
  const half = Math.trunc(exponent / 2);
  const result = Number(kept) * 2 ** half * 2 ** (exponent - half);
  return sum < 0n ? -result : result;
}

function unitsOf(value: number): bigint {
  let [mantissa, exponent] = [value, 0];
  while (!Number.isInteger(mantissa) && exponent > -1074) {
    mantissa *= 2;
    exponent--;
  }
  return BigInt(mantissa) << BigInt(exponent + 1074);
}

interface Sample {
  level: number;
  hashes: Set<number>;
}

/** Different values. Of more than 4,096 in a group, those whose hashes end with zero bits count for the others. */
function distinctOf(
  rule: PlainRule,
  received: readonly PlainEntry[],
  values: readonly (number | string)[],
  until: number,
): Omit<Reading, "count"> {
  const { windowMs, kind } = rule;
  const exact = { value: new Set(values).size, isExact: true };
  const isChange = kind === "rise" || kind === "fall";
  if (received.length === 0) return exact;
  const length = Math.max(1000, windowMs / 60);
  const kept = isChange ? 120 : 60;
  const steps = new Map<number, Sample>();
  const size = () => [...steps.values()].reduce((sum, { hashes }) => sum + hashes.size, 0);
  const level = () => Math.max(0, ...[...steps.values()].map((sample) => sample.level));
  for (const { receivedAt, values: own } of received) {
    const step = Math.ceil(receivedAt / length);
    for (const old of [...steps.keys()]) if (old <= step - kept) steps.delete(old);
    let sample = steps.get(step);
    if (sample === undefined) {
      const before = level();
      sample = { level: before > 0 && size() < DISTINCT_HASHES / 4 ? before - 1 : before, hashes: new Set() };
      steps.set(step, sample);
    }
    for (const hash of own.map(hashed)) {
      if (!isChange) for (const other of steps.values()) if (other !== sample) other.hashes.delete(hash);
      if (hash % 2 ** sample.level === 0) sample.hashes.add(hash);
    }
    while (size() > DISTINCT_HASHES) {
      const next = level() + 1;
      for (const each of steps.values()) {
        each.level = next;
        for (const hash of each.hashes) if (hash % 2 ** next !== 0) each.hashes.delete(hash);
      }
    }
  }
  const inWindow = [...steps].filter(([step]) => step * length > until - windowMs && step * length <= until);
  const most = Math.max(0, ...inWindow.map(([, sample]) => sample.level));
  if (most === 0) return exact;
  const left = new Set(inWindow.flatMap(([, { hashes }]) => [...hashes].filter((hash) => hash % 2 ** most === 0)));
  return { value: left.size * 2 ** most, isExact: false };
}

function hashed(text: number | string): number {
  const { a, b } = hashOf(toByteString(String(text)));
  return (a >>> 0) * 2 ** 21 + ((b >>> 0) % 2 ** 21);
}
