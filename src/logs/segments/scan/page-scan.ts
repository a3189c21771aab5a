import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { type ColumnValues, releaseColumn, Texts } from "../decode/column-values.ts";
import { findStrings, readStrings } from "../decode/read-strings.ts";
import { type PageRows, type Sink, TextSink } from "../decode/sinks.ts";
import { ENCODING, type Encoding } from "../parquet/metadata.ts";
import type { TextFinder } from "./text-finder.ts";

/** What is done with the strings of a page. `mark` takes the number of a string, in rising order. */
export interface StringTest {
  run(raw: Uint8Array, at: number, encoding: Encoding, present: number, mark: (index: number) => void): void;
  /** Whether a string of a dictionary passes. */
  isIn(dictionary: Texts): boolean;
}

/**
 * Marks the rows whose string passes, in pages as they are stored: without copies of the strings. A chunk with a
 * dictionary is decoded.
 */
export class PageScan implements Sink {
  /** Whether the chunk has a dictionary, so that nothing was marked. */
  isIndexed = false;
  /** Whether no string of the dictionary passes, so that its indices are not needed. */
  isDone = false;
  readonly #decoded: TextSink;
  readonly #test: StringTest;
  readonly #marks: Uint8Array;

  /** @param marks by row */
  constructor(rows: number, hasAll: boolean, test: StringTest, marks: Uint8Array) {
    this.#decoded = new TextSink(rows, hasAll);
    this.#test = test;
    this.#marks = marks;
  }

  dictionary(raw: Uint8Array, count: number): void {
    this.isIndexed = true;
    this.#decoded.dictionary(raw, count);
    const { strings } = this.#decoded;
    this.isDone = strings !== null && !this.#test.isIn(strings);
  }

  read(raw: Uint8Array, at: number, encoding: Encoding, page: PageRows): boolean {
    if (this.isIndexed) return this.#decoded.read(raw, at, encoding, page);
    const { row, rows, present, levels } = page;
    if (present === 0) return false;
    const marks = this.#marks;
    if (levels === null) {
      this.#test.run(raw, at, encoding, present, (index) => {
        marks[row + index] = 1;
      });
      return false;
    }
    // Strings are counted without the rows that have none.
    let [next, own] = [0, 0];
    this.#test.run(raw, at, encoding, present, (index) => {
      for (; own < rows; own++) {
        if (levels[own] === 1 && next++ === index) break;
      }
      marks[row + own++] = 1;
    });
    return false;
  }

  skip(row: number, rows: number): void {
    if (this.isIndexed) this.#decoded.skip(row, rows);
  }

  finish(validity: Uint8Array | null): ColumnValues {
    if (this.isIndexed) {
      const values = this.#decoded.finish(validity);
      if (!this.isDone) return values;
      releaseColumn(values);
    } else if (validity !== null) detachBuffer(validity);
    return { kind: "texts", texts: new Texts(new Uint8Array(), new Int32Array(1)), validity: null };
  }
}

/** Finds strings that equal one. */
export class EqualStrings implements StringTest {
  readonly #wanted: Uint8Array;
  #lengths = new Int32Array(0);

  /** @param wanted UTF-8 */
  constructor(wanted: Uint8Array) {
    this.#wanted = wanted;
  }

  run(page: Uint8Array, at: number, encoding: Encoding, present: number, mark: (index: number) => void): void {
    if (this.#lengths.length < present) this.#lengths = new Int32Array(present);
    const lengths = this.#lengths;
    const wanted = this.#wanted;
    if (encoding === ENCODING.deltaLength && !bufferOf(page).includes(bufferOf(wanted), at)) return;
    const { raw, start, shared } = findStrings(page, at, encoding, lengths, present);
    const first = lengths[0] ?? 0;
    if (first === wanted.length && isAt(raw, start, wanted, 0)) mark(0);
    const size = wanted.length - shared;
    if (size < 0 || !isAt(raw, start, wanted.subarray(0, shared), 0)) return;
    const last = wanted[wanted.length - 1] ?? 0;
    let from = start + first;
    for (let index = 1; index < present; index++) {
      const length = lengths[index] ?? 0;
      from += length;
      if (length !== size) continue;
      // Texts with a common prefix differ at their ends.
      if (size === 0 || (raw[from - 1] === last && isAt(raw, from - size, wanted, shared))) mark(index);
    }
  }

  isIn(dictionary: Texts): boolean {
    for (let index = 0; index < dictionary.length; index++) if (isEqual(dictionary, index, this.#wanted)) return true;
    return false;
  }
}

export function isEqual({ bytes, offsets }: Texts, index: number, wanted: Uint8Array): boolean {
  const start = offsets[index] ?? 0;
  if ((offsets[index + 1] ?? 0) - start !== wanted.length) return false;
  // Texts with a common prefix differ at their ends.
  for (let at = wanted.length - 1; at >= 0; at--) if (bytes[start + at] !== wanted[at]) return false;
  return true;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isAt(raw: Uint8Array, start: number, wanted: Uint8Array, from: number): boolean {
  for (let at = from; at < wanted.length; at++) if (raw[start + at - from] !== wanted[at]) return false;
  return true;
}

/** Finds strings that contain a text. Pages that do not have it are not split into strings. */
export class ContainingStrings implements StringTest {
  readonly #finder: TextFinder;
  #lengths = new Int32Array(0);

  constructor(finder: TextFinder) {
    this.#finder = finder;
  }

  run(raw: Uint8Array, at: number, encoding: Encoding, present: number, mark: (index: number) => void): void {
    const finder = this.#finder;
    if (encoding === ENCODING.deltaLength) {
      const matches = finder.matchesIn(raw);
      const first = matches.next(0);
      if (first < 0) return;
      const lengths = this.#lengthsOf(present);
      const { start } = findStrings(raw, at, encoding, lengths, present);
      finder.findIn(matches, first, raw, start, lengths, mark);
      return;
    }
    const lengths = this.#lengthsOf(present);
    const bytes = readStrings(raw, at, encoding, lengths, present);
    finder.findIn(finder.matchesIn(bytes), -1, bytes, 0, lengths, mark);
    if (bytes.buffer !== raw.buffer) detachBuffer(bytes);
  }

  #lengthsOf(present: number): Int32Array {
    if (this.#lengths.length < present) this.#lengths = new Int32Array(present);
    return this.#lengths.subarray(0, present);
  }

  isIn(dictionary: Texts): boolean {
    let isFound = false;
    this.#finder.find(dictionary, () => {
      isFound = true;
    });
    return isFound;
  }
}
