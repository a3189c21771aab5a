import { TYPE_BITS } from "../../aggregate/aggregator.ts";
import { type Field, fieldOf } from "../../aggregate/fields.ts";
import type { OwnMember } from "../../entry.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { type FieldCodes, IN_LINE, MISSING } from "./field-codes.ts";
import { type FieldPlan, planField, resolvedPaths } from "./field-columns.ts";
import { binCodes, binOfAll, combined, type KeyCodes, TIME_COLUMN } from "./key-codes.ts";
import { type ColumnSource, OpenGroup } from "./open-group.ts";
import { numbersOf } from "./row-values.ts";
import { ShapeCache } from "./shapes.ts";

/** The members by which a histogram groups. */
export type CountedName = "level" | "category" | "type" | OwnMember;

/**
 * Receives the number of entries of a bucket that have a name.
 * @param start of the bucket, epoch milliseconds
 * @param name `null` if the counter has no names, or these entries no text
 */
export type CountAdder = (start: number, name: string | null, count: number) => void;

/** Counts rows of segment files by time bucket, and by level, category, type, service or host, from their columns. */
export class ColumnCounter {
  readonly #bucketMs: number;
  readonly #field: Field | null;
  readonly #meter: WorkMeter;
  readonly #shapes: ShapeCache;

  /** @param name member by which entries are counted; `null` for none */
  constructor(bucketMs: number, name: CountedName | null, meter: WorkMeter) {
    this.#bucketMs = bucketMs;
    this.#field = name === null ? null : fieldOf(name);
    this.#shapes = new ShapeCache(this.#field?.paths ?? []);
    this.#meter = meter;
  }

  /** Returns the columns of a row group whose bytes `count` needs. */
  columnsOf(reader: SegmentReader, group: number): number[] {
    const plan = this.#planOf(reader, group);
    const columns = new Set(plan?.columns);
    if (plan?.needsShapes === true) columns.add(reader.shapeColumn);
    if (binOfAll(reader, group, { binMs: this.#bucketMs }) === null) columns.add(TIME_COLUMN);
    return [...columns].sort((a, b) => a - b);
  }

  /**
   * Counts rows, in steps of some milliseconds.
   * @param rows in rising order
   * @param chunk gives the bytes of `columnsOf`
   * @returns rows that must be counted from their lines, in rising order
   * @throws MalformedFile
   */
  *count(
    reader: SegmentReader,
    group: number,
    rows: Int32Array,
    chunk: ColumnSource,
    add: CountAdder,
  ): Generator<void, Int32Array> {
    if (rows.length === 0) return rows;
    const opened = new OpenGroup(reader, group, chunk, this.#shapes, this.#meter);
    const left = yield* this.#count(opened, rows, add);
    opened.close();
    return left;
  }

  *#count(opened: OpenGroup, rows: Int32Array, add: CountAdder): Generator<void, Int32Array> {
    const { reader, group } = opened;
    const names = yield* this.#namesOf(opened, rows);
    if (this.#meter.isDue) yield;
    const start = binOfAll(reader, group, { binMs: this.#bucketMs });
    const times = start === null ? numbersOf(opened.numbers(TIME_COLUMN, rows), rows) : new Float64Array();
    const bins: KeyCodes =
      start === null
        ? binCodes(times, { binMs: this.#bucketMs })
        : { codes: null, count: 1, values: null, textOf: () => String(start) };
    this.#meter.add(rows.length * 2 * WORK.columnRow);
    this.#addCounts(rows.length, bins, names, add);
    return names === null ? new Int32Array() : rows.filter((_, at) => names.codes?.[at] === IN_LINE);
  }

  #planOf(reader: SegmentReader, group: number): FieldPlan | null {
    return this.#field === null ? null : planField(reader, group, this.#field);
  }

  *#namesOf(opened: OpenGroup, rows: Int32Array): Generator<void, FieldCodes | null> {
    const plan = this.#planOf(opened.reader, opened.group);
    if (plan === null || this.#field === null) return null;
    const resolved = plan.needsShapes ? resolvedPaths(yield* opened.shapes(rows), this.#field, 0, rows) : null;
    return plan.read(opened, rows, resolved);
  }

  #addCounts(rows: number, bins: KeyCodes, names: FieldCodes | null, add: CountAdder): void {
    const codeAt = (codes: Int32Array | null, at: number) => (codes === null ? 0 : (codes[at] ?? MISSING));
    const addRow = (at: number, count: number) => {
      const name = codeAt(names?.codes ?? null, at);
      if (name === IN_LINE) return;
      const isText = names !== null && name >= 0 && names.kindOf(name) === TYPE_BITS.string;
      const text = isText ? nameOf(names.textOf(name)) : null;
      add(Number(bins.textOf(codeAt(bins.codes, at))), text, count);
    };
    const combinations = combined(names === null ? [bins] : [bins, names], rows);
    if (combinations === null) {
      for (let at = 0; at < rows; at++) addRow(at, 1);
      return;
    }
    const counts = new Int32Array(combinations.count);
    const firsts = new Int32Array(combinations.count);
    for (let at = 0; at < rows; at++) {
      // A row without a value has the same combination.
      if (names?.codes?.[at] === IN_LINE) continue;
      const combination = combinations.of?.[at] ?? 0;
      if (counts[combination] === 0) firsts[combination] = at;
      counts[combination] = (counts[combination] ?? 0) + 1;
    }
    for (const [combination, count] of counts.entries()) if (count > 0) addRow(firsts[combination] ?? 0, count);
  }
}

/** Returns the name of a JSON text of UTF-8 bytes, one character each. */
function nameOf(text: string): string {
  // SAFETY: the text is that of a string.
  return JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as string;
}
