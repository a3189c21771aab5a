import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { bitsOf, packBits, runsBytes } from "../parquet/bits.ts";
import { ChunkWriter, MOST_PAGE_ROWS, PAGE_ROWS, type Validity } from "../parquet/chunk-writer.ts";
import { deltaBytes, encodeDelta, MAX_DELTA_SPAN } from "../parquet/delta.ts";
import { ENCODING, type PhysicalType, TYPE } from "../parquet/metadata.ts";
import { type EncodedColumn, presentIn, writeIndexPages } from "./text-column.ts";

/** Bytes of an integer in a sorted dictionary, about: it is compressed. */
const SORTED_BYTES = 2;
/** Distinct numbers of a dictionary. */
const MAX_ENTRIES = 8192;
const TRIAL_ROWS = 1024;
const NUMBER_BYTES = 8;
/** Bounds the time of a lookup if numbers were made to have equal hashes. */
const MAX_PROBES = 256;

/** Numbers of one column and row group. */
export interface NumberValues {
  /** The values of the rows that have one, in order. For `TYPE.int64` safe integers. */
  values: Float64Array;
  present: number;
  /** `null` if each row has a value. */
  validity: Validity;
}

/**
 * Encodes a column of numbers: integers as differences, fractions with their bytes transposed, and both as a dictionary
 * where that is smaller.
 * @param isSorted whether a dictionary is sorted, so that it takes few bytes. Takes longer
 */
export function encodeNumbers(
  rows: number,
  { values, present, validity }: NumberValues,
  type: typeof TYPE.int64 | typeof TYPE.double,
  isRequired: boolean,
  isSorted = false,
): EncodedColumn {
  const writer = new ChunkWriter(type, isRequired);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < present; index++) {
    const value = values[index] ?? 0;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const isDelta = type === TYPE.int64 && min > -MAX_DELTA_SPAN / 2 && max < MAX_DELTA_SPAN / 2;
  const dictionary = isRequired && isDelta && isRising(values, present) ? null : new NumberDictionary();
  const found = dictionary?.collect(values, present) ?? null;
  if (isSorted && isDelta) found?.sort();
  if (
    found !== null &&
    (isSorted && isDelta ? found.sortedBytes : found.bytes) <
      (isDelta ? deltaSize(values, present) : present * NUMBER_BYTES)
  ) {
    writer.dictionary(found.size, found.size * NUMBER_BYTES, (out, at) =>
      writePlain(found.entries, 0, found.size, type, out, at),
    );
    writeIndexPages(writer, rows, validity, found.indices, found.size, isSorted ? MOST_PAGE_ROWS : PAGE_ROWS);
  } else writePages(writer, rows, { values, present, validity }, type, isDelta);
  dictionary?.release();
  const isEmpty = present === 0;
  return { writer, min: isEmpty ? null : statistic(min, type, -0), max: isEmpty ? null : statistic(max, type, 0) };
}

function writePages(
  writer: ChunkWriter,
  rows: number,
  { values, validity }: NumberValues,
  type: PhysicalType,
  isDelta: boolean,
): void {
  const encoding = isDelta ? ENCODING.delta : type === TYPE.double ? ENCODING.split : ENCODING.plain;
  for (let from = 0, done = 0; from < rows; from += PAGE_ROWS) {
    const own = Math.min(PAGE_ROWS, rows - from);
    const present = presentIn(validity, from, own);
    const first = done;
    const most = isDelta ? deltaBytes(present) : present * NUMBER_BYTES;
    writer.page(validity, from, own, own - present, present === 0 ? ENCODING.plain : encoding, most, (out, at) => {
      if (present === 0) return at;
      if (isDelta) return encodeDelta(values, first, present, out, at);
      if (type === TYPE.double) return writeSplit(values, first, present, out, at);
      return writePlain(values, first, present, type, out, at);
    });
    done += present;
  }
}

/** Whether differences surely beat a dictionary. */
function isRising(values: Float64Array, present: number): boolean {
  for (let index = 1; index < present; index++) if ((values[index] ?? 0) <= (values[index - 1] ?? 0)) return false;
  return true;
}

let trial = new Uint8Array(0);

function deltaSize(values: Float64Array, present: number): number {
  if (trial.length === 0) trial = new Uint8Array(deltaBytes(PAGE_ROWS));
  let bytes = 0;
  for (let from = 0; from < present; from += PAGE_ROWS) {
    bytes += encodeDelta(values, from, Math.min(PAGE_ROWS, present - from), trial, 0);
  }
  return bytes;
}

class NumberDictionary {
  entries = new Float64Array(256);
  indices = new Int32Array(0);
  size = 0;
  #table = new Int32Array(512).fill(-1);

  /** Bytes of the dictionary and its indices, at most. */
  get bytes(): number {
    return this.size * NUMBER_BYTES + runsBytes(this.indices.length, bitsOf(Math.max(0, this.size - 1)));
  }

  /** The same of a sorted dictionary of integers, about. */
  get sortedBytes(): number {
    return this.size * SORTED_BYTES + Math.ceil((this.indices.length * bitsOf(Math.max(0, this.size - 1))) / 8);
  }

