import { detachBuffer } from "../../../platform/isolate-memory.ts";
import {
  type ChunkWriter,
  MAX_PAGE_TEXT_BYTES,
  PAGE_ROWS,
  PAGE_STORED_BYTES,
  PAGE_TEXT_BYTES,
} from "../parquet/chunk-writer.ts";
import { deltaBytes, encodeDelta } from "../parquet/delta.ts";
import { ENCODING } from "../parquet/metadata.ts";
import { copy } from "./text-dictionary.ts";

/**
 * Prefix that all strings of a page must share to be stored once. Only ids of one length gain by it, by 3 % or more: the
 * repetitions of other text, of which the prefix is a part, are shorter without it.
 */
const SHORTEST_PREFIX = 3;

/** A page of strings, each stored behind the lengths of all. A prefix that all of them share is stored once. */
export class PlainPage {
  readonly #validity = new Uint8Array(PAGE_ROWS);
  readonly #lengths = new Int32Array(PAGE_ROWS);
  #text = new Uint8Array(MAX_PAGE_TEXT_BYTES);
  /** Bytes of the page that is being filled. */
  #capacity = PAGE_TEXT_BYTES;
  #bytes = 0;
  #rows = 0;
  #present = 0;
  /** Bytes that all strings so far share with the first. */
  #shared = 0;

  /** Whether a string of this length must begin the next page. */
  isFull(length: number): boolean {
    return this.#rows === PAGE_ROWS || (this.#rows > 0 && this.#bytes + length > this.#capacity);
  }

  addNull(): void {
    this.#validity[this.#rows++] = 0;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    // Only the first string of a page may be longer than a page.
    if (this.#bytes + length > this.#text.length) {
      detachBuffer(this.#text);
      this.#text = new Uint8Array(this.#bytes + length);
    }
    copy(bytes, start, end, this.#text, this.#bytes);
    this.#validity[this.#rows++] = 1;
    if (this.#present === 0) this.#shared = length;
    else {
      let shared = 0;
      const most = Math.min(this.#shared, length);
      while (shared < most && this.#text[shared] === bytes[start + shared]) shared++;
      this.#shared = shared;
    }
    this.#lengths[this.#present++] = length;
    this.#bytes += length;
  }

  /** Writes the page, if it has rows, and begins the next one. */
  close(writer: ChunkWriter): void {
    const rows = this.#rows;
    const present = this.#present;
    if (rows === 0) return;
    const isPrefixed = present > 1 && this.#shared >= SHORTEST_PREFIX && this.#haveOneLength();
    const encoding = present === 0 ? ENCODING.plain : isPrefixed ? ENCODING.prefixed : ENCODING.deltaLength;
    const most = 2 * deltaBytes(present) + this.#bytes;
    const stored = writer.page(
      present === rows ? null : this.#validity,
      0,
      rows,
      rows - present,
      encoding,
      most,
      (out, at) => {
        if (present === 0) return at;
        return isPrefixed ? this.#writePrefixed(out, at) : this.#write(out, at);
      },
    );
    const fitting = Math.floor((this.#bytes / stored) * PAGE_STORED_BYTES);
    this.#capacity = Math.max(PAGE_TEXT_BYTES, Math.min(MAX_PAGE_TEXT_BYTES, fitting));
    [this.#bytes, this.#rows, this.#present] = [0, 0, 0];
  }

  /** Frees its memory. */
  release(): void {
    for (const buffer of [this.#validity, this.#lengths, this.#text]) detachBuffer(buffer);
  }

  #haveOneLength(): boolean {
    for (let index = 1; index < this.#present; index++) if (this.#lengths[index] !== this.#lengths[0]) return false;
    return true;
  }

  #write(out: Uint8Array, at: number) {
    const body = encodeDelta(this.#lengths, 0, this.#present, out, at);
    out.set(this.#text.subarray(0, this.#bytes), body);
    return { body, end: body + this.#bytes };
  }

  #writePrefixed(out: Uint8Array, at: number) {
    const present = this.#present;
    const shared = this.#shared;
    const lengths = this.#lengths;
    const prefixes = new Int32Array(present).fill(shared, 1);
    let next = encodeDelta(prefixes, 0, present, out, at);
    for (let index = 1; index < present; index++) lengths[index] = (lengths[index] ?? 0) - shared;
    next = encodeDelta(lengths, 0, present, out, next);
    let from = lengths[0] ?? 0;
    copy(this.#text, 0, from, out, next);
    next += from;
    const body = next;
    for (let index = 1; index < present; index++) {
      from += shared;
      const length = lengths[index] ?? 0;
      copy(this.#text, from, from + length, out, next);
      from += length;
      next += length;
    }
    return { body, end: next };
  }
}
