import { detachBuffer } from "../../platform/isolate-memory.ts";
import { type ColumnValues, releaseColumn } from "../segments/decode/column-values.ts";
import { takeRows } from "../segments/decode/gather.ts";
import { columnsOfMembers, columnsOfShapes } from "../segments/decode/line-columns.ts";
import { LineJoiner } from "../segments/decode/line-restorer.ts";
import { MalformedFile } from "../segments/parquet/thrift.ts";
import type { Wanted } from "./batch-matcher.ts";
import { WORK, type WorkMeter } from "./budget.ts";
import type { LineSource, Order } from "./feed.ts";
import { freed } from "./lines.ts";
import type { ReadMemory } from "./memory.ts";
import { damaged, FEW_ROWS, type FoundRows, RECEIPT_COLUMN, type RowGroup, TIME_COLUMN } from "./row-group.ts";

/** Rows whose columns are decoded at once: at first, and at most. Most queries need few rows of a row group. */
const FIRST_ROWS = 256;
const MAX_ROWS = 4096;
const ROWS_GROWTH = 4;
/** Bytes of the columns of these rows. */
const WINDOW_BYTES = 2 * 1024 * 1024;
/** Bytes of a row in one column, beside its string. */
const VALUE_BYTES = 8;

/** Bytes of lines that are processed at once, unless a single line is longer. */
const PIECE_BYTES = 32 * 1024;
/** A piece without lines, at which the caller may pause. */
const PAUSE = new Uint8Array(0);

const everything: Wanted = () => true;

/** The lines of the rows that pass a filter in a row group, put together when they are requested. */
export class RowGroupLines implements LineSource {
  readonly projectId: string;
  readonly #group: RowGroup;
  readonly #order: Order;
  readonly #meter: WorkMeter;
  readonly #memory: ReadMemory;
  readonly #left: FoundRows;
  /** Index in `#left` by index of a line. */
  readonly #lines: number[] = [];
  /** Receipt times by index of a line. */
  readonly #receipts: number[] = [];

  /**
   * @param found rows whose lines are given, some of `group.found`; the pages of their lines have been read
   */
  constructor(group: RowGroup, order: Order, meter: WorkMeter, memory: ReadMemory, found: FoundRows) {
    this.projectId = group.file.meta.projectId;
    this.#group = group;
    this.#order = order;
    this.#meter = meter;
    this.#memory = memory;
    this.#left = found;
  }

