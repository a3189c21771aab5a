import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { pickFromRuns } from "../parquet/bits.ts";
import { decodeDelta } from "../parquet/delta.ts";
import {
  type ChunkMeta,
  ENCODING,
  type Encoding,
  type PhysicalType,
  type SchemaColumn,
  TYPE,
} from "../parquet/metadata.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { type ColumnValues, Texts } from "./column-values.ts";
import { type ChunkBytes, decodeInto } from "./decode-chunk.ts";
import { findStrings } from "./read-strings.ts";
import type { PageRows, Sink } from "./sinks.ts";

const NUMBER_BYTES = 8;
const LENGTH_BYTES = 4;

// Module state, because a page is read within one call. A page has at most 65,536 rows.
let numbers = new Float64Array(0);
let integers = new Int32Array(0);

/**
 * Decodes the values of few rows of a column. Like `decodeChunk` and `gatherRows`, without memory for the other rows.
 * @param rows of the row group, in rising order
 * @returns a column with the value of `rows[i]` in row `i`
 * @throws MalformedFile
 */
export function pickRows(column: SchemaColumn, meta: ChunkMeta, bytes: ChunkBytes, rows: Int32Array): ColumnValues {
  const sink = meta.type === TYPE.bytes ? new PickedTexts(rows) : new PickedNumbers(rows, meta.type);
  return decodeInto(sink, column, meta, bytes, rows);
}

/** Finds the chosen rows in pages, which come in order. */
class PickedRows {
  readonly #chosen: Int32Array;
  #next = 0;
  /** Of each chosen row of the page that has a value: its index in the chosen rows, and the index of the value in the page. */
  rows: number[] = [];
  values: number[] = [];

  constructor(rows: Int32Array) {
    this.#chosen = rows;
  }

