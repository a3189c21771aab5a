import { LEADING_COLUMNS } from "../columns.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { MISSING } from "./field-codes.ts";

export const TIME_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "timestamp");

/** A key of groups in chosen rows, as codes. */
export interface KeyCodes {
  /** By position; `null`: code 0 in all rows. Negative: the row has no value, or no group. */
  codes: Int32Array | null;
  /** Number of codes. */
  count: number;
  textOf(code: number): string;
}

/** Most codes of a table by code. */
const MAX_TABLE = 1 << 18;

/** @param timestamps of the chosen rows */
export function binCodes(timestamps: Float64Array, binMs: number): KeyCodes {
  const codes = new Int32Array(timestamps.length);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < timestamps.length; at++) {
    const time = timestamps[at] ?? 0;
    if (time < min) min = time;
    if (time > max) max = time;
  }
  const first = Math.floor(min / binMs);
  const count = Math.floor(max / binMs) - first + 1;
  if (!(count <= MAX_TABLE)) return sparseBins(timestamps, binMs, codes);
  for (let at = 0; at < timestamps.length; at++) codes[at] = Math.floor((timestamps[at] ?? 0) / binMs) - first;
  return { codes, count, textOf: (code) => String((first + code) * binMs) };
}

function sparseBins(timestamps: Float64Array, binMs: number, codes: Int32Array): KeyCodes {
  const starts: number[] = [];
  const byStart = new Map<number, number>();
  for (let at = 0; at < timestamps.length; at++) {
    const start = Math.floor((timestamps[at] ?? 0) / binMs) * binMs;
    let code = byStart.get(start);
    if (code === undefined) {
      code = starts.push(start) - 1;
      byStart.set(start, code);
    }
    codes[at] = code;
  }
  return { codes, count: starts.length, textOf: (code) => String(starts[code] ?? 0) };
}

/**
 * Combines keys: rows with equal codes of all keys have equal combinations.
 * @returns by position, one more than the code of the only key; `null` if there are too many combinations
 */
export function combined(keys: readonly KeyCodes[], rows: number): { of: Int32Array; count: number } | null {
  // A row without a value has the code -1.
  const count = keys.reduce((product, key) => product * (key.count + 1), 1);
  if (count > MAX_TABLE) return null;
  const of = new Int32Array(rows);
  for (const { codes, count: own } of keys) {
    for (let at = 0; at < rows; at++) {
      const code = codes === null ? 0 : (codes[at] ?? MISSING);
      of[at] = (of[at] ?? 0) * (own + 1) + (code < 0 ? 0 : code + 1);
    }
  }
  return { of, count };
}

/** Returns the start of the bin that all rows of a row group are in; `null` if there are several. */
export function binOfAll(reader: SegmentReader, group: number, binMs: number): number | null {
  const range = reader.numberRange(group, TIME_COLUMN);
  if (range === null) return null;
  const first = Math.floor(range.min / binMs);
  return first === Math.floor(range.max / binMs) ? first * binMs : null;
}
