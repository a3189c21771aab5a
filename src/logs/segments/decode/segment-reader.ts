import { type DataColumn, type DataType, schemaOf } from "../columns.ts";
import {
  type ChunkMeta,
  type FileMeta,
  footerBytes,
  PAGES,
  type PageList,
  type RowGroupMeta,
  readFooter,
  type SchemaColumn,
  TYPE,
} from "../parquet/metadata.ts";
import { PagePlaces } from "../parquet/page-places.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { FIRST_DATA_COLUMN, readProperties, type SegmentProperties } from "../properties.ts";
import type { Booleans, ColumnValues, NumberColumn, TextColumn } from "./column-values.ts";
import { type ChunkBytes, decodeChunk, decodeInto, type RowChoice } from "./decode-chunk.ts";
import { pickRows } from "./pick-rows.ts";
import type { Sink } from "./sinks.ts";

/** Bytes of a file, from `start` to `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Smallest and largest number of a column in a row group; `null` if it has none there or does not record them. */
export type NumberRange = { min: number; max: number } | null;

/** Gives the bytes of a column of a row group. The caller has read them; see `SegmentReader.range`. */
export type ChunkSource = (group: number, column: number) => Uint8Array;

/**
 * Reads a segment file that is opened by its footer. Decodes the columns and row groups that a caller asks for from
 * bytes that the caller has read; does no input itself.
 */
export class SegmentReader {
  readonly properties: SegmentProperties;
  readonly columns: readonly SchemaColumn[];
  readonly rowGroups: readonly RowGroupMeta[];
  /** `null` if the file does not have them: each column has one page, or the file is of an earlier version. */
  readonly #pages: PagePlaces | null;
  /** Columns by path, which a query asks for in each row group. */
  readonly #byPath = new WeakMap<readonly string[], readonly { index: number; column: DataColumn }[]>();

  /**
   * @param footer the end of the file, as `SegmentFile.footer` has it
   * @param size of the file in bytes
   * @throws MalformedFile
   */
  constructor(footer: Uint8Array, size: number) {
    const file: FileMeta = readFooter(footer, size);
    this.properties = readProperties(file);
    this.columns = schemaOf(this.properties.columns);
    this.rowGroups = file.rowGroups;
    const pages = file.properties.get(PAGES);
    this.#pages = pages === undefined ? null : new PagePlaces(pages, file.rowGroups);
  }

  /**
   * Opens a file of which the end has been read.
   * @param tail the last bytes of the file, at least the footer
   * @returns the reader, or the number of bytes at the end of the file that are needed
   * @throws MalformedFile
   */
  static open(tail: Uint8Array, size: number): SegmentReader | number {
    const needed = footerBytes(tail);
    if (needed > size) throw new MalformedFile("The footer is larger than the file.");
    return needed > tail.length ? needed : new SegmentReader(tail.subarray(tail.length - needed), size);
  }

  /** Returns the index of a column by its name, or -1. */
  indexOf(name: string): number {
    return this.columns.findIndex((column) => column.name === name);
  }

  /** Returns the columns of a path in `data`: one for each type. Values of other entries are in `rest`. */
  columnsOf(path: readonly string[]): readonly { index: number; column: DataColumn }[] {
    let found = this.#byPath.get(path);
    if (found === undefined) {
      found = this.properties.columns
        .map((column, index) => ({ column, index: FIRST_DATA_COLUMN + index }))
        .filter(
          ({ column: { path: own } }) => own.length === path.length && own.every((name, at) => name === path[at]),
        );
      this.#byPath.set(path, found);
    }
    return found;
  }

  /** Index of the column with the shapes of lines. */
  get shapeColumn(): number {
    return this.columns.length - 2;
  }

  /** Index of the column with the values of `data` that have no column. */
  get restColumn(): number {
    return this.columns.length - 1;
  }

  /** Returns the type of the values of a column of `data`. */
  dataTypeOf(column: number): DataType | undefined {
    return this.properties.columns[column - FIRST_DATA_COLUMN]?.type;
  }

  /** Returns where the bytes of a column in a row group are. */
  range(group: number, column: number): ByteRange {
    const { offset, storedBytes } = this.#chunk(group, column);
    return { start: offset, end: offset + storedBytes };
  }

  /** Returns the bytes of all columns of a row group, as stored. */
  storedBytes(group: number): number {
    return this.rowGroups[group]?.chunks.reduce((sum, { storedBytes }) => sum + storedBytes, 0) ?? 0;
  }

