import { TYPE_BITS } from "../../aggregate/aggregator.ts";
import { LEVELS } from "../../entry.ts";
import { type ColumnValues, type NumberColumn, type TextColumn, Texts } from "../decode/column-values.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { jsonTextAt } from "./json-text.ts";
import type { CodedValues } from "./key-codes.ts";
import { textsOf } from "./mark-rows.ts";
import { numbersOf } from "./row-values.ts";

/** Code of a row that does not have the field, and of one whose value only its line has. */
export const MISSING = -1;
export const IN_LINE = -2;

/** In place of a path: the field has no value if no column of the path has one. */
export function optionalPath(path: number): number {
  return IN_LINE - 1 - 2 * path;
}

/** In place of a path: only the line has the value if no column of the path has one. */
export function pathOrLine(path: number): number {
  return IN_LINE - 2 - 2 * path;
}

/** Whether a number is `pathOrLine` of some path. */
export function isPathOrLine(resolved: number): boolean {
  return resolved < IN_LINE && resolved % 2 === 0;
}

/** Gives the JSON of a value: bytes of UTF-8, one character each. */
type TextOf = (code: number) => string;

/** Values of one column, with codes from `first` on. */
interface CodeRange {
  first: number;
  count: number;
  kind: number;
  textOf: TextOf;
}

/**
 * The values of one field in chosen rows, each as a code. A dictionary's values have one code each; other values have a
 * code of their own in each row.
 */
export class FieldCodes {
  /** By position in the chosen rows: a code, `MISSING` or `IN_LINE`. `null`: code 0 in all of them. */
  codes: Int32Array | null;
  /** Whether the code of each row is its position. */
  isByRow = false;
  /** The bytes of the values; `null` if they are not all of one type. */
  values: CodedValues | null = null;
  /** Number of codes. */
  count = 0;
  /** Numbers by code, NaN for others; `null` if no value has one. */
  numbers: Float64Array | null = null;
  readonly #ranges: CodeRange[] = [];

  constructor(codes: Int32Array | null) {
    this.codes = codes;
  }

  /** @param numbers by code of the range; `null` if its values are no numbers. @returns its first code */
  addRange(count: number, kind: number, numbers: Float64Array | null, textOf: TextOf): number {
    const first = this.count;
    this.values = null;
    this.#ranges.push({ first, count, kind, textOf });
    this.count += count;
    if (numbers !== null && first === 0) this.numbers = numbers;
    else if (numbers !== null || this.numbers !== null) {
      const all = new Float64Array(this.count).fill(Number.NaN);
      if (this.numbers !== null) all.set(this.numbers);
      if (numbers !== null) all.set(numbers, first);
      this.numbers = all;
    }
    return first;
  }

  /** Type of a value; see `TYPE_BITS`. */
  kindOf(code: number): number {
    return this.#rangeOf(code)?.kind ?? 0;
  }

  textOf(code: number): string {
    const range = this.#rangeOf(code);
    return range === undefined ? "null" : range.textOf(code - range.first);
  }

  /** Types of the values of rows. @param groups by position; rows with a negative one are left out */
  typesOf(groups: Int32Array): number {
    const { codes } = this;
    let types = 0;
    const kind = this.#ranges[0]?.kind ?? 0;
    if (codes === null || this.#ranges.every((range) => range.kind === kind)) {
      for (let at = 0; at < groups.length; at++) {
        if ((groups[at] ?? -1) >= 0 && (codes === null || (codes[at] ?? -1) >= 0)) return kind;
      }
      return 0;
    }
    for (let at = 0; at < groups.length; at++) {
      const code = codes[at] ?? MISSING;
      if (code >= 0 && (groups[at] ?? -1) >= 0) types |= this.kindOf(code);
    }
    return types;
  }

  #rangeOf(code: number): CodeRange | undefined {
    const ranges = this.#ranges;
    for (let at = ranges.length - 1; at > 0; at--) if (code >= (ranges[at]?.first ?? 0)) return ranges[at];
    return ranges[0];
  }
}

/** Returns codes of one value that all rows have. @param number NaN if it has none */
export function constantCodes(text: string, kind: number, number = Number.NaN): FieldCodes {
  const codes = new FieldCodes(null);
  codes.addRange(1, kind, Number.isNaN(number) ? null : Float64Array.of(number), () => text);
  return codes;
}

/** Returns codes of numbers that all rows have. @param textOf JSON of a number @param kind type of the values */
export function numberCodes(
  column: NumberColumn,
  rows: Int32Array,
  kind: number,
  textOf: (value: number) => string,
): FieldCodes {
  const codes = new FieldCodes(new Int32Array(rows.length).fill(MISSING));
  addNumbers(codes, column, rows, kind, textOf);
  return codes;
}

/** Returns codes of a column of strings. @param textOf JSON of a value */
export function textCodes(
  column: TextColumn,
  rows: Int32Array,
  textOf: (texts: Texts, index: number) => string,
): FieldCodes {
  const codes = new FieldCodes(new Int32Array(rows.length).fill(MISSING));
  addTexts(codes, column, rows, null, textOf);
  return codes;
}

/** Returns codes of the levels, which have their severity as a number. @throws MalformedFile */
export function levelCodes(column: TextColumn, rows: Int32Array): FieldCodes {
  const texts = textsOf(column);
  const severities = Float64Array.from({ length: texts.length }, (_, index) => severityOf(texts.at(index)));
  const codes = new FieldCodes(new Int32Array(rows.length).fill(MISSING));
  const own = codes.codes ?? new Int32Array();
  for (const [at, row] of rows.entries()) {
    const index = column.kind === "texts" ? row : (column.indices[row] ?? -1);
    const severity = severities[index] ?? -1;
    if (severity < 0) throw new MalformedFile("An entry has no level.");
    own[at] = severity;
  }
  const numbers = Float64Array.from(LEVELS.keys());
  codes.addRange(LEVELS.length, TYPE_BITS.string, numbers, (code) => `"${LEVELS[code]}"`);
  return codes;
}

