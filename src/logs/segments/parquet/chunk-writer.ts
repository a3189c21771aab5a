import { crc32 } from "node:zlib";
import { encodeRuns, runsBytes } from "./bits.ts";
import { type ChunkMeta, ENCODING, type Encoding, type PhysicalType } from "./metadata.ts";
import { compressPage } from "./page-codec.ts";
import { PAGE, type PageHeader, writePageHeader } from "./page-header.ts";

/** Rows of one page. A page of numbers then has at most 128 KiB, the largest input of one block of zstd. */
export const PAGE_ROWS = 16_384;
/**
 * Bytes of strings in the first page of a column; a longer string has a separate page. Text that shrinks to three
 * quarters, as base64 does, stays below the 40 KiB that workerd's zstd can write.
 */
export const PAGE_TEXT_BYTES = 48 * 1024;
/** Bytes of strings in a page if the page before was small enough when compressed. */
export const MAX_PAGE_TEXT_BYTES = 128 * 1024;
/** Compressed bytes that a page is sized for, some less than the 40 KiB. */
export const PAGE_STORED_BYTES = 32 * 1024;

/**
 * Rows of a page of narrow indices in a joined row group: the most that readers accept. Compression is set up for each page, so large
 * ones are worth it.
 */
export const MOST_PAGE_ROWS = 65_536;

const LEVELS_LENGTH_BYTES = 4;

/** Buffer in which pages are built one after the other. Module state, because a page is complete within one call. */
let scratch = new Uint8Array(256 * 1024);
/** A larger buffer is not kept. */
const KEPT_BYTES = 256 * 1024;

/** Which rows have a value, a byte for each row; `null` if all have. */
export type Validity = Uint8Array | null;

/** Where the values of a page end, and from where on they are compressed; see `compressPage`. */
export interface Written {
  body: number;
  end: number;
}

/** Writes the encoded values of a page. @returns index after the last byte written */
export type WriteValues = (out: Uint8Array, at: number) => number | Written;

/** Collects the pages of one column chunk. */
export class ChunkWriter {
  readonly #type: PhysicalType;
  readonly #isRequired: boolean;
  readonly #parts: Uint8Array[] = [];
  readonly #encodings = new Set<Encoding>();
  #rawBytes = 0;
  #storedBytes = 0;
  #dictionaryBytes = 0;
  #values = 0;
  /** Rows and stored bytes of each data page. */
  readonly #pageRows: number[] = [];
  readonly #pageBytes: number[] = [];
  /** See `ChunkMeta`. */
  elsewhere = 0;
  #nulls = 0;

  constructor(type: PhysicalType, isRequired: boolean) {
    this.#type = type;
    this.#isRequired = isRequired;
  }

  /**
   * Adds the dictionary, before the first data page.
   * @param max maximum number of bytes that `write` writes
   */
  dictionary(count: number, max: number, write: WriteValues): void {
    const buffer = reserve(max);
    this.#add(PAGE.dictionary, count, ENCODING.plain, buffer, write(buffer, 0));
    this.#dictionaryBytes = this.#storedBytes;
  }

  /**
   * Adds a dictionary that is compressed, before the first data page.
   * @param rawBytes of the dictionary
   */
  compressedDictionary(count: number, rawBytes: number, frame: Uint8Array): void {
    this.#addFrame(PAGE.dictionary, count, ENCODING.plain, rawBytes, frame);
    this.#dictionaryBytes = this.#storedBytes;
  }

  /** Adds the data pages of another chunk as they are stored. @param bytes of the chunk, which must have no dictionary */
  copyPages({ encodings, values, nulls, rawBytes, pages }: ChunkMeta, bytes: Uint8Array): void {
    if (pages === undefined) throw new RangeError("The pages of the chunk are not known.");
    for (const encoding of encodings) this.#encodings.add(encoding);
    this.#values += values;
    this.#nulls += nulls;
    this.#rawBytes += rawBytes;
    this.#storedBytes += bytes.length;
    this.#pageRows.push(...pages.rows);
    this.#pageBytes.push(...pages.bytes);
    this.#parts.push(bytes);
  }

