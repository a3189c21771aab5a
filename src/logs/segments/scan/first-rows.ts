import type { Field } from "../../aggregate/fields.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { type FieldCodes, IN_LINE } from "./field-codes.ts";
import { planField, resolvedPaths } from "./field-columns.ts";
import { TIME_COLUMN } from "./key-codes.ts";
import { type ColumnSource, OpenGroup } from "./open-group.ts";
import { numbersByRow, numbersOf } from "./row-values.ts";
import { ShapeCache } from "./shapes.ts";

/** The last of the rows that are kept so far. */
export interface LastRow {
  /** Its number in the order. */
  key: number;
  /** Epoch milliseconds. */
  timestamp: number;
}

/**
 * Chooses the rows of row groups that may be among the first ones by a number, so that only their lines are read. Rows with
 * equal numbers are in order with the newest first, and rows without a number come last.
 */
export class FirstRows {
  readonly #field: Field;
  readonly #sign: number;
  readonly #meter: WorkMeter;
  readonly #shapes: ShapeCache;

  /** @param sign 1 for a rising order, -1 for a falling one */
  constructor(field: Field, sign: number, meter: WorkMeter) {
    this.#field = field;
    this.#sign = sign;
    this.#meter = meter;
    this.#shapes = new ShapeCache(field.paths);
  }

  /** Returns the columns of a row group whose bytes `choose` needs. */
  columnsOf(reader: SegmentReader, group: number): readonly number[] {
    const { columns, needsShapes } = planField(reader, group, this.#field);
    const all = new Set([...columns, TIME_COLUMN, ...(needsShapes ? [reader.shapeColumn] : [])]);
    return [...all].sort((a, b) => a - b);
  }

  /**
   * Chooses rows, in steps of some milliseconds.
   * @param rows in rising order
   * @param count of the first rows that are wanted
   * @param last of them; `null` if there are fewer so far, or if it has no number
   * @returns rows of which the lines must be read, in rising order
   * @throws MalformedFile
   */
  *choose(
    reader: SegmentReader,
    group: number,
    rows: Int32Array,
    chunk: ColumnSource,
    count: number,
    last: LastRow | null,
  ): Generator<void, Int32Array> {
    const meter = this.#meter;
    const plan = planField(reader, group, this.#field);
    const opened = new OpenGroup(reader, group, chunk, this.#shapes, meter);
    const shapes = plan.needsShapes ? yield* opened.shapes(rows) : null;
    const resolved = shapes === null ? null : resolvedPaths(shapes, this.#field, 0, rows);
    const codes = plan.read(opened, rows, resolved);
    meter.add(rows.length * WORK.columnRow);
    if (meter.isDue) yield;
    const keys = numbersIn(codes, rows.length);
    if (keys === null) return rows;
    const times = numbersOf(opened.numbers(TIME_COLUMN, rows), rows);
    const bound = this.#boundOf(keys, count);
    meter.add(rows.length * SORTED_WORK);
    if (meter.isDue) yield;
    return rows.filter((_, at) => {
      if (codes.codes?.[at] === IN_LINE) return true;
      const key = keys[at] ?? Number.NaN;
      if (bound !== null && !(this.#sign * (key - bound) <= 0)) return false;
      if (last === null) return true;
      const difference = this.#sign * (key - last.key);
      return difference < 0 || (difference === 0 && (times[at] ?? 0) >= last.timestamp);
    });
  }

  /** Returns the number of the last of the first rows; `null` if there are fewer. */
  #boundOf(keys: Float64Array, count: number): number | null {
    const sorted = keys.filter((key) => !Number.isNaN(key)).sort();
    if (sorted.length < count) return null;
    return (this.#sign === 1 ? sorted[count - 1] : sorted[sorted.length - count]) ?? null;
  }
}

/** Work units of sorting a number. */
const SORTED_WORK = 60;

/** Returns the numbers by position, NaN without one; `null` if there are other values, which have an order as well. */
function numbersIn(codes: FieldCodes, rows: number): Float64Array | null {
  const { numbers } = codes;
  if (numbers === null) return null;
  const keys = numbersByRow(codes, numbers, rows);
  for (let at = 0; at < rows; at++) {
    const code = codes.codes === null ? 0 : (codes.codes[at] ?? IN_LINE);
    if (Number.isNaN(keys[at]) && code >= 0 && codes.textOf(code) !== "null") return null;
  }
  return keys;
}
