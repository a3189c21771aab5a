import { crc32 } from "node:zlib";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { decodeRuns } from "../parquet/bits.ts";
import { type ChunkMeta, ENCODING, type PageList, type SchemaColumn, TYPE } from "../parquet/metadata.ts";
import { decompressPage } from "../parquet/page-codec.ts";
import { PAGE, type PageHeader, readPageHeader } from "../parquet/page-header.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import type { ColumnValues } from "./column-values.ts";
import { NumberSink, type Sink, TextSink } from "./sinks.ts";

/** Limits within which a reader accepts a chunk. */
const LIMITS = {
  /** Bytes of one page: one line at most, or the pages that this version writes. */
  pageBytes: 16 * 1024 * 1024,
  /** Bytes of all pages of a chunk. */
  chunkBytes: 64 * 1024 * 1024,
} as const;

/** Rows of one page that a reader accepts. */
const MAX_PAGE_ROWS = 65_536;
const LEVELS_LENGTH_BYTES = 4;

/** Levels of the rows of a page. Module state, because a page is read within one call. */
let pageLevels = new Int32Array(0);

/** Rows of a row group to decode, in rising order; `null` for all. */
export type RowChoice = Int32Array | null;

/** Some pages of a chunk. */
export interface ChunkPages {
  /** All data pages of the chunk. */
  pages: PageList;
  /** Returns bytes of the chunk, counted from its first one: of its dictionary, or of a page with a chosen row. */
  bytes(start: number, end: number): Uint8Array;
}

/** The bytes of a chunk: `meta.storedBytes` from `meta.offset` on, or those of some pages. */
export type ChunkBytes = Uint8Array | ChunkPages;

/**
 * Decodes a column of strings into a sink of the caller, page by page.
 * @throws MalformedFile
 */
export function decodeInto(
  sink: Sink,
  column: SchemaColumn,
  meta: ChunkMeta,
  bytes: ChunkBytes,
  chosen: RowChoice = null,
): ColumnValues {
  if (meta.rawBytes > LIMITS.chunkBytes) throw new MalformedFile("A column is too large.");
  const decoder = new ChunkDecoder(column, meta, chosen, sink);
  if (bytes instanceof Uint8Array) {
    if (bytes.length !== meta.storedBytes) throw new MalformedFile("A column has another length.");
    for (let at = 0; at < bytes.length; ) at = decoder.pageAt(bytes, at);
  } else decodePages(decoder, meta, bytes);
  return decoder.finish();
}

function decodePages(decoder: ChunkDecoder, { offset, dataOffset }: ChunkMeta, { pages, bytes }: ChunkPages): void {
  let at = dataOffset - offset;
  if (at > 0 && decoder.hasValues) decoder.pageAt(bytes(0, at), 0);
  for (const [page, rows] of pages.rows.entries()) {
    const end = at + (pages.bytes[page] ?? 0);
    if (!decoder.reads(rows)) decoder.skip(rows);
    else if (decoder.pageAt(bytes(at, end), 0, rows) !== end - at)
      throw new MalformedFile("A page has another length.");
    at = end;
  }
}

/** Returns a page as an array that has its bytes for itself: a dictionary outlives the bytes of the file. */
function ownBytes(page: Uint8Array, stored: Uint8Array): Uint8Array {
  if (page.buffer === stored.buffer) return new Uint8Array(page);
  // Views of a buffer of `node:zlib` take as long as to copy 300 bytes.
  return new Uint8Array(page.buffer, page.byteOffset, page.byteLength);
}

/**
 * Decodes a column of a row group. With chosen rows only the pages that hold one of them are decompressed; the values
 * of all other rows are absent.
 * @throws MalformedFile
 */
export function decodeChunk(
  column: SchemaColumn,
  meta: ChunkMeta,
  bytes: ChunkBytes,
  chosen: RowChoice = null,
): ColumnValues {
  const { values, nulls, type } = meta;
  const hasAll = nulls === 0 && chosen === null;
  const sink = type === TYPE.bytes ? new TextSink(values, hasAll) : new NumberSink(values, hasAll, type);
  return decodeInto(sink, column, meta, bytes, chosen);
}

class ChunkDecoder {
  readonly #column: SchemaColumn;
  readonly #rows: number;
  readonly #nulls: number;
  readonly #chosen: RowChoice;
  /** Index in `#chosen` of the first row that no page has reached. */
  #nextChosen = 0;
  readonly #sink: Sink;
  #row = 0;
  #rawBytes: number;
  /** Levels of the rows, once a page has a null. */
  #validity: Uint8Array | null = null;