  /** Adds a data page of another chunk. @param frame its stored bytes, or the same page compressed in another way */
  storedPage({ values, encoding, rawBytes }: PageHeader, frame: Uint8Array): void {
    const before = this.#storedBytes;
    this.#addFrame(PAGE.data, values, encoding, rawBytes, frame);
    this.#values += values;
    this.#pageRows.push(values);
    this.#pageBytes.push(this.#storedBytes - before);
  }

  /** Counts rows without a value, of pages that were added as they are stored. */
  addNulls(nulls: number): void {
    this.#nulls += nulls;
  }

  /** Bytes of the pages so far, as stored. */
  get storedBytes(): number {
    return this.#storedBytes;
  }

  /**
   * Adds a page of rows.
   * @param nulls number of rows without a value
   * @param max maximum number of bytes that `write` writes for the other rows
   * @returns bytes of the page as stored
   */
  page(
    validity: Validity,
    from: number,
    rows: number,
    nulls: number,
    encoding: Encoding,
    max: number,
    write: WriteValues,
  ): number {
    const buffer = reserve(LEVELS_LENGTH_BYTES + runsBytes(rows, 1) + max);
    let at = 0;
    if (!this.#isRequired) {
      at = LEVELS_LENGTH_BYTES;
      at = encodeRuns(validity ?? ONES, validity === null ? 0 : from, rows, 1, buffer, at);
      new DataView(buffer.buffer).setUint32(0, at - LEVELS_LENGTH_BYTES, true);
    }
    this.#values += rows;
    this.#nulls += nulls;
    const before = this.#storedBytes;
    const stored = this.#add(PAGE.data, rows, encoding, buffer, write(buffer, at));
    this.#pageRows.push(rows);
    this.#pageBytes.push(this.#storedBytes - before);
    return stored;
  }

  /**
   * @param offset of the chunk in the file
   * @returns the chunk's bytes in parts, and its metadata
   */
  finish(offset: number, min: Uint8Array | null, max: Uint8Array | null): { parts: Uint8Array[]; meta: ChunkMeta } {
    const meta = {
      type: this.#type,
      encodings: [...new Set([...this.#encodings, ENCODING.runs])],
      values: this.#values,
      nulls: this.#nulls,
      elsewhere: this.elsewhere,
      rawBytes: this.#rawBytes,
      storedBytes: this.#storedBytes,
      offset,
      dataOffset: offset + this.#dictionaryBytes,
      min,
      max,
      pages: { rows: Int32Array.from(this.#pageRows), bytes: Int32Array.from(this.#pageBytes) },
    };
    return { parts: this.#parts, meta };
  }

  #add(
    kind: PageHeader["kind"],
    values: number,
    encoding: Encoding,
    buffer: Uint8Array,
    written: number | Written,
  ): number {
    const { body, end } = typeof written === "number" ? { body: 0, end: written } : written;
    const raw = buffer.subarray(0, end);
    const frame = compressPage(raw, body, leastSavedOf(kind, encoding));
    this.#addFrame(kind, values, encoding, raw.length, frame);
    return frame.length;
  }

  #addFrame(kind: PageHeader["kind"], values: number, encoding: Encoding, rawBytes: number, frame: Uint8Array): void {
    const sizes = { rawBytes, storedBytes: frame.length, crc: crc32(frame) };
    const header = writePageHeader({ kind, values, encoding, ...sizes });
    this.#encodings.add(encoding);
    this.#rawBytes += header.length + rawBytes;
    this.#storedBytes += header.length + frame.length;
    this.#parts.push(header, frame);
  }
}

/** Bytes that compression of a dictionary, and of indices into one, must save. */
const DICTIONARY_SAVED = 512;
const INDICES_SAVED = 2048;

/**
 * Setting zstd up takes as long as decoding the indices of 10,000 rows, in each scan and for each line that is put together. So
 * these pages are compressed only if it saves more than a few hundred bytes. The others take 0.3 bytes an entry in all.
 */
function leastSavedOf(kind: PageHeader["kind"], encoding: Encoding): number {
  if (kind === PAGE.dictionary) return DICTIONARY_SAVED;
  return encoding === ENCODING.dictionary ? INDICES_SAVED : 0;
}

/** Levels of a page without nulls. */
const ONES = new Uint8Array(MOST_PAGE_ROWS).fill(1);

function reserve(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes <= scratch.length) return scratch;
  const grown = new Uint8Array(bytes);
  if (bytes <= KEPT_BYTES) scratch = grown;
  return grown;
}
