import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { type ColumnValues, releaseColumn, type TextColumn } from "../decode/column-values.ts";
import { decodeChunk } from "../decode/decode-chunk.ts";
import {
  type EncodedColumn,
  encodePlain,
  type Pause,
  STATISTIC_BYTES,
  type TextCursor,
  writeIndexPages,
} from "../encode/text-column.ts";
import { TextDictionary } from "../encode/text-dictionary.ts";
import { ChunkWriter, MOST_PAGE_ROWS } from "../parquet/chunk-writer.ts";
import { type SchemaColumn, TYPE } from "../parquet/metadata.ts";
import { compressLong } from "../parquet/page-codec.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { hasDictionary, repackAll } from "./copy-pages.ts";
import type { Chunk } from "./merged-file.ts";

/** Joins the chunks of a column of strings. */

/** A point at which the caller may yield to other requests, or must await the promise. */
export type MergeStep = Pause | Promise<void>;

/** Bytes of the dictionary of a joined column, with the lengths of its strings. */
const DICTIONARY_BYTES = 2 * 1024 * 1024;
/** Bytes of a dictionary that is compressed at once. */
const SHORT_BYTES = 32 * 1024;
/** Share of different strings in the first row group from which on a column gets no dictionary. */
const MAX_DISTINCT = 0.9;
/** Strings that are looked at first, and share of different ones from which on no dictionary is tried. */
const TRIAL_ROWS = 2048;
const TRIAL_DISTINCT = 0.98;
/** Strings of a dictionary that readers accept. */
const MAX_STRINGS = 65_536;

/** Joins the strings of chunks to a column with one dictionary of sorted strings, if that takes fewer bytes. */
export function* joinTexts(
  column: SchemaColumn,
  chunks: readonly Chunk[],
  rows: number,
): Generator<MergeStep, EncodedColumn> {
  const isPlain = !chunks.some(hasDictionary);
  if (isPlain && hardlyRepeats(column, chunks)) return yield* repackAll(column, chunks);
  const dictionary = new TextDictionary(DICTIONARY_BYTES);
  const indices = new Int32Array(rows);
  const validity = new Uint8Array(rows);
  const present = yield* collect(column, chunks, { dictionary, indices, validity, isPlain });
  let encoded: EncodedColumn | null = null;
  if (present >= 0) {
    encoded = yield* writeSorted(rows, present === rows ? null : validity, indices.subarray(0, present), dictionary);
    const plainBytes = chunks.reduce((sum, { meta }) => sum + meta.storedBytes, 0);
    if (isPlain && encoded.writer.storedBytes >= plainBytes) {
      for (const part of encoded.writer.finish(0, null, null).parts) detachBuffer(part);
      encoded = null;
    }
  }
  dictionary.release();
  detachBuffer(indices);
  detachBuffer(validity);
  if (encoded !== null) return encoded;
  return isPlain ? yield* repackAll(column, chunks) : yield* encodePlain(rows, new ChunkTexts(column, chunks));
}

/** Whether nearly all of some first strings are different, as ids are. */
function hardlyRepeats(column: SchemaColumn, [first]: readonly Chunk[]): boolean {
  const { pages = null, values = 0 } = first?.meta ?? {};
  if (first === undefined || pages === null || values < TRIAL_ROWS) return false;
  const rows = Int32Array.from({ length: TRIAL_ROWS }, (_, row) => row);
  const some = { pages, bytes: (start: number, end: number) => first.bytes.subarray(start, end) };
  const decoded = decodeChunk(column, first.meta, some, rows);
  const dictionary = new TextDictionary(DICTIONARY_BYTES);
  const indices = new Int32Array(TRIAL_ROWS);
  const added = isTexts(decoded) ? addTexts(dictionary, decoded, TRIAL_ROWS, indices, 0) : 0;
  const { size } = dictionary;
  releaseColumn(decoded);
  dictionary.release();
  for (const buffer of [rows, indices]) detachBuffer(buffer);
  return added < 0 || (added > TRIAL_ROWS / 2 && size > added * TRIAL_DISTINCT);
}

interface Collected {
  dictionary: TextDictionary;
  /** Of the rows that have a value. */
  indices: Int32Array;
  validity: Uint8Array;
  /** Whether no chunk has a dictionary. */
  isPlain: boolean;
}

/** @returns rows with a value; -1 if the strings are too many or hardly repeat */
function* collect(
  column: SchemaColumn,
  chunks: readonly Chunk[],
  { dictionary, indices, validity, isPlain }: Collected,
): Generator<Pause, number> {
  let [present, row] = [0, 0];
  for (const { meta, bytes } of chunks) {
    const decoded = textsOf(column, { meta, bytes });
    const added = addTexts(dictionary, decoded, meta.values, indices, present);
    if (added >= 0) {
      for (let own = 0; own < meta.values; own++, row++) validity[row] = hasText(decoded, own) ? 1 : 0;
      present += added;
    }
    releaseColumn(decoded);
    if (
      added < 0 ||
      dictionary.size > MAX_STRINGS ||
      (isPlain && present > 0 && dictionary.size > present * MAX_DISTINCT)
    )
      return -1;
    yield null;
  }
  return present;
}

