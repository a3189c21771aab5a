import { detachBuffer } from "../../platform/isolate-memory.ts";
import { UnreadableItem } from "../batch.ts";
import type { Block } from "../cold/format/batch-table.ts";
import { CorruptSegment, FILE_HEAD_BYTES, type SegmentMeta } from "../cold/format/segment.ts";
import { LEADING_COLUMNS } from "../segments/columns.ts";
import { releaseColumn } from "../segments/decode/column-values.ts";
import { GroupBytes } from "../segments/decode/group-bytes.ts";
import { columnsOfLines } from "../segments/decode/line-columns.ts";
import { SegmentReader } from "../segments/decode/segment-reader.ts";
import { MalformedFile } from "../segments/parquet/thrift.ts";
import { type CommitRange, RowGroupFilter } from "../segments/scan/row-group-filter.ts";
import { WORK, type WorkMeter } from "./budget.ts";
import type { LogFilter } from "./filter.ts";

/** A segment file of which the footer was read. */
export interface OpenFile {
  meta: SegmentMeta;
  reader: SegmentReader;
  /** Key in the bucket; `null` if the bytes are in D1. */
  key: string | null;
}

/** Share of the rows of a row group up to which their values are picked from pages, without memory for the others. */
export const FEW_ROWS = 1 / 32;
/** Bytes of a value of a decoded column, beside the bytes of its pages. */
const VALUE_BYTES = 8;
/** Work units of each byte of a footer. */
const FOOTER_BYTE_WORK = 20;

/**
 * Opens the file of a segment by its footer.
 * @param blocks row groups of the segment
 * @throws CorruptSegment
 */
export function openFile(
  meta: SegmentMeta,
  blocks: readonly Block[],
  footer: Uint8Array,
  key: string | null,
  meter: WorkMeter,
): OpenFile {
  meter.add(WORK.segment + footer.length * FOOTER_BYTE_WORK);
  try {
    const size = FILE_HEAD_BYTES + (blocks.at(-1)?.end ?? 0) + footer.length;
    const reader = new SegmentReader(footer, size);
    const isAsListed = blocks.every(({ lines }, group) => reader.rowGroups[group]?.rows === lines);
    if (!isAsListed || reader.rowGroups.length !== blocks.length || reader.properties.projectId !== meta.projectId) {
      throw new MalformedFile("The file has other row groups.");
    }
    return { meta, reader, key };
  } catch (error) {
    if (error instanceof MalformedFile) throw new CorruptSegment(meta, "its file cannot be opened", error);
    throw error;
  }
}

const columnNamed = (wanted: string): number => LEADING_COLUMNS.findIndex(({ name }) => name === wanted);
const SEQ_COLUMN = columnNamed("seq");
export const TIME_COLUMN = columnNamed("timestamp");
export const RECEIPT_COLUMN = columnNamed("received_at");
const POSITION_COLUMNS = [SEQ_COLUMN, TIME_COLUMN];

/** The rows of a row group that pass a filter, in rising order of `seq`, with their positions in a scan. */
export interface FoundRows {
  rows: Int32Array;
  seqs: Float64Array;
  /** Epoch milliseconds. */
  timestamps: Float64Array;
}

export const NO_ROWS: FoundRows = {
  rows: new Int32Array(0),
  seqs: new Float64Array(0),
  timestamps: new Float64Array(0),
};

/** A row group that a scan may reach. */
export class RowGroup {
  readonly file: OpenFile;
  readonly group: number;
  /** Bytes of its lines. */
  readonly rawBytes: number;
  readonly bytes: GroupBytes;
  /** Rows that pass, in rising order; `null` until `find` has run. */
  found: Int32Array | null = null;
  /** What makes the row group unreadable. */
  failure: Error | null = null;
  isDeleted = false;
  #filter: RowGroupFilter | null = null;

  constructor(file: OpenFile, group: number, rawBytes: number) {
    this.file = file;
    this.group = group;
    this.rawBytes = rawBytes;
    this.bytes = new GroupBytes(file.reader, group);
  }

  get count(): number {
    return this.file.reader.rowGroups[this.group]?.rows ?? 0;
  }

  /** Key of its file in the bucket. */
  get key(): string {
    const { key, meta } = this.file;
    if (key === null) throw new CorruptSegment(meta, "its row lacks bytes of its file");
    return key;
  }

  /** Whether it may have an entry of a range of `seq`, both ends included. */
  mayHaveSeqs(first: number, last: number): boolean {
    const range = this.file.reader.numberRange(this.group, SEQ_COLUMN);
    return range === null || (range.min <= last && range.max >= first);
  }

