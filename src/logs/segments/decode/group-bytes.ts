import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { wholeChunk } from "../parquet/page-places.ts";
import type { ChunkBytes, RowChoice } from "./decode-chunk.ts";
import type { ByteRange, SegmentReader } from "./segment-reader.ts";

/** Bytes between two wanted columns up to which they are read as one range: a request costs more than these bytes. */
export const JOINED_BYTES = 128 * 1024;

/** The bytes of a row group's columns that were read so far. Positions are those of the file. */
export class GroupBytes {
  readonly #reader: SegmentReader;
  readonly #group: number;
  readonly #parts: { start: number; bytes: Uint8Array }[] = [];

  constructor(reader: SegmentReader, group: number) {
    this.#reader = reader;
    this.#group = group;
  }

  /** Returns the row group of a file that is held as a whole. @param file its bytes, which are not freed with the row group */
  static ofFile(reader: SegmentReader, group: number, file: Uint8Array): GroupBytes {
    const bytes = new GroupBytes(reader, group);
    bytes.add(0, file);
    return bytes;
  }

  /** Returns the fewest ranges with all columns. */
  get all(): ByteRange[] {
    return this.missing(this.#reader.columns.keys());
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /**
   * Returns the fewest ranges with the columns that were not read yet, in order.
   * @param rows whose values are needed, in rising order: then only the pages with one of them are read
   */
  missing(columns: Iterable<number>, rows: RowChoice = null): ByteRange[] {
    const wanted = [...new Set(columns)]
      .flatMap((column) => (rows === null ? this.#reader.range(this.#group, column) : this.#pagesOf(column, rows)))
      .filter((range) => this.#partOf(range) === undefined)
      .sort((a, b) => a.start - b.start);
    const joined: ByteRange[] = [];
    for (const { start, end } of wanted) {
      const last = joined.at(-1);
      if (last !== undefined && start - last.end <= JOINED_BYTES) last.end = Math.max(last.end, end);
      else joined.push({ start, end });
    }
    return joined;
  }

  /** Adds bytes that were read. */
  add(start: number, bytes: Uint8Array): void {
    this.#parts.push({ start, bytes });
  }

  /** Returns the bytes of a column that was read. */
  chunk(column: number): Uint8Array {
    return this.#slice(this.#reader.range(this.#group, column));
  }

  /** Returns the bytes of a column of which the pages with some rows were read, or all. */
  pages(column: number): ChunkBytes {
    const range = this.#reader.range(this.#group, column);
    if (this.#partOf(range) !== undefined) return this.#slice(range);
    const meta = this.#reader.rowGroups[this.#group]?.chunks[column];
    if (meta === undefined) throw new RangeError("The file does not have the column.");
    return {
      pages: this.#reader.pages(this.#group, column) ?? wholeChunk(meta),
      bytes: (start, end) => this.#slice({ start: range.start + start, end: range.start + end }),
    };
  }

  /** Frees the bytes. */
  release(): void {
    for (const { bytes } of this.#parts) detachBuffer(bytes);
    this.#parts.length = 0;
  }

  /** Returns where the dictionary of a column is, and its pages that have one of some rows. */
  #pagesOf(column: number, rows: Int32Array): ByteRange[] {
    const reader = this.#reader;
    const group = this.#group;
    const whole = reader.range(group, column);
    // Without a value in the row group no page is opened.
    if (reader.nulls(group, column) === reader.rowGroups[group]?.rows) return [];
    const pages = reader.pages(group, column);
    if (pages === null || pages.rows.length === 1) return [whole];
    const dictionaryBytes = reader.dictionaryBytes(group, column);
    const ranges: ByteRange[] =
      dictionaryBytes === 0 ? [] : [{ start: whole.start, end: whole.start + dictionaryBytes }];
    let start = whole.start + dictionaryBytes;
    let row = 0;
    let next = 0;
    for (const [page, count] of pages.rows.entries()) {
      const end = start + (pages.bytes[page] ?? 0);
      row += count;
      if ((rows[next] ?? row) < row) ranges.push({ start, end });
      while ((rows[next] ?? row) < row) next++;
      start = end;
    }
    return ranges;
  }

  #slice(range: ByteRange): Uint8Array {
    const part = this.#partOf(range);
    if (part === undefined) throw new RangeError("The column was not read.");
    return part.bytes.subarray(range.start - part.start, range.end - part.start);
  }

  #partOf({ start, end }: ByteRange) {
    return this.#parts.find((part) => part.start <= start && part.start + part.bytes.length >= end);
  }
}