/** @returns rows with a value; -1 if the dictionary is full */
function addTexts(
  dictionary: TextDictionary,
  column: TextColumn,
  rows: number,
  indices: Int32Array,
  from: number,
): number {
  let next = from;
  if (column.kind === "texts") {
    const { texts } = column;
    for (let row = 0; row < rows; row++) {
      if (!hasText(column, row)) continue;
      const index = dictionary.add(texts.bytes, texts.startOf(row), texts.endOf(row));
      if (index < 0) return -1;
      indices[next++] = index;
    }
    return next - from;
  }
  const texts = column.dictionary;
  const known = new Int32Array(texts.length);
  for (let own = 0; own < known.length; own++) {
    const index = dictionary.add(texts.bytes, texts.startOf(own), texts.endOf(own));
    if (index < 0) return -1;
    known[own] = index;
  }
  for (let row = 0; row < rows; row++) {
    const own = column.indices[row] ?? -1;
    if (own >= 0) indices[next++] = known[own] ?? 0;
  }
  return next - from;
}

function hasText(column: TextColumn, row: number): boolean {
  return column.kind === "texts" ? column.validity?.[row] !== 0 : (column.indices[row] ?? -1) >= 0;
}

function textsOf(column: SchemaColumn, { meta, bytes }: Chunk): TextColumn {
  const decoded = decodeChunk(column, meta, bytes);
  if (isTexts(decoded)) return decoded;
  throw new MalformedFile("The column has no strings.");
}

function isTexts(column: ColumnValues): column is TextColumn {
  return column.kind === "texts" || column.kind === "indexedTexts";
}

/** Writes a column with a dictionary in the order of its strings: neighbors that begin alike take few bytes. */
function* writeSorted(
  rows: number,
  validity: Uint8Array | null,
  indices: Int32Array,
  dictionary: TextDictionary,
): Generator<MergeStep, EncodedColumn> {
  const order = dictionary.sorted();
  yield null;
  const { size } = dictionary;
  const places = new Int32Array(size);
  const raw = new Uint8Array(dictionary.textBytes + 4 * size);
  const view = new DataView(raw.buffer);
  let longest = 0;
  let at = 0;
  for (let place = 0; place < size; place++) {
    const index = order[place] ?? 0;
    const length = dictionary.lengthOf(index);
    places[index] = place;
    longest = Math.max(longest, length);
    view.setUint32(at, length, true);
    at = dictionary.copyTo(index, raw, at + 4);
  }
  for (let row = 0; row < indices.length; row++) indices[row] = places[indices[row] ?? 0] ?? 0;
  yield null;
  const writer = new ChunkWriter(TYPE.bytes, false);
  if (raw.length > SHORT_BYTES) writer.compressedDictionary(size, raw.length, yield* compressLong(raw));
  else {
    writer.dictionary(size, raw.length, (out, from) => {
      out.set(raw, from);
      return from + raw.length;
    });
  }
  writeIndexPages(writer, rows, validity, indices, size, MOST_PAGE_ROWS);
  const isRecorded = longest <= STATISTIC_BYTES;
  const min = isRecorded ? dictionary.at(order[0] ?? 0).slice() : null;
  const max = isRecorded ? dictionary.at(order[size - 1] ?? 0).slice() : null;
  for (const buffer of [order, places, raw]) detachBuffer(buffer);
  return { writer, min, max };
}

/** Gives the strings of several chunks, row by row. */
class ChunkTexts implements TextCursor {
  bytes: Uint8Array = new Uint8Array();
  start = 0;
  end = 0;
  readonly #column: SchemaColumn;
  readonly #chunks: readonly Chunk[];
  #next = 0;
  /** Row of the first chunk that is not decoded, and of the decoded one. */
  #endRow = 0;
  #startRow = 0;
  #texts: TextColumn | null = null;

  constructor(column: SchemaColumn, chunks: readonly Chunk[]) {
    this.#column = column;
    this.#chunks = chunks;
  }

  find(row: number): boolean {
    while (row >= this.#endRow) this.#open();
    const texts = this.#texts;
    const own = row - this.#startRow;
    if (texts === null || !hasText(texts, own)) return false;
    const strings = texts.kind === "texts" ? texts.texts : texts.dictionary;
    const index = texts.kind === "texts" ? own : (texts.indices[own] ?? 0);
    this.bytes = strings.bytes;
    this.start = strings.startOf(index);
    this.end = strings.endOf(index);
    return true;
  }

  release(): void {
    if (this.#texts !== null) releaseColumn(this.#texts);
    this.#texts = null;
  }

  #open(): void {
    this.release();
    const chunk = this.#chunks[this.#next++];
    if (chunk === undefined) throw new RangeError("The column has no such row.");
    this.#startRow = this.#endRow;
    this.#endRow += chunk.meta.values;
    this.#texts = textsOf(this.#column, chunk);
  }
}
