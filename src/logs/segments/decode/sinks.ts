import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { decodeRuns } from "../parquet/bits.ts";
import { decodeDelta } from "../parquet/delta.ts";
import { ENCODING, type Encoding, type PhysicalType, TYPE } from "../parquet/metadata.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { type ColumnValues, type RowValidity, Texts } from "./column-values.ts";
import { readStrings } from "./read-strings.ts";

/** Rows of a page. `levels` has a 1 for each row with a value; `null` if all have one. */
export interface PageRows {
  row: number;
  rows: number;
  present: number;
  levels: Int32Array | null;
}

/** Collects the values of a chunk, page by page. */
export interface Sink {
  /** Whether no further page is needed. */
  readonly isDone?: boolean;
  /**
   * @param raw a buffer of its own
   * @returns whether the sink still needs the bytes
   * @throws MalformedFile
   */
  dictionary(raw: Uint8Array, count: number): boolean;
  /**
   * Reads the values of a page from `at` to the end.
   * @returns whether the sink still needs the bytes of the page
   * @throws MalformedFile
   */
  read(raw: Uint8Array, at: number, encoding: Encoding, page: PageRows): boolean;
  skip(row: number, rows: number): void;
  finish(validity: RowValidity): ColumnValues;
}

const NUMBER_BYTES = 8;
/** Bytes of the length before each string of a dictionary. */
const LENGTH_BYTES = 4;
const MAX_DICTIONARY = 65_536;

/** Indices of a chunk with a dictionary. */
class Indices {
  readonly byRow: Int32Array;

  /** @param hasAll whether each row will get an index */
  constructor(rows: number, hasAll: boolean) {
    this.byRow = new Int32Array(rows);
    if (!hasAll) this.byRow.fill(-1);
  }

  /** @param size of the dictionary */
  read(raw: Uint8Array, at: number, size: number, { row, rows, present, levels }: PageRows): void {
    const { byRow } = this;
    if (present === 0) return;
    decodeRuns(raw, at + 1, raw[at] ?? 0, byRow, row, present, size);
    if (levels !== null) spread(byRow, row, rows, present, levels, -1);
  }
}

/** Moves values to the rows that have one, from the last row to the first. */
function spread(
  values: Int32Array | Float64Array,
  row: number,
  rows: number,
  present: number,
  levels: Int32Array,
  absent: number,
): void {
  let from = row + present - 1;
  for (let index = rows - 1; index >= 0; index--) {
    values[row + index] = levels[index] === 1 ? (values[from--] ?? 0) : absent;
  }
}

export class NumberSink implements Sink {
  readonly #type: PhysicalType;
  readonly #rows: number;
  readonly #hasAll: boolean;
  #values: Float64Array | null = null;
  #dictionary: Float64Array | null = null;
  #indices: Indices | null = null;

  constructor(rows: number, hasAll: boolean, type: PhysicalType) {
    this.#type = type;
    this.#rows = rows;
    this.#hasAll = hasAll;
  }

  dictionary(raw: Uint8Array, count: number): boolean {
    if (raw.length !== count * NUMBER_BYTES || count > MAX_DICTIONARY || this.#type === TYPE.boolean) {
      throw new MalformedFile("A dictionary has another form.");
    }
    this.#dictionary = new Float64Array(count);
    this.#readPlain(raw, 0, this.#dictionary, 0, count);
    this.#indices = new Indices(this.#rows, this.#hasAll);
    return false;
  }

