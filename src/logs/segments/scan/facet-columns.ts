import { TYPE_BITS } from "../../aggregate/aggregator.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import type { RowSink } from "../../stats/count-feed.ts";
import { FIRST_MEMBER_COLUMN, TEXT_MEMBERS } from "../columns.ts";
import { type ColumnValues, releaseColumn } from "../decode/column-values.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { jsonTextAt } from "./json-text.ts";
import { type ColumnSource, OpenGroup } from "./open-group.ts";
import { ShapeCache, type Shapes } from "./shapes.ts";

/** Takes the fields of rows and their values. */
export interface FacetAdder {
  /**
   * @param path of a member of `data`, or the name of an own field
   * @param types of the values; see `TYPE_BITS`
   */
  addEntries(path: readonly string[] | string, entries: number, types: number): void;
  /** @param text JSON: bytes of UTF-8, one character each */
  addValues(path: readonly string[] | string, text: string, entries: number): void;
}

/** Own fields with values that entries share, by their name in lines. */
export const FACET_MEMBERS = {
  level: "level",
  category: "category",
  type: "type",
  session: "session",
  traceId: "trace",
  spanId: "span",
} as const;

const TYPES = {
  text: TYPE_BITS.string,
  integer: TYPE_BITS.number,
  number: TYPE_BITS.number,
  boolean: TYPE_BITS.boolean,
} as const;

/** Values between two points at which the work may pause. */
const VALUES_AT_ONCE = 1024;
const VALUE_WORK = 250;

/** Counts fields and values of rows from their columns. Rows with arrays or other values without a column are left. */
export class FacetColumns implements RowSink {
  readonly #adder: FacetAdder;
  readonly #meter: WorkMeter;
  readonly #cache = new ShapeCache([]);
  readonly #added: (rows: number) => void;

  /** @param added called with the number of rows that were counted */
  constructor(adder: FacetAdder, meter: WorkMeter, added: (rows: number) => void) {
    this.#adder = adder;
    this.#meter = meter;
    this.#added = added;
  }

  columnsOf(reader: SegmentReader, group: number): readonly number[] {
    const rows = reader.rowGroups[group]?.rows ?? 0;
    const members = TEXT_MEMBERS.flatMap((name, at) => (name in FACET_MEMBERS ? [FIRST_MEMBER_COLUMN + at] : []));
    const data = reader.properties.columns.map((_, at) => FIRST_DATA_COLUMN + at);
    const filled = [...members, ...data].filter((column) => reader.nulls(group, column) < rows);
    return [...filled, reader.shapeColumn].sort((a, b) => a - b);
  }

  /** @throws MalformedFile */
  *add(reader: SegmentReader, group: number, rows: Int32Array, chunk: ColumnSource): Generator<void, Int32Array> {
    if (rows.length === 0) return rows;
    const meter = this.#meter;
    const opened = new OpenGroup(reader, group, chunk, this.#cache, meter);
    const shapes = yield* opened.shapes(rows);
    const { kept, left } = split(shapes, rows);
    meter.add(rows.length * WORK.columnRow);
    if (kept.length === 0) return left;
    const places = this.#addShapes(shapes, kept);
    for (const column of this.columnsOf(reader, group)) {
      if (column === reader.shapeColumn) continue;
      const values = opened.decode(column, kept);
      const data = reader.properties.columns[column - FIRST_DATA_COLUMN];
      const member = TEXT_MEMBERS[column - FIRST_MEMBER_COLUMN];
      if (data !== undefined) {
        const optional = places.get(keyOf(data.path));
        yield* this.#addColumn(
          data.path,
          values,
          kept,
          TYPES[data.type],
          (row) => optional?.has(shapes.indices[row] ?? -1) === true,
        );
      } else if (member !== undefined && member !== "message") {
        yield* this.#addColumn(FACET_MEMBERS[member], values, kept, TYPE_BITS.string, () => true);
      }
      releaseColumn(values);
      if (meter.isDue) yield;
    }
    this.#adder.addEntries("project", kept.length, TYPE_BITS.string);
    this.#adder.addValues("project", `"${reader.properties.projectId}"`, kept.length);
    this.#added(kept.length);
    return left;
  }