  /** Bytes of all its columns, as stored. */
  get storedBytes(): number {
    return this.file.reader.storedBytes(this.group);
  }

  /** Whether all rows pass, after `plan`. */
  get takesAll(): boolean {
    return this.#filter !== null && !this.#filter.isExcluded && this.#filter.columns.length === 0;
  }

  /** Returns the bytes of columns after decoding. */
  decodedBytesOf(columns: readonly number[]): number {
    const { reader } = this.file;
    return columns.reduce((sum, column) => sum + this.count * VALUE_BYTES + reader.rawBytes(this.group, column), 0);
  }

  /** Whether it is certain that no row passes or can be read. */
  get isEmpty(): boolean {
    return this.failure !== null || this.isDeleted || this.found?.length === 0;
  }

  /**
   * Prepares `find`, and settles what the statistics decide.
   * @returns the columns that `find` reads; `null` if the rows are known
   */
  plan(filter: LogFilter, commits: CommitRange, meter: WorkMeter): number[] | null {
    if (this.#filter === null) {
      this.#filter = new RowGroupFilter(this.file.reader, this.group, filter, commits, meter);
      meter.add(WORK.item);
    }
    if (this.#filter.isExcluded) this.found = NO_ROWS.rows;
    return this.found === null ? [...this.#filter.columns] : null;
  }

  /** Finds the rows that pass, after `plan`. The bytes of its columns have been read. */
  *find(): Generator<void> {
    try {
      const selection = this.#filter && (yield* this.#filter.steps((column) => this.bytes.chunk(column)));
      this.found = selection?.rows ?? NO_ROWS.rows;
    } catch (error) {
      this.fail(error);
    }
    if (this.isEmpty) this.bytes.release();
  }

  /**
   * Returns rows with their positions. The columns of their lines have been read.
   * @returns no rows if the row group is damaged, which sets `failure`
   */
  positionsOf(rows: Int32Array, meter: WorkMeter): FoundRows {
    try {
      const [seqs, timestamps] = POSITION_COLUMNS.map((column) => this.numbers(column, rows, meter));
      return { rows, seqs: seqs ?? NO_ROWS.seqs, timestamps: timestamps ?? NO_ROWS.timestamps };
    } catch (error) {
      this.fail(error);
      return NO_ROWS;
    }
  }

  /** Returns the columns of which lines are put together. */
  get lineColumns(): number[] {
    return [...POSITION_COLUMNS, RECEIPT_COLUMN, ...columnsOfLines(this.file.reader)];
  }

  /** Returns the numbers of some rows in a column that has one in each row. @throws MalformedFile */
  numbers(column: number, rows: Int32Array, meter: WorkMeter): Float64Array {
    const { reader } = this.file;
    if (rows.length < this.count * FEW_ROWS) {
      meter.add(WORK.column + rows.length * WORK.columnRow);
      const picked = reader.pick(this.group, column, this.bytes.pages(column), rows);
      if (picked.kind !== "numbers") throw new MalformedFile("The column has no numbers.");
      return picked.values;
    }
    meter.add(WORK.column + reader.rawBytes(this.group, column) * WORK.columnByte + rows.length * WORK.columnRow);
    const chosen = rows.length === this.count ? null : rows;
    const values = reader.numbers(this.group, column, this.bytes.pages(column), chosen);
    const taken =
      values.kind === "numbers"
        ? Float64Array.from(rows, (row) => values.values[row] ?? 0)
        : Float64Array.from(rows, (row) => values.dictionary[values.indices[row] ?? -1] ?? 0);
    releaseColumn(values);
    return taken;
  }

  /** Frees the bytes and the rows that were found, once they are no longer needed. */
  release(): void {
    this.bytes.release();
    if (this.found !== null) detachBuffer(this.found);
  }

  /** Marks the row group as unreadable. Other errors are thrown. */
  fail(error: unknown): void {
    if (!(error instanceof MalformedFile)) throw error;
    this.failure = damaged(this.file, error);
    this.found = NO_ROWS.rows;
  }

  /** Marks a row group whose segment was deleted with its project or has expired. */
  delete(): void {
    this.isDeleted = true;
    this.found = NO_ROWS.rows;
  }

  /** Marks a row group whose file is not in the bucket, or ends before it. */
  lose(): void {
    const { meta } = this.file;
    this.failure = new UnreadableItem(new CorruptSegment(meta, "its file is missing or too short").message);
    this.found = NO_ROWS.rows;
  }
}

/** Returns the error of a row group that cannot be decoded. */
export function damaged({ meta }: OpenFile, cause: MalformedFile): UnreadableItem {
  return new UnreadableItem(new CorruptSegment(meta, "a row group cannot be read").message, { cause });
}