  read(raw: Uint8Array, at: number, encoding: Encoding, page: PageRows): boolean {
    const { row, rows, present, levels } = page;
    if (this.#indices !== null && this.#dictionary !== null) {
      if (encoding !== ENCODING.dictionary && present > 0) throw new MalformedFile("A page has another encoding.");
      this.#indices.read(raw, at, this.#dictionary.length, page);
      return false;
    }
    this.#values ??= new Float64Array(this.#rows);
    const values = this.#values;
    if (present === 0) return false;
    if (this.#type === TYPE.boolean) readBits(raw, at, values, row, present);
    else if (encoding === ENCODING.delta && this.#type === TYPE.int64) decodeDelta(raw, at, values, row, present);
    else if (encoding === ENCODING.split && this.#type === TYPE.double) readSplit(raw, at, values, row, present);
    else if (encoding === ENCODING.plain) this.#readPlain(raw, at, values, row, present);
    else throw new MalformedFile("A page has another encoding.");
    if (levels !== null) spread(values, row, rows, present, levels, 0);
    return false;
  }

  skip(): void {
    // Rows that were not decoded have no value.
  }

  finish(validity: RowValidity): ColumnValues {
    if (this.#indices !== null && this.#dictionary !== null) {
      if (validity !== null) detachBuffer(validity);
      return { kind: "indexedNumbers", dictionary: this.#dictionary, indices: this.#indices.byRow };
    }
    const values = this.#values ?? new Float64Array(this.#rows);
    if (this.#type !== TYPE.boolean) return { kind: "numbers", values, validity };
    const bits = new Int8Array(this.#rows);
    for (let row = 0; row < bits.length; row++) bits[row] = validity?.[row] === 0 ? -1 : (values[row] ?? 0);
    detachBuffer(values);
    if (validity !== null) detachBuffer(validity);
    return { kind: "booleans", values: bits };
  }

  #readPlain(raw: Uint8Array, at: number, out: Float64Array, from: number, count: number): void {
    if (raw.length - at < count * NUMBER_BYTES) throw new MalformedFile("A page is incomplete.");
    const view = new DataView(raw.buffer, raw.byteOffset + at, count * NUMBER_BYTES);
    for (let index = 0; index < count; index++) {
      const place = index * NUMBER_BYTES;
      out[from + index] =
        this.#type === TYPE.double
          ? view.getFloat64(place, true)
          : view.getInt32(place + 4, true) * 2 ** 32 + view.getUint32(place, true);
    }
  }
}

function readBits(raw: Uint8Array, at: number, out: Float64Array, from: number, count: number): void {
  if (raw.length - at < Math.ceil(count / 8)) throw new MalformedFile("A page is incomplete.");
  for (let index = 0; index < count; index++) out[from + index] = ((raw[at + (index >> 3)] ?? 0) >> (index & 7)) & 1;
}

const octets = new Uint8Array(NUMBER_BYTES);
const double = new Float64Array(octets.buffer);

function readSplit(raw: Uint8Array, at: number, out: Float64Array, from: number, count: number): void {
  if (raw.length - at < count * NUMBER_BYTES) throw new MalformedFile("A page is incomplete.");
  for (let index = 0; index < count; index++) {
    for (let octet = 0; octet < NUMBER_BYTES; octet++) octets[octet] = raw[at + octet * count + index] ?? 0;
    out[from + index] = double[0] ?? 0;
  }
}

export class TextSink implements Sink {
  readonly #rows: number;
  readonly #hasAll: boolean;
  #dictionary: Texts | null = null;
  #indices: Indices | null = null;
  /** Strings of the pages so far, and the buffer that has them. */
  #parts: { text: Uint8Array; owner: Uint8Array }[] = [];
  #bytes = 0;
  #offsets: Int32Array | null = null;

  constructor(rows: number, hasAll: boolean) {
    this.#rows = rows;
    this.#hasAll = hasAll;
  }

  /** The strings of the dictionary; `null` if there is none. */
  get strings(): Texts | null {
    return this.#dictionary;
  }

  /** Leaves the strings where they are: to copy them takes longer than most searches. */
  dictionary(raw: Uint8Array, count: number): boolean {
    if (count > raw.length / LENGTH_BYTES || count > MAX_DICTIONARY) {
      throw new MalformedFile("A dictionary has another form.");
    }
    const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
    const starts = new Int32Array(count + 1);
    let at = 0;
    for (let index = 0; index < count; index++) {
      const length = at + LENGTH_BYTES <= raw.length ? view.getUint32(at, true) : raw.length;
      at += LENGTH_BYTES;
      if (length > raw.length - at) throw new MalformedFile("A dictionary is incomplete.");
      starts[index] = at;
      at += length;
    }
    if (at !== raw.length) throw new MalformedFile("A dictionary has another number of strings.");
    starts[count] = at + LENGTH_BYTES;
    this.#dictionary = new Texts(raw, starts, raw, LENGTH_BYTES);
    this.#indices = new Indices(this.#rows, this.#hasAll);
    return true;
  }

  read(raw: Uint8Array, at: number, encoding: Encoding, page: PageRows): boolean {
    const { row, rows, present, levels } = page;
    if (this.#indices !== null && this.#dictionary !== null) {
      if (encoding !== ENCODING.dictionary && present > 0) throw new MalformedFile("A page has another encoding.");
      this.#indices.read(raw, at, this.#dictionary.length, page);
      return false;
    }
    if (pageLengths.length < rows) pageLengths = new Int32Array(rows);
    const lengths = pageLengths;
    const text = present === 0 ? NOTHING : readStrings(raw, at, encoding, lengths, present);
    this.#offsets ??= new Int32Array(this.#rows + 1);
    const offsets = this.#offsets;
    let next = 0;
    let end = this.#bytes;
    for (let index = 0; index < rows; index++) {
      if (levels === null || levels[index] === 1) {
        const length = lengths[next++] ?? 0;
        end += length;
      }
      offsets[row + index + 1] = end;
    }
    if (end > MAX_COLUMN_BYTES) throw new MalformedFile("A column is too large.");
    if (end - this.#bytes !== text.length) throw new MalformedFile("A page has another length.");
    this.#bytes = end;
    if (present === 0) return false;
    const isView = text.buffer === raw.buffer;
    this.#parts.push({ text, owner: isView ? raw : text });
    return isView;
  }

  skip(row: number, rows: number): void {
    if (this.#indices !== null) return;
    this.#offsets ??= new Int32Array(this.#rows + 1);
    this.#offsets.fill(this.#bytes, row + 1, row + rows + 1);
  }

  finish(validity: RowValidity): ColumnValues {
    if (this.#indices !== null && this.#dictionary !== null) {
      if (validity !== null) detachBuffer(validity);
      return { kind: "indexedTexts", dictionary: this.#dictionary, indices: this.#indices.byRow };
    }
    const offsets = this.#offsets ?? new Int32Array(this.#rows + 1);
    const [first] = this.#parts;
    const isOne = first !== undefined && this.#parts.length === 1;
    const texts = isOne ? new Texts(first.text, offsets, first.owner) : new Texts(this.#joined(), offsets);
    return { kind: "texts", texts, validity };
  }

  #joined(): Uint8Array {
    const all = new Uint8Array(this.#bytes);
    let at = 0;
    for (const { text, owner } of this.#parts) {
      all.set(text, at);
      at += text.length;
      detachBuffer(owner);
    }
    return all;
  }
}

const NOTHING = new Uint8Array();
/** Lengths of the strings of a page. Module state, because a page is read within one call. */
let pageLengths = new Int32Array(0);
/** Bytes of the strings of a column in one row group. */
const MAX_COLUMN_BYTES = 64 * 1024 * 1024;