  /**
   * Yields the lines in scan order of `seq`: those that a page needs come first. Rows that are not wanted when their turn
   * comes are left out, and take no index.
   */
  *pieces(wanted: Wanted = everything): Generator<Uint8Array> {
    const { rows } = this.#left;
    const most = this.#windowRows();
    let size = Math.min(FIRST_ROWS, most);
    const sign = this.#order === "desc" ? -1 : 1;
    for (let at = sign < 0 ? rows.length - 1 : 0; at >= 0 && at < rows.length; ) {
      const window: number[] = [];
      for (; at >= 0 && at < rows.length && window.length < size; at += sign) {
        if (this.#isWanted(at, wanted)) window.push(at);
      }
      if (window.length > 0) yield* this.#restored(window, wanted);
      size = Math.min(size * ROWS_GROWTH, most);
    }
    this.#memory.recordDecoded(0);
  }

  get passing(): number {
    return this.#left.rows.length;
  }

  seqAt(index: number): number {
    return this.#left.seqs[this.#lines[index] ?? -1] ?? 0;
  }

  receivedAtOf(index: number): number {
    return this.#receipts[index] ?? 0;
  }

  /** The filter has excluded what is not in the snapshot. */
  isVisible(): boolean {
    return true;
  }

  close(): void {
    const { rows, seqs, timestamps } = this.#left;
    this.#group.release();
    for (const buffer of [rows, seqs, timestamps]) detachBuffer(buffer);
    this.#memory.recordDecoded(0);
  }

  /** Whether the next line may be that of a row. */
  #isWanted(at: number, wanted: Wanted): boolean {
    const index = this.#receipts.length;
    this.#lines[index] = at;
    return wanted(this.#left.timestamps[at] ?? 0, index);
  }

  #windowRows(): number {
    return Math.max(1, Math.min(MAX_ROWS, Math.floor(WINDOW_BYTES / this.#rowBytes)));
  }

  /** Bytes of a row in its columns. */
  get #rowBytes(): number {
    const { file, rawBytes, count } = this.#group;
    return Math.ceil(rawBytes / Math.max(1, count)) + file.reader.columns.length * VALUE_BYTES;
  }

  /** @param window indices in `#left`, in scan order */
  *#restored(window: readonly number[], wanted: Wanted): Generator<Uint8Array> {
    const isFalling = this.#order === "desc";
    const rows = Int32Array.from(isFalling ? window.toReversed() : window, (at) => this.#left.rows[at] ?? 0);
    this.#memory.recordDecoded(rows.length * this.#rowBytes);
    const columns = new Map<number, ColumnValues>();
    try {
      yield* this.#decodeInto(columns, rows);
      columns.set(TIME_COLUMN, { kind: "numbers", values: this.#timesOf(window, isFalling), validity: null });
      const receipts = this.#group.numbers(RECEIPT_COLUMN, rows, this.#meter);
      const joiner = new LineJoiner(this.#group.file.reader, rows.length, (column) => columns.get(column));
      let written = 0;
      for (const [index, at] of window.entries()) {
        if (!this.#isWanted(at, wanted)) continue;
        const row = isFalling ? rows.length - 1 - index : index;
        const bytes = joiner.write(row);
        this.#meter.add(WORK.restoredLine + (bytes - written) * WORK.restoredByte);
        this.#receipts.push(receipts[row] ?? 0);
        written = bytes;
        if (bytes < PIECE_BYTES) continue;
        yield* freed(joiner.take());
        written = 0;
      }
      if (written > 0) yield* freed(joiner.take());
      joiner.release();
      detachBuffer(receipts);
    } catch (error) {
      throw error instanceof MalformedFile ? damaged(this.#group.file, error) : error;
    } finally {
      for (const column of columns.values()) releaseColumn(column);
      detachBuffer(rows);
    }
  }

  #timesOf(window: readonly number[], isFalling: boolean): Float64Array {
    const times = Float64Array.from(window, (at) => this.#left.timestamps[at] ?? 0);
    return isFalling ? times.reverse() : times;
  }

  /** Decodes the columns of some rows, one after the other, so that only one is there as a whole. */
  *#decodeInto(decoded: Map<number, ColumnValues>, rows: Int32Array): Generator<Uint8Array> {
    const { reader } = this.#group.file;
    const { shapeColumn } = reader;
    const shapes = this.#decode(shapeColumn, rows);
    if (shapes.kind !== "texts" && shapes.kind !== "indexedTexts") throw new MalformedFile("Shapes are strings.");
    decoded.set(shapeColumn, shapes);
    const ofShapes = columnsOfShapes(reader, shapes, this.#meter);
    let step = ofShapes.next();
    for (; step.done !== true; step = ofShapes.next()) yield PAUSE;
    const columns = [...columnsOfMembers(reader), ...step.value];
    for (const column of columns) {
      if (this.#meter.isDue) yield PAUSE;
      decoded.set(column, this.#decode(column, rows));
    }
  }

  #decode(column: number, rows: Int32Array): ColumnValues {
    const { file, group, bytes, count } = this.#group;
    this.#meter.add(WORK.column + rows.length * WORK.columnRow);
    if (rows.length < count * FEW_ROWS) return file.reader.pick(group, column, bytes.pages(column), rows);
    const chosen = rows.length === count ? null : rows;
    return takeRows(file.reader.decode(group, column, bytes.pages(column), chosen), rows);
  }
}