  /** Puts the numbers in rising order, after `collect`. Nothing can be added then. */
  sort(): void {
    const order = Array.from({ length: this.size }, (_, index) => index);
    order.sort((a, b) => (this.entries[a] ?? 0) - (this.entries[b] ?? 0));
    const places = new Int32Array(this.size);
    for (const [place, index] of order.entries()) places[index] = place;
    const sorted = Float64Array.from(order, (index) => this.entries[index] ?? 0);
    detachBuffer(this.entries);
    this.entries = sorted;
    for (let at = 0; at < this.indices.length; at++) this.indices[at] = places[this.indices[at] ?? 0] ?? 0;
    detachBuffer(places);
  }

  /** @returns `null` if the numbers are too many or hardly repeat */
  collect(values: Float64Array, present: number): this | null {
    this.indices = new Int32Array(present);
    for (let index = 0; index < present; index++) {
      const entry = this.#add(values[index] ?? 0);
      if (entry < 0 || (this.size > TRIAL_ROWS && this.size > 0.8 * index)) return null;
      this.indices[index] = entry;
    }
    return this.size * 2 > present ? null : this;
  }

  /** Frees its memory. */
  release(): void {
    for (const buffer of [this.entries, this.indices, this.#table]) detachBuffer(buffer);
  }

  #add(value: number): number {
    const mask = this.#table.length - 1;
    let at = hashOf(value) & mask;
    for (let probe = 0; ; probe++, at = (at + 1) & mask) {
      const entry = this.#table[at] ?? -1;
      if (entry < 0) break;
      if (this.entries[entry] === value) return entry;
      if (probe === MAX_PROBES) return -1;
    }
    if (this.size === MAX_ENTRIES) return -1;
    if (this.size === this.entries.length) {
      const grown = new Float64Array(this.size * 2);
      grown.set(this.entries);
      detachBuffer(this.entries);
      this.entries = grown;
    }
    this.entries[this.size] = value;
    this.#table[at] = this.size++;
    if (this.size * 2 > this.#table.length) this.#rehash();
    return this.size - 1;
  }

  #rehash(): void {
    const { length } = this.#table;
    detachBuffer(this.#table);
    this.#table = new Int32Array(length * 2).fill(-1);
    const mask = this.#table.length - 1;
    for (let entry = 0; entry < this.size; entry++) {
      let at = hashOf(this.entries[entry] ?? 0) & mask;
      while ((this.#table[at] ?? -1) >= 0) at = (at + 1) & mask;
      this.#table[at] = entry;
    }
  }
}

const number = new Float64Array(1);
const halves = new Int32Array(number.buffer);
const octets = new Uint8Array(number.buffer);

function hashOf(value: number): number {
  number[0] = value;
  const hash = Math.imul((halves[0] ?? 0) ^ Math.imul(halves[1] ?? 0, 0x9e3779b1), 0x85ebca77);
  return hash ^ (hash >>> 15);
}

function writePlain(
  values: Float64Array,
  from: number,
  count: number,
  type: PhysicalType,
  out: Uint8Array,
  at: number,
): number {
  const view = new DataView(out.buffer, out.byteOffset);
  let next = at;
  for (let index = from; index < from + count; index++, next += NUMBER_BYTES) {
    const value = values[index] ?? 0;
    if (type === TYPE.double) view.setFloat64(next, value, true);
    else {
      // Two's complement: the high half of a negative number is rounded down.
      view.setUint32(next, value >>> 0, true);
      view.setInt32(next + 4, Math.floor(value / 2 ** 32), true);
    }
  }
  return next;
}

function writeSplit(values: Float64Array, from: number, count: number, out: Uint8Array, at: number): number {
  for (let index = 0; index < count; index++) {
    number[0] = values[from + index] ?? 0;
    for (let octet = 0; octet < NUMBER_BYTES; octet++) out[at + octet * count + index] = octets[octet] ?? 0;
  }
  return at + count * NUMBER_BYTES;
}

function statistic(value: number, type: PhysicalType, zero: number): Uint8Array {
  const bytes = new Uint8Array(NUMBER_BYTES);
  // Parquet lets a reader assume the zero of either sign at either end.
  writePlain(Float64Array.of(value === 0 && type === TYPE.double ? zero : value), 0, 1, type, bytes, 0);
  return bytes;
}

/** Encodes a column of booleans. @param values 0 or 1 of the rows that have a value */
export function encodeBooleans(rows: number, values: Uint8Array, present: number, validity: Validity): EncodedColumn {
  const writer = new ChunkWriter(TYPE.boolean, false);
  let done = 0;
  let [some, all] = [0, 1];
  for (let index = 0; index < present; index++) {
    some |= values[index] ?? 0;
    all &= values[index] ?? 0;
  }
  for (let from = 0; from < rows; from += PAGE_ROWS) {
    const own = Math.min(PAGE_ROWS, rows - from);
    const count = presentIn(validity, from, own);
    const first = done;
    writer.page(validity, from, own, own - count, ENCODING.plain, Math.ceil(count / 8), (out, at) =>
      packBits(values, first, count, 1, out, at),
    );
    done += count;
  }
  const isEmpty = present === 0;
  return { writer, min: isEmpty ? null : Uint8Array.of(all), max: isEmpty ? null : Uint8Array.of(some) };
}