/** Returns the severity of a level; -1 if there is no such level. */
export function severityOf(text: string): number {
  const levels: readonly string[] = LEVELS;
  return levels.indexOf(text);
}

/**
 * Adds the values of a column of `data`. Rows that have a value in an earlier column keep it.
 * @param resolved by position: only rows with `wanted` are set; `null`: all
 */
export function addColumn(
  codes: FieldCodes,
  column: ColumnValues,
  rows: Int32Array,
  resolved: Int32Array | null = null,
  wanted = 0,
): void {
  const only = resolved === null ? null : { resolved, wanted };
  if (column.kind === "texts" || column.kind === "indexedTexts") addTexts(codes, column, rows, only, jsonTextAt);
  else if (column.kind === "booleans") {
    const first = codes.addRange(2, TYPE_BITS.boolean, null, (code) => (code === 1 ? "true" : "false"));
    setIndexed(codes, first, rows, only, column.values);
  } else addNumbers(codes, column, rows, TYPE_BITS.number, String, only);
}

interface Only {
  resolved: Int32Array;
  wanted: number;
}

function addTexts(
  codes: FieldCodes,
  column: TextColumn,
  rows: Int32Array,
  only: Only | null,
  textOf: (texts: Texts, index: number) => string,
): void {
  if (column.kind === "indexedTexts") {
    const { dictionary, indices } = column;
    const first = codes.addRange(dictionary.length, TYPE_BITS.string, null, (code) => textOf(dictionary, code));
    if (first === 0) codes.values = { type: "string", bytes: dictionary, rows: null };
    setIndexed(codes, first, rows, only, indices);
    return;
  }
  const { texts, validity } = column;
  const first = codes.addRange(rows.length, TYPE_BITS.string, null, (code) => textOf(texts, rows[code] ?? 0));
  if (first === 0) codes.values = { type: "string", bytes: texts, rows };
  setByRow(codes, first, rows, only, validity);
}

function addNumbers(
  codes: FieldCodes,
  column: NumberColumn,
  rows: Int32Array,
  kind: number,
  textOf: (value: number) => string,
  only: Only | null = null,
): void {
  if (column.kind === "indexedNumbers") {
    const { dictionary, indices } = column;
    const first = codes.addRange(dictionary.length, kind, finite(dictionary), (code) => textOf(dictionary[code] ?? 0));
    if (first === 0) codes.values = { type: "number", bytes: bytesOfNumbers(dictionary), rows: null };
    setIndexed(codes, first, rows, only, indices);
    return;
  }
  const numbers = numbersOf(column, rows);
  const first = codes.addRange(rows.length, kind, finite(numbers), (code) => textOf(numbers[code] ?? 0));
  if (first === 0) codes.values = { type: "number", bytes: bytesOfNumbers(numbers), rows: null };
  setByRow(codes, first, rows, only, column.validity);
}

/** Offsets of numbers that follow each other. */
let numberOffsets = new Int32Array(0);

/** Returns numbers as strings of their bytes. */
function bytesOfNumbers({ buffer, byteOffset, byteLength, length }: Float64Array): Texts {
  if (numberOffsets.length <= length) numberOffsets = Int32Array.from({ length: length + 1 }, (_, at) => at * 8);
  return new Texts(new Uint8Array(buffer, byteOffset, byteLength), numberOffsets);
}

/** JSON has no other numbers. @throws MalformedFile */
function finite(numbers: Float64Array): Float64Array {
  let sum = 0;
  // The difference of a number to itself is 0, or NaN if the number is not finite.
  for (let at = 0; at < numbers.length; at++) sum += (numbers[at] ?? 0) - (numbers[at] ?? 0);
  if (sum !== 0) throw new MalformedFile("A number is not finite.");
  return numbers;
}

function isOfPath({ resolved, wanted }: Only, at: number): boolean {
  const path = resolved[at];
  return path === wanted || path === optionalPath(wanted) || path === pathOrLine(wanted);
}

/** @param indices by row; negative without a value */
function setIndexed(
  field: FieldCodes,
  first: number,
  rows: Int32Array,
  only: Only | null,
  indices: Int32Array | Int8Array,
): void {
  if (first === 0 && only === null && indices instanceof Int32Array) {
    field.codes = rows.length === indices.length ? indices : gathered(indices, rows);
    return;
  }
  const { codes } = field;
  if (codes === null) return;
  for (let at = 0; at < rows.length; at++) {
    if (only !== null && !isOfPath(only, at)) continue;
    const index = indices[rows[at] ?? 0] ?? MISSING;
    if (index >= 0 && codes[at] === MISSING) codes[at] = first + index;
  }
}

function gathered(indices: Int32Array, rows: Int32Array): Int32Array {
  const own = new Int32Array(rows.length);
  for (let at = 0; at < rows.length; at++) own[at] = indices[rows[at] ?? 0] ?? MISSING;
  return own;
}

/** Gives each row with a value a code of its own. */
function setByRow(
  field: FieldCodes,
  first: number,
  rows: Int32Array,
  only: Only | null,
  validity: Uint8Array | null,
): void {
  const { codes } = field;
  if (codes === null) return;
  field.isByRow = first === 0 && only === null && validity === null;
  for (let at = 0; at < rows.length; at++) {
    if (only !== null && !isOfPath(only, at)) continue;
    if ((validity === null || validity[rows[at] ?? 0] === 1) && codes[at] === MISSING) codes[at] = first + at;
  }
}
