import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { bitsOf, encodeRuns, runsBytes } from "../parquet/bits.ts";
import { ChunkWriter, PAGE_ROWS, type Validity } from "../parquet/chunk-writer.ts";
import { ENCODING, TYPE } from "../parquet/metadata.ts";
import { PlainPage } from "./plain-page.ts";
import { copy, TextDictionary } from "./text-dictionary.ts";

/** Gives the strings of a column, row by row. */
export interface TextCursor {
  /** Moves to a row. @returns whether the row has a string; then `bytes` has it from `start` to `end` */
  find(row: number): boolean;
  bytes: Uint8Array;
  start: number;
  end: number;
  /** Frees its memory. */
  release?(): void;
}

/** A finished column chunk, without its place in the file. */
export interface EncodedColumn {
  writer: ChunkWriter;
  min: Uint8Array | null;
  max: Uint8Array | null;
}

/** Yielded as a point at which the caller may yield to other requests. */
export type Pause = null;

/** Bytes of a dictionary page: the largest input of one block of zstd. */
export const DICTIONARY_BYTES = 128 * 1024;
/** Strings after which a column with hardly a repetition is given up as a dictionary. */
const TRIAL_ROWS = 1024;
/** A dictionary must hold at most this share of the strings. */
const MAX_DISTINCT = 0.5;
/** Bits of an index up to which indices may be compressed well, and many are in one page. */
const NARROW_BITS = 4;
/** Bits of indices that are compressed byte by byte, and share of their bits up to which that is worth it. */
const BYTE_BITS = 8;
const SKEWED = 0.9;
/** Longest string that is recorded as a minimum or maximum. */
export const STATISTIC_BYTES = 64;

/** Encodes a column of strings, in steps of at most `PAGE_ROWS` rows. */
export function* encodeText(rows: number, cursor: TextCursor): Generator<Pause, EncodedColumn> {
  const dictionary = new TextDictionary(DICTIONARY_BYTES);
  const indices = new Int32Array(rows);
  const validity = new Uint8Array(rows);
  let present = 0;
  let repeats = true;
  for (let row = 0; row < rows; row++) {
    if (row % PAGE_ROWS === PAGE_ROWS - 1) yield null;
    if (!cursor.find(row)) continue;
    const index = dictionary.add(cursor.bytes, cursor.start, cursor.end);
    const { size } = dictionary;
    if (index < 0 || size > rows * MAX_DISTINCT || (size > TRIAL_ROWS && size > 0.8 * present)) {
      repeats = false;
      break;
    }
    validity[row] = 1;
    indices[present++] = index;
  }
  if (dictionary.size > present * MAX_DISTINCT) repeats = false;
  const encoded = repeats ? writeIndices(rows, present === rows ? null : validity, indices, dictionary) : null;
  dictionary.release();
  detachBuffer(indices);
  detachBuffer(validity);
  if (encoded === null) return yield* encodePlain(rows, cursor);
  cursor.release?.();
  return encoded;
}

/** The result has no view of the parameters. */
export function writeIndices(
  rows: number,
  validity: Validity,
  indices: Int32Array,
  dictionary: TextDictionary,
): EncodedColumn {
  const writer = new ChunkWriter(TYPE.bytes, false);
  const { size } = dictionary;
  if (size > 0) {
    writer.dictionary(size, dictionary.textBytes + 4 * size, (out, at) => writeStrings(dictionary, out, at));
  }
  writeIndexPages(writer, rows, validity, indices, size);
  let min: Uint8Array | null = null;
  let max: Uint8Array | null = null;
  for (let index = 0; index < size; index++) {
    const text = dictionary.at(index);
    if (text.length > STATISTIC_BYTES) return { writer, min: null, max: null };
    if (min === null || Buffer.compare(text, min) < 0) min = text;
    if (max === null || Buffer.compare(text, max) > 0) max = text;
  }
  return { writer, min: min?.slice() ?? null, max: max?.slice() ?? null };
}

function writeStrings(dictionary: TextDictionary, out: Uint8Array, from: number): number {
  const view = new DataView(out.buffer, out.byteOffset);
  let at = from;
  for (let index = 0; index < dictionary.size; index++) {
    const text = dictionary.at(index);
    view.setUint32(at, text.length, true);
    copy(text, 0, text.length, out, at + 4);
    at += 4 + text.length;
  }
  return at;
}

/**
 * Writes pages of dictionary indices.
 * @param indices of the rows that have a value
 * @param size of the dictionary; 0 if no row has a value
 * @param narrowRows of a page of narrow indices; if more than `PAGE_ROWS`, indices may be bytes
 */
export function writeIndexPages(
  writer: ChunkWriter,
  rows: number,
  validity: Validity,
  indices: Int32Array,
  size: number,
  narrowRows = PAGE_ROWS,
): void {
  const needed = bitsOf(Math.max(0, size - 1));
  const isByBytes = narrowRows > PAGE_ROWS && needed > NARROW_BITS && needed <= BYTE_BITS && isSkewed(indices, size);
  const width = isByBytes ? BYTE_BITS : needed;
  const pageRows = width <= NARROW_BITS || isByBytes ? narrowRows : PAGE_ROWS;
  let done = 0;
  for (let from = 0; from < rows; from += pageRows) {
    const own = Math.min(pageRows, rows - from);
    const present = presentIn(validity, from, own);
    const first = done;
    const encoding = size === 0 ? ENCODING.plain : ENCODING.dictionary;
    writer.page(validity, from, own, own - present, encoding, 1 + runsBytes(present, width), (out, at) => {
      if (size === 0) return at;
      out[at] = width;
      return encodeRuns(indices, first, present, width, out, at + 1);
    });
    done += present;
  }
}

/** Whether indices take fewer bits by their frequency, as compression of bytes gives them, than all of the same width. */
function isSkewed(indices: Int32Array, size: number): boolean {
  const counts = new Int32Array(size);
  for (let at = 0; at < indices.length; at++) {
    const index = indices[at] ?? 0;
    counts[index] = (counts[index] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of counts) if (count > 0) bits += count * Math.log2(indices.length / count);
  return bits < indices.length * bitsOf(Math.max(0, size - 1)) * SKEWED;
}

/** Returns how many of the rows have a value. */
export function presentIn(validity: Validity, from: number, rows: number): number {
  if (validity === null) return rows;
  let present = 0;
  for (let row = from; row < from + rows; row++) present += validity[row] ?? 0;
  return present;
}

/** Encodes strings one after the other, behind their lengths. */
export function* encodePlain(rows: number, cursor: TextCursor): Generator<Pause, EncodedColumn> {
  const writer = new ChunkWriter(TYPE.bytes, false);
  const page = new PlainPage();
  for (let row = 0; row < rows; row++) {
    const isPresent = cursor.find(row);
    if (page.isFull(isPresent ? cursor.end - cursor.start : 0)) {
      page.close(writer);
      yield null;
    }
    if (isPresent) page.add(cursor.bytes, cursor.start, cursor.end);
    else page.addNull();
  }
  page.close(writer);
  page.release();
  cursor.release?.();
  return { writer, min: null, max: null };
}