  /**
   * Counts the entries of the paths that all rows of a shape have.
   * @returns by path: the shapes in which it is optional, so that the rows with a value count
   */
  #addShapes(shapes: Shapes, kept: Int32Array): Map<string, Set<number>> {
    const counts = new Map<number, number>();
    for (const row of kept) {
      const shape = shapes.indices[row] ?? -1;
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
    }
    const optional = new Map<string, Set<number>>();
    for (const [shape, slots] of shapes.map(({ template }) => template?.slots ?? []).entries()) {
      const count = counts.get(shape) ?? 0;
      if (count === 0) continue;
      for (const { path, isOptional } of slots) {
        if (!isOptional) {
          this.#adder.addEntries(path, count, 0);
          continue;
        }
        const own = optional.get(keyOf(path)) ?? new Set();
        own.add(shape);
        optional.set(keyOf(path), own);
      }
    }
    return optional;
  }

  /** @param isNew whether a row with a value counts as an entry that has the path */
  *#addColumn(
    path: readonly string[] | string,
    values: ColumnValues,
    rows: Int32Array,
    type: number,
    isNew: (row: number) => boolean,
  ): Generator<void> {
    const adder = this.#adder;
    const meter = this.#meter;
    let [entries, present] = [0, 0];
    const indexed = new Map<number, number>();
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      if (at % VALUES_AT_ONCE === VALUES_AT_ONCE - 1) {
        meter.add(VALUES_AT_ONCE * WORK.columnRow);
        if (meter.isDue) yield;
      }
      const index = indexOf(values, row);
      if (index < 0) continue;
      present++;
      if (isNew(row)) entries++;
      if (values.kind === "texts" || values.kind === "numbers") {
        meter.add(VALUE_WORK);
        adder.addValues(path, this.#textOf(values, index), 1);
      } else indexed.set(index, (indexed.get(index) ?? 0) + 1);
    }
    if (present === 0) return;
    adder.addEntries(path, entries, type);
    for (const [index, count] of indexed) {
      meter.add(VALUE_WORK);
      adder.addValues(path, this.#textOf(values, index), count);
      if (meter.isDue) yield;
    }
  }

  #textOf(values: ColumnValues, index: number): string {
    switch (values.kind) {
      case "texts":
      case "indexedTexts": {
        const texts = values.kind === "texts" ? values.texts : values.dictionary;
        const bytes = texts.endOf(index) - texts.startOf(index);
        this.#meter.add(bytes * WORK.textByte);
        return jsonTextAt(texts, index);
      }
      case "booleans":
        return index === 1 ? "true" : "false";
      default: {
        const number = (values.kind === "numbers" ? values.values : values.dictionary)[index] ?? Number.NaN;
        if (!Number.isFinite(number)) throw new MalformedFile("A number is not finite.");
        return String(number);
      }
    }
  }
}

/** Returns the index of a row's value in its column or dictionary; negative without a value. */
function indexOf(values: ColumnValues, row: number): number {
  switch (values.kind) {
    case "texts":
    case "numbers":
      return values.validity === null || values.validity[row] === 1 ? row : -1;
    case "booleans":
      return values.values[row] ?? -1;
    default:
      return values.indices[row] ?? -1;
  }
}

/** Splits rows into those whose values all have columns, and the others. */
function split(shapes: Shapes, rows: Int32Array): { kept: Int32Array; left: Int32Array } {
  const isLeft = shapes.map(({ template }) => template === null || template.slots.some(({ inRest }) => inRest));
  const leaves = (row: number) => isLeft[shapes.indices[row] ?? -1] === true;
  return { kept: rows.filter((row) => !leaves(row)), left: rows.filter(leaves) };
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
