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

  dictionary(raw: Uint8Array, count: number): boolean {
    this.isIndexed = true;
    const isKept = this.#decoded.dictionary(raw, count);
    const { strings } = this.#decoded;
    this.isDone = strings !== null && !this.#test.isIn(strings);
    return isKept;
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

/** Lengths of the strings of a page. Module state, because a page is read within one call. */
let pageLengths = new Int32Array(0);

function lengthsOf(present: number): Int32Array {
  if (pageLengths.length < present) pageLengths = new Int32Array(present);
  return pageLengths.subarray(0, present);
}

/** Finds strings that equal one. */
export class EqualStrings implements StringTest {
  readonly #wanted: Uint8Array;

  /** @param wanted UTF-8 */
  constructor(wanted: Uint8Array) {
    this.#wanted = wanted;
  }

  run(page: Uint8Array, at: number, encoding: Encoding, present: number, mark: (index: number) => void): void {
    const lengths = lengthsOf(present);
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

export function isEqual(texts: Texts, index: number, wanted: Uint8Array): boolean {
  const { bytes } = texts;
  const start = texts.startOf(index);
  if (texts.endOf(index) - start !== wanted.length) return false;
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

/** Copies of strings, in the order in which they were found. */
export class FoundStrings {
  #bytes = new Uint8Array(0);
  readonly #ends: number[] = [];

  add(bytes: Uint8Array, from: number, end: number): void {
    const start = this.#ends.at(-1) ?? 0;
    const next = start + end - from;
    if (next > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(16 * 1024, 2 * this.#bytes.length, next));
      grown.set(this.#bytes);
      detachBuffer(this.#bytes);
      this.#bytes = grown;
    }
    for (let at = from, to = start; at < end; at++, to++) this.#bytes[to] = bytes[at] ?? 0;
    this.#ends.push(next);
  }

  at(index: number): string {
    const start = index === 0 ? 0 : (this.#ends[index - 1] ?? 0);
    return Buffer.from(this.#bytes.buffer, start, (this.#ends[index] ?? start) - start).toString("utf8");
  }

  release(): void {
    detachBuffer(this.#bytes);
  }
}

/** Finds strings that contain a text. Pages that do not have it are not split into strings. */
export class ContainingStrings implements StringTest {
  readonly #finder: TextFinder;
  readonly #copies: FoundStrings | null;
  /** The strings of the dictionary that was searched last. */
  #known: { dictionary: Texts; found: readonly number[] } | null = null;

  /** @param copies receives the strings that are marked; `null` if the caller does not need them */
  constructor(finder: TextFinder, copies: FoundStrings | null = null) {
    this.#finder = finder;
    this.#copies = copies;
  }

  run(raw: Uint8Array, at: number, encoding: Encoding, present: number, mark: (index: number) => void): void {
    const finder = this.#finder;
    if (encoding === ENCODING.deltaLength) {
      const matches = finder.matchesIn(raw);
      const first = matches.next(0);
      if (first < 0) return;
      const lengths = lengthsOf(present);
      const { start } = findStrings(raw, at, encoding, lengths, present);
      finder.findIn(matches, first, raw, start, lengths, this.#found(raw, mark));
      return;
    }
    const lengths = lengthsOf(present);
    const bytes = readStrings(raw, at, encoding, lengths, present);
    finder.findIn(finder.matchesIn(bytes), -1, bytes, 0, lengths, this.#found(bytes, mark));
    if (bytes.buffer !== raw.buffer) detachBuffer(bytes);
  }

  #found(bytes: Uint8Array, mark: (index: number) => void): (index: number, from: number, end: number) => void {
    const copies = this.#copies;
    if (copies === null) return mark;
    return (index, from, end) => {
      copies.add(bytes, from, end);
      mark(index);
    };
  }

  isIn(dictionary: Texts): boolean {
    return this.foundIn(dictionary).length > 0;
  }

  /** Returns the indices of the strings of a dictionary that contain the text. */
  foundIn(dictionary: Texts): readonly number[] {
    if (this.#known?.dictionary === dictionary) return this.#known.found;
    const found: number[] = [];
    this.#finder.find(dictionary, (index) => found.push(index));
    this.#known = { dictionary, found };
    return found;
  }
}
