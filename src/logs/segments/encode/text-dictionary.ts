import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { sortTexts } from "./sort-texts.ts";

/** Bounds the time of a lookup if strings were made to have equal hashes. Half of the table is empty. */
const MAX_PROBES = 256;

/** Collects distinct byte strings, each under its index in order of their first occurrence. */
export class TextDictionary {
  readonly #maxBytes: number;
  #bytes = new Uint8Array(1024);
  /** Index after each string in the bytes. */
  #ends = new Int32Array(64);
  #hashes = new Int32Array(64);
  #table = new Int32Array(256).fill(-1);
  /** Number of strings. */
  size = 0;
  /** Index of the string that was added or found last. */
  #last = 0;

  /** @param maxBytes of the dictionary, with 4 bytes for each length */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the strings without their lengths. */
  get textBytes(): number {
    return this.size === 0 ? 0 : (this.#ends[this.size - 1] ?? 0);
  }

  /** @returns the index of a string; -1 if it is new and does not fit, or if too many strings share its hash */
  add(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    // Neighbours are often equal.
    if (this.size > 0 && this.#is(this.#last, bytes, start, length)) return this.#last;
    const hash = hashOf(bytes, start, end);
    const mask = this.#table.length - 1;
    let at = hash & mask;
    for (let probe = 0; ; probe++, at = (at + 1) & mask) {
      const index = this.#table[at] ?? -1;
      if (index < 0) break;
      if (probe === MAX_PROBES) return -1;
      if (this.#hashes[index] === hash && this.#is(index, bytes, start, length)) {
        this.#last = index;
        return index;
      }
    }
    const from = this.textBytes;
    if (from + length + 4 * (this.size + 1) > this.#maxBytes) return -1;
    if (from + length > this.#bytes.length) this.#growBytes(from + length);
    copy(bytes, start, end, this.#bytes, from);
    if (this.size === this.#ends.length) this.#growEntries();
    this.#ends[this.size] = from + length;
    this.#hashes[this.size] = hash;
    this.#table[at] = this.size;
    const index = this.size++;
    this.#last = index;
    if (this.size * 2 > this.#table.length) this.#rehash();
    return index;
  }

  /** Returns a view of a string. */
  at(index: number): Uint8Array {
    return this.#bytes.subarray(index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }

  /** Returns the bytes of a string. */
  lengthOf(index: number): number {
    return (this.#ends[index] ?? 0) - (index === 0 ? 0 : (this.#ends[index - 1] ?? 0));
  }

  /** Copies a string. @returns index after its last byte */
  copyTo(index: number, out: Uint8Array, at: number): number {
    const start = index === 0 ? 0 : (this.#ends[index - 1] ?? 0);
    const end = this.#ends[index] ?? 0;
    copy(this.#bytes, start, end, out, at);
    return at + end - start;
  }

  /** Returns the indices of the strings in the order of their bytes. */
  sorted(): Int32Array {
    return sortTexts({ bytes: this.#bytes, ends: this.#ends, count: this.size });
  }

  /** Frees its memory. Neither it nor views of its strings may be used afterwards. */
  release(): void {
    for (const buffer of [this.#bytes, this.#ends, this.#hashes, this.#table]) detachBuffer(buffer);
  }

  #is(index: number, bytes: Uint8Array, start: number, length: number): boolean {
    const from = index === 0 ? 0 : (this.#ends[index - 1] ?? 0);
    if ((this.#ends[index] ?? 0) - from !== length) return false;
    for (let i = 0; i < length; i++) if (this.#bytes[from + i] !== bytes[start + i]) return false;
    return true;
  }

  #growBytes(needed: number): void {
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, needed));
    grown.set(this.#bytes);
    detachBuffer(this.#bytes);
    this.#bytes = grown;
  }

  #growEntries(): void {
    const ends = new Int32Array(this.#ends.length * 2);
    const hashes = new Int32Array(ends.length);
    ends.set(this.#ends);
    hashes.set(this.#hashes);
    detachBuffer(this.#ends);
    detachBuffer(this.#hashes);
    this.#ends = ends;
    this.#hashes = hashes;
  }

  #rehash(): void {
    const { length } = this.#table;
    detachBuffer(this.#table);
    this.#table = new Int32Array(length * 2).fill(-1);
    const mask = this.#table.length - 1;
    for (let index = 0; index < this.size; index++) {
      let at = (this.#hashes[index] ?? 0) & mask;
      while ((this.#table[at] ?? -1) >= 0) at = (at + 1) & mask;
      this.#table[at] = index;
    }
  }
}

/** Up to this length a loop is faster than `set` on a view. */
const SHORT_BYTES = 64;

export function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > SHORT_BYTES) {
    to.set(from.subarray(start, end), at);
    return;
  }
  for (let i = start, next = at; i < end; i++, next++) to[next] = from[i] ?? 0;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const four =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    hash = Math.imul(hash ^ four, 0x85ebca77);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x85ebca77);
  return hash ^ (hash >>> 13);
}