  /** @returns whether one of the rows has a value */
  page({ row, rows, levels }: PageRows): boolean {
    this.rows = [];
    this.values = [];
    const end = row + rows;
    while ((this.#chosen[this.#next] ?? end) < row) this.#next++;
    let at = 0;
    let value = 0;
    for (; (this.#chosen[this.#next] ?? end) < end; this.#next++) {
      const own = (this.#chosen[this.#next] ?? 0) - row;
      if (levels === null) value = own;
      else for (; at < own; at++) value += levels[at] ?? 0;
      if (levels !== null && levels[own] !== 1) continue;
      this.rows.push(this.#next);
      this.values.push(value);
    }
    return this.rows.length > 0;
  }
}

class PickedNumbers implements Sink {
  readonly #type: PhysicalType;
  readonly #picked: PickedRows;
  readonly #values: Float64Array;
  readonly #validity: Uint8Array;
  #dictionary: DataView | null = null;

  constructor(rows: Int32Array, type: PhysicalType) {
    this.#type = type;
    this.#picked = new PickedRows(rows);
    this.#values = new Float64Array(rows.length);
    this.#validity = new Uint8Array(rows.length);
  }

  dictionary(raw: Uint8Array, count: number): boolean {
    if (raw.length !== count * NUMBER_BYTES || this.#type === TYPE.boolean) {
      throw new MalformedFile("A dictionary has another form.");
    }
    this.#dictionary = viewOf(raw);
    return true;
  }

  read(raw: Uint8Array, at: number, encoding: Encoding, page: PageRows): boolean {
    if (!this.#picked.page(page)) return false;
    const { rows, values } = this.#picked;
    const valueAt = this.#opened(raw, at, encoding, page.present, values);
    for (const [found, row] of rows.entries()) {
      this.#values[row] = valueAt(values[found] ?? 0, found);
      this.#validity[row] = 1;
    }
    return false;
  }

  skip(): void {
    // Rows of the page are not chosen, or have no value.
  }

  finish(): ColumnValues {
    const validity = this.#validity;
    if (this.#dictionary !== null) detachBuffer(this.#dictionary);
    if (this.#type !== TYPE.boolean) {
      return { kind: "numbers", values: this.#values, validity: validity.includes(0) ? validity : null };
    }
    return {
      kind: "booleans",
      values: Int8Array.from(this.#values, (value, row) => (validity[row] === 0 ? -1 : value)),
    };
  }

  /** Returns a function that gives a wanted value by its index in the page, and by that in `wanted`. */
  #opened(
    raw: Uint8Array,
    at: number,
    encoding: Encoding,
    present: number,
    wanted: readonly number[],
  ): (index: number, found: number) => number {
    const dictionary = this.#dictionary;
    if (dictionary !== null) {
      if (encoding !== ENCODING.dictionary) throw new MalformedFile("A page has another encoding.");
      const size = dictionary.byteLength / NUMBER_BYTES;
      const indices = pickFromRuns(raw, at + 1, raw[at] ?? 0, present, wanted, size);
      return (_, found) => this.#numberAt(dictionary, (indices[found] ?? 0) * NUMBER_BYTES);
    }
    if (this.#type === TYPE.boolean) {
      if (raw.length - at < Math.ceil(present / 8)) throw new MalformedFile("A page is incomplete.");
      return (index) => ((raw[at + (index >> 3)] ?? 0) >> (index & 7)) & 1;
    }
    if (encoding === ENCODING.delta && this.#type === TYPE.int64) {
      const needed = (wanted.at(-1) ?? 0) + 1;
      if (numbers.length < needed) numbers = new Float64Array(needed);
      decodeDelta(raw, at, numbers, 0, present, needed);
      return (index) => numbers[index] ?? 0;
    }
    if (raw.length - at < present * NUMBER_BYTES) throw new MalformedFile("A page is incomplete.");
    if (encoding === ENCODING.plain) {
      const view = viewOf(raw);
      return (index) => this.#numberAt(view, at + index * NUMBER_BYTES);
    }
    if (encoding !== ENCODING.split || this.#type !== TYPE.double)
      throw new MalformedFile("A page has another encoding.");
    const octets = new DataView(new ArrayBuffer(NUMBER_BYTES));
    return (index) => {
      for (let octet = 0; octet < NUMBER_BYTES; octet++) octets.setUint8(octet, raw[at + octet * present + index] ?? 0);
      return octets.getFloat64(0, true);
    };
  }

  #numberAt(view: DataView, at: number): number {
    if (this.#type === TYPE.double) return view.getFloat64(at, true);
    return view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
  }
}

class PickedTexts implements Sink {
  readonly #picked: PickedRows;
  readonly #validity: Uint8Array;
  /** The string of each chosen row, or its index in the dictionary. */
  readonly #texts: Uint8Array[];
  readonly #indices: Int32Array;
  #dictionary: { bytes: Uint8Array; count: number } | null = null;

  constructor(rows: Int32Array) {
    this.#picked = new PickedRows(rows);
    this.#validity = new Uint8Array(rows.length);
    this.#texts = Array.from({ length: rows.length }, () => NOTHING);
    this.#indices = new Int32Array(rows.length);
  }

  dictionary(raw: Uint8Array, count: number): boolean {
    if (count > raw.length / LENGTH_BYTES) throw new MalformedFile("A dictionary has another form.");
    this.#dictionary = { bytes: raw, count };
    return true;
  }

  read(raw: Uint8Array, at: number, encoding: Encoding, page: PageRows): boolean {
    if (!this.#picked.page(page)) return false;
    const { rows, values } = this.#picked;
    for (const row of rows) this.#validity[row] = 1;
    if (this.#dictionary !== null) {
      if (encoding !== ENCODING.dictionary) throw new MalformedFile("A page has another encoding.");
      const indices = pickFromRuns(raw, at + 1, raw[at] ?? 0, page.present, values, this.#dictionary.count);
      for (const [found, row] of rows.entries()) this.#indices[row] = indices[found] ?? 0;
      return false;
    }
    if (integers.length < page.present) integers = new Int32Array(page.present);
    const lengths = integers;
    const { raw: text, start, shared } = findStrings(raw, at, encoding, lengths, page.present);
    const prefix = text.subarray(start, start + shared);
    let value = 0;
    let from = start;
    for (const [found, row] of rows.entries()) {
      for (const wanted = values[found] ?? 0; value < wanted; value++) from += lengths[value] ?? 0;
      const own = text.subarray(from, from + (lengths[value] ?? 0));
      this.#texts[row] = value === 0 ? copyOf(own) : joined(prefix, own);
    }
    return false;
  }

  skip(): void {
    // Rows of the page are not chosen, or have no value.
  }

  finish(): ColumnValues {
    if (this.#dictionary !== null) this.#takeFromDictionary(this.#dictionary);
    const offsets = new Int32Array(this.#texts.length + 1);
    for (const [row, { length }] of this.#texts.entries()) offsets[row + 1] = (offsets[row] ?? 0) + length;
    const bytes = new Uint8Array(offsets[this.#texts.length] ?? 0);
    for (const [row, text] of this.#texts.entries()) bytes.set(text, offsets[row]);
    if (this.#dictionary !== null) detachBuffer(this.#dictionary.bytes);
    const validity = this.#validity.includes(0) ? this.#validity : null;
    return { kind: "texts", texts: new Texts(bytes, offsets), validity };
  }

  #takeFromDictionary({ bytes, count }: { bytes: Uint8Array; count: number }): void {
    const view = viewOf(bytes);
    const ends = new Int32Array(count);
    let at = 0;
    for (let index = 0; index < count; index++) {
      const length = at + LENGTH_BYTES <= bytes.length ? view.getUint32(at, true) : bytes.length;
      at += LENGTH_BYTES;
      if (length > bytes.length - at) throw new MalformedFile("A dictionary is incomplete.");
      at += length;
      ends[index] = at;
    }
    if (at !== bytes.length) throw new MalformedFile("A dictionary has another number of strings.");
    for (const [row, index] of this.#indices.entries()) {
      const start = (index === 0 ? 0 : (ends[index - 1] ?? 0)) + LENGTH_BYTES;
      if (this.#validity[row] === 1) this.#texts[row] = bytes.subarray(start, ends[index]);
    }
  }
}

const NOTHING = new Uint8Array();

/** A slice of a Node buffer, as zstd returns it, would be a view of memory that is freed. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function joined(prefix: Uint8Array, rest: Uint8Array): Uint8Array {
  const text = new Uint8Array(prefix.length + rest.length);
  text.set(prefix);
  text.set(rest, prefix.length);
  return text;
}