  constructor(column: SchemaColumn, { values, nulls, rawBytes }: ChunkMeta, chosen: RowChoice, sink: Sink) {
    this.#column = column;
    this.#rows = values;
    this.#nulls = nulls;
    this.#chosen = chosen;
    this.#rawBytes = rawBytes;
    this.#sink = sink;
    if (nulls > 0 || chosen !== null) this.#validity = new Uint8Array(values);
  }

  /** Whether a row has a value. */
  get hasValues(): boolean {
    return this.#nulls < this.#rows;
  }

  /** Whether a page of the next rows has to be read. */
  reads(rows: number): boolean {
    return this.hasValues && this.#sink.isDone !== true && this.#isChosen(rows);
  }

  /** Passes over a page of the next rows. */
  skip(rows: number): void {
    this.#sink.skip(this.#row, rows);
    this.#row += rows;
  }

  /**
   * Reads a page, or passes over it.
   * @param rows that it must have, if they are known
   * @returns index after its last byte
   */
  pageAt(bytes: Uint8Array, at: number, rows?: number): number {
    const { header, start } = readPageHeader(bytes, at);
    if (rows !== undefined && header.values !== rows) throw new MalformedFile("A page has other rows.");
    const end = start + header.storedBytes;
    this.#page(header, bytes.subarray(start, end));
    return end;
  }

  #page(header: PageHeader, stored: Uint8Array): void {
    const { kind, rawBytes, values, encoding, crc } = header;
    this.#rawBytes -= rawBytes;
    if (rawBytes > LIMITS.pageBytes || this.#rawBytes < 0) throw new MalformedFile("A page is too large.");
    const open = () => {
      if (crc32(stored) !== crc) throw new MalformedFile("A page is damaged.");
      return decompressPage(stored, rawBytes);
    };
    if (kind === PAGE.dictionary) {
      if (this.#row > 0 || encoding !== ENCODING.plain) throw new MalformedFile("A dictionary is in the wrong place.");
      const raw = ownBytes(open(), stored);
      if (!this.#sink.dictionary(raw, values)) detachBuffer(raw);
      return;
    }
    if (values > MAX_PAGE_ROWS || this.#row + values > this.#rows) throw new MalformedFile("A page has too many rows.");
    if (!this.reads(values)) {
      this.skip(values);
      return;
    }
    this.#readPage(open(), values, header);
    this.#row += values;
  }

  finish(): ColumnValues {
    if (this.#row !== this.#rows) throw new MalformedFile("A column is incomplete.");
    return this.#sink.finish(this.#validity);
  }

  /** Whether the next rows include a chosen one. */
  #isChosen(rows: number): boolean {
    const chosen = this.#chosen;
    if (chosen === null) return true;
    while (this.#nextChosen < chosen.length && (chosen[this.#nextChosen] ?? 0) < this.#row) this.#nextChosen++;
    return (chosen[this.#nextChosen] ?? Number.POSITIVE_INFINITY) < this.#row + rows;
  }

  #readPage(raw: Uint8Array, rows: number, { encoding }: PageHeader): void {
    let at = 0;
    let present = rows;
    let levels: Int32Array | null = null;
    if (!this.#column.isRequired) {
      if (raw.length < LEVELS_LENGTH_BYTES) throw new MalformedFile("A page is incomplete.");
      const length = new DataView(raw.buffer, raw.byteOffset, LEVELS_LENGTH_BYTES).getUint32(0, true);
      at = LEVELS_LENGTH_BYTES + length;
      if (at > raw.length) throw new MalformedFile("A page is incomplete.");
      if (this.#nulls > 0) present = this.#readLevels(raw.subarray(0, at), rows);
      if (present < rows) levels = pageLevels;
    }
    this.#mark(levels, rows);
    const isKept = this.#sink.read(raw, at, encoding, { row: this.#row, rows, present, levels });
    if (!isKept) detachBuffer(raw);
  }

  /** @returns how many of the rows have a value */
  #readLevels(bytes: Uint8Array, rows: number): number {
    if (pageLevels.length < rows) pageLevels = new Int32Array(rows);
    decodeRuns(bytes, LEVELS_LENGTH_BYTES, 1, pageLevels, 0, rows, 2);
    let present = 0;
    for (let row = 0; row < rows; row++) present += pageLevels[row] ?? 0;
    return present;
  }

  #mark(levels: Int32Array | null, rows: number): void {
    const validity = this.#validity;
    if (validity === null) return;
    if (levels === null) validity.fill(1, this.#row, this.#row + rows);
    else for (let row = 0; row < rows; row++) validity[this.#row + row] = levels[row] ?? 0;
  }
}