  /** Returns the data pages of a column in a row group; `null` if they are not known. */
  pages(group: number, column: number): PageList | null {
    return this.#pages?.of(group, column, this.#chunk(group, column)) ?? null;
  }

  /** Bytes of the dictionary of a column in a row group, which come first; 0 without one. */
  dictionaryBytes(group: number, column: number): number {
    const { offset, dataOffset } = this.#chunk(group, column);
    return dataOffset - offset;
  }

  /** Returns how many rows of a row group have no value in a column. */
  nulls(group: number, column: number): number {
    return this.#chunk(group, column).nulls;
  }

  /**
   * Returns how many rows of a row group may have a value of the column's path in `rest`. With 0, the columns of the path
   * have all its numbers, strings and booleans.
   */
  elsewhere(group: number, column: number): number {
    return this.#chunk(group, column).elsewhere;
  }

  /** Bytes of a column in a row group, uncompressed. */
  rawBytes(group: number, column: number): number {
    return this.#chunk(group, column).rawBytes;
  }

  /** Returns the first and the last string of a column in a row group by bytes; `null` if they are not recorded. */
  textRange(group: number, column: number): { min: Uint8Array; max: Uint8Array } | null {
    const { min, max, type } = this.#chunk(group, column);
    return min === null || max === null || type !== TYPE.bytes ? null : { min, max };
  }

  numberRange(group: number, column: number): NumberRange {
    const { min, max, type } = this.#chunk(group, column);
    if (min?.length !== 8 || max?.length !== 8 || (type !== TYPE.int64 && type !== TYPE.double)) return null;
    // Zero is recorded with either sign.
    return { min: numberOf(min, type) + 0, max: numberOf(max, type) + 0 };
  }

  /**
   * Decodes a column of a row group.
   * @param bytes at `range(group, column)`, or those of the pages with chosen rows
   * @param chosen rows of the row group whose values are needed; others may be absent
   * @throws MalformedFile
   */
  decode(group: number, column: number, bytes: ChunkBytes, chosen: RowChoice = null): ColumnValues {
    const schema = this.columns[column];
    if (schema === undefined) throw new RangeError("The file does not have the column.");
    return decodeChunk(schema, this.#chunk(group, column), bytes, chosen);
  }

  /**
   * Decodes a column of strings into a sink of the caller; see `decode`.
   * @throws MalformedFile
   */
  decodeInto(sink: Sink, group: number, column: number, bytes: Uint8Array, chosen: RowChoice): ColumnValues {
    const schema = this.columns[column];
    if (schema === undefined) throw new RangeError("The file does not have the column.");
    return decodeInto(sink, schema, this.#chunk(group, column), bytes, chosen);
  }

  /**
   * Decodes the values of few rows of a column.
   * @param bytes as for `decode`
   * @returns a column with the value of `rows[i]` in row `i`
   * @throws MalformedFile
   */
  pick(group: number, column: number, bytes: ChunkBytes, rows: Int32Array): ColumnValues {
    const schema = this.columns[column];
    if (schema === undefined) throw new RangeError("The file does not have the column.");
    return pickRows(schema, this.#chunk(group, column), bytes, rows);
  }

  texts(group: number, column: number, bytes: Uint8Array, chosen: RowChoice = null): TextColumn {
    const values = this.decode(group, column, bytes, chosen);
    if (values.kind === "texts" || values.kind === "indexedTexts") return values;
    throw new RangeError("The column has no strings.");
  }

  numbers(group: number, column: number, bytes: ChunkBytes, chosen: RowChoice = null): NumberColumn {
    const values = this.decode(group, column, bytes, chosen);
    if (values.kind === "numbers" || values.kind === "indexedNumbers") return values;
    throw new RangeError("The column has no numbers.");
  }

  booleans(group: number, column: number, bytes: Uint8Array, chosen: RowChoice = null): Booleans {
    const values = this.decode(group, column, bytes, chosen);
    if (values.kind === "booleans") return values;
    throw new RangeError("The column has no booleans.");
  }

  #chunk(group: number, column: number): ChunkMeta {
    const chunk = this.rowGroups[group]?.chunks[column];
    if (chunk === undefined) throw new RangeError("The file does not have the column.");
    return chunk;
  }
}

function numberOf(bytes: Uint8Array, type: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return type === TYPE.double ? view.getFloat64(0, true) : Number(view.getBigInt64(0, true));
}
