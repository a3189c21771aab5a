import { type Bin, binStart } from "../../aggregate/plan.ts";
import { LEADING_COLUMNS } from "../columns.ts";
import type { Texts } from "../decode/column-values.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { MISSING } from "./field-codes.ts";

export const TIME_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "timestamp");

/** A key of groups in chosen rows, as codes. */
export interface KeyCodes {
  /** By position; `null`: code 0 in all rows. Negative: the row has no value, or no group. */
  codes: Int32Array | null;
  /** Number of codes. */
  count: number;
  /** The bytes of the values; `null` if they are not all of one type. */
  values: CodedValues | null;
  textOf(code: number): string;
}

/** The bytes of the values of one type: UTF-8, or those of a double. */
export interface CodedValues {
  type: "string" | "number";
  bytes: Texts;
  /** Index in `bytes` by code; `null`: the code. */
  rows: Int32Array | null;
}

/** Most codes of a table by code. */
const MAX_TABLE = 1 << 18;

/** @param timestamps of the chosen rows */
export function binCodes(timestamps: Float64Array, bin: Bin): KeyCodes {
  const { binMs, offsetMs = 0 } = bin;
  const codes = new Int32Array(timestamps.length);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < timestamps.length; at++) {
    const time = timestamps[at] ?? 0;
    if (time < min) min = time;
    if (time > max) max = time;
  }
  const first = Math.floor((min - offsetMs) / binMs);
  const count = Math.floor((max - offsetMs) / binMs) - first + 1;
  if (!(count <= MAX_TABLE)) return sparseBins(timestamps, bin, codes);
  for (let at = 0; at < timestamps.length; at++)
    codes[at] = Math.floor(((timestamps[at] ?? 0) - offsetMs) / binMs) - first;
  return { codes, count, values: null, textOf: (code) => String((first + code) * binMs + offsetMs) };
}

/** Gives each row a code of its own: equal bins are found by their texts, because a table of numbers could be made slow. */
function sparseBins(timestamps: Float64Array, bin: Bin, codes: Int32Array): KeyCodes {
  for (let at = 0; at < codes.length; at++) codes[at] = at;
  const textOf = (code: number) => String(binStart(timestamps[code] ?? 0, bin));
  return { codes, count: codes.length, values: null, textOf };
}

/**
 * Combines keys: rows with equal codes of all keys have equal combinations.
 * @returns combinations by position, `null`: 0 in all rows; or `null` if there are too many
 */
export function combined(keys: readonly KeyCodes[], rows: number): { of: Int32Array | null; count: number } | null {
  const varied = keys.filter(({ codes }) => codes !== null);
  // A row without a value has the code -1.
  const count = varied.reduce((product, key) => product * (key.count + 1), 1);
  if (count > MAX_TABLE) return null;
  const [first] = varied;
  if (first === undefined) return { of: null, count };
  const of = new Int32Array(rows);
  for (const { codes, count: own } of varied) {
    if (codes === null) continue;
    for (let at = 0; at < rows; at++) {
      const code = codes[at] ?? MISSING;
      of[at] = (of[at] ?? 0) * (own + 1) + (code < 0 ? 0 : code + 1);
    }
  }
  return { of, count };
}

/** Returns the start of the bin that all rows of a row group are in; `null` if there are several. */
export function binOfAll(reader: SegmentReader, group: number, bin: Bin): number | null {
  const range = reader.numberRange(group, TIME_COLUMN);
  if (range === null) return null;
  const first = binStart(range.min, bin);
  return first === binStart(range.max, bin) ? first : null;
}
