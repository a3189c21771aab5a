import type { LinePlaces } from "../../query/batch-matcher.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import { LEADING_COLUMNS } from "../columns.ts";
import {
  type ColumnValues,
  type IndexedTexts,
  type NumberColumn,
  releaseColumn,
  type TextColumn,
} from "../decode/column-values.ts";
import type { RowChoice } from "../decode/decode-chunk.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { PageScan, type StringTest } from "./page-scan.ts";
import { numbersOf } from "./row-values.ts";
import { type ShapeCache, Shapes } from "./shapes.ts";

export const SEQ_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "seq");
export const RECEIPT_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "received_at");

/** Gives the bytes of a column of the row group. The caller has read them. */
export type ColumnSource = (column: number) => Uint8Array;

/** Share of the rows from which all pages are decoded: most of them have a chosen row then. */
const MOST_ROWS = 1 / 64;

/** A row group of which the bytes are there: decodes columns and counts the work. */
export class OpenGroup {
  readonly reader: SegmentReader;
  readonly group: number;
  readonly rows: number;
  readonly meter: WorkMeter;
  readonly #source: ColumnSource;
  readonly #cache: ShapeCache;
  #shapes: Shapes | null = null;
  #shapeTexts: TextColumn | null = null;
  #rest: TextColumn | null = null;
  readonly #decoded: ColumnValues[] = [];

  constructor(reader: SegmentReader, group: number, source: ColumnSource, cache: ShapeCache, meter: WorkMeter) {
    this.reader = reader;
    this.group = group;
    this.rows = reader.rowGroups[group]?.rows ?? 0;
    this.meter = meter;
    this.#source = source;
    this.#cache = cache;
  }

  /** @param rows that are needed; `null` for all. @throws MalformedFile */
  decode(column: number, rows: RowChoice): ColumnValues {
    const chosen = this.#choice(rows);
    this.meter.add(WORK.column + this.reader.rawBytes(this.group, column) * WORK.columnByte);
    const values = this.reader.decode(this.group, column, this.#source(column), chosen);
    this.#decoded.push(values);
    return values;
  }

  /** Frees all columns that were decoded. */
  close(): void {
    for (const values of this.#decoded) releaseColumn(values);
    this.#decoded.length = 0;
  }

  texts(column: number, rows: RowChoice): TextColumn {
    const values = this.decode(column, rows);
    if (values.kind === "texts" || values.kind === "indexedTexts") return values;
    throw new MalformedFile("The column has no strings.");
  }

  /**
   * Marks the rows whose string in a column passes.
   * @param rows that are needed; others may be marked, too
   * @returns the column if it has a dictionary; then nothing was marked
   */
  scan(column: number, rows: RowChoice, test: StringTest, marks: Uint8Array): IndexedTexts | null {
    this.meter.add(WORK.column + this.reader.rawBytes(this.group, column) * WORK.columnByte);
    const chosen = this.#choice(rows);
    const hasAll = chosen === null && this.reader.nulls(this.group, column) === 0;
    const sink = new PageScan(this.rows, hasAll, test, marks);
    const values = this.reader.decodeInto(sink, this.group, column, this.#source(column), chosen);
    return values.kind === "indexedTexts" ? values : null;
  }

  #choice(rows: RowChoice): RowChoice {
    return rows !== null && rows.length < this.rows * MOST_ROWS ? rows : null;
  }

  numbers(column: number, rows: RowChoice): NumberColumn {
    const values = this.decode(column, rows);
    if (values.kind === "numbers" || values.kind === "indexedNumbers") return values;
    throw new MalformedFile("The column has no numbers.");
  }

  /** Returns the shapes of rows. Later calls may only need some of these rows. */
  *shapes(rows: RowChoice): Generator<void, Shapes> {
    if (this.#shapes === null) {
      this.#shapeTexts = this.texts(this.reader.shapeColumn, rows);
      this.#shapes = yield* Shapes.read(this.#shapeTexts, rows, this.#cache, this.meter);
    }
    return this.#shapes;
  }

  /** The column of shapes, after `shapes`. */
  get shapeTexts(): TextColumn {
    if (this.#shapeTexts === null) throw new RangeError("The shapes have not been read.");
    return this.#shapeTexts;
  }

  /**
   * Returns where the lines of rows are. Decodes the columns when a line is asked for.
   * @param rows by index of the line
   */
  placesOf(rows: Int32Array): LinePlaces {
    const columns = new Map<number, Float64Array>();
    const numberAt = (column: number, index: number) => {
      let numbers = columns.get(column);
      if (numbers === undefined) {
        numbers = numbersOf(this.numbers(column, rows), rows);
        columns.set(column, numbers);
      }
      return numbers[numbers.length === rows.length ? index : (rows[index] ?? 0)] ?? 0;
    };
    return {
      projectId: this.reader.properties.projectId,
      seqAt: (index) => numberAt(SEQ_COLUMN, index),
      receivedAtOf: (index) => numberAt(RECEIPT_COLUMN, index),
    };
  }

  /** Returns what rows have in `rest`. Later calls may only need some of these rows. */
  rest(rows: RowChoice): TextColumn {
    this.#rest ??= this.texts(this.reader.restColumn, rows);
    return this.#rest;
  }
}

/** Whether a row group may have lines that are whole in `rest`. */
export function mayHaveWholeLines(reader: SegmentReader, group: number): boolean {
  if (!hasRest(reader, group)) return false;
  // Each column of `data` counts these lines.
  return reader.properties.columns.every((_, index) => reader.elsewhere(group, FIRST_DATA_COLUMN + index) > 0);
}

export function hasRest(reader: SegmentReader, group: number): boolean {
  return reader.nulls(group, reader.restColumn) < (reader.rowGroups[group]?.rows ?? 0);
}
