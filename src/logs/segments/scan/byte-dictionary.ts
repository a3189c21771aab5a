import type { HeldBytes } from "../../aggregate/by-group.ts";
import type { ValueHash } from "../../aggregate/distinct.ts";
import type { Texts } from "../decode/column-values.ts";

/** Bytes that the dictionaries and sets of one aggregation may hold, besides its state. */
const MAX_CACHE_BYTES = 3 * 1024 * 1024;

/** The memory of what makes one aggregation faster. */
export class CacheMemory {
  readonly #held: HeldBytes;
  #left = MAX_CACHE_BYTES;

  /** @param held counts the memory with that of the aggregation's state */
  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** @returns whether there is memory */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#held.add(bytes);
    return true;
  }
}

/** Strings that one dictionary numbers: at first, and at most. A slot has 16 bits for a number plus one. */
const FIRST_STRINGS = 4096;
const MAX_STRINGS = 65_535;
/** Bytes that they may have together. */
const MAX_BYTES = 1024 * 1024;
/** A longer string is not numbered. */
const MAX_LENGTH = 64;
/** Bounds the time of a lookup if strings were made to have equal hashes. */
const MAX_PROBES = 128;
const FIRST_BYTES = 64 * 1024;
/** Lengths of strings that are compared by four words, which overlap. Most ids have such a length. */
const MIN_WORDED = 8;
const MAX_WORDED = 16;
/** Part of a slot that repeats bits of the hash, so that most other strings are told apart without a look at them. */
const TAG = 0xffff_0000 | 0;
const WORD = 4;
/** Bytes of a string in two slots, `#hashes`, `#lengths`, `#starts` and `#records`. */
const BYTES_OF_STRING = 2 * WORD + WORD + 1 + WORD + 4 * WORD;

/**
 * Numbers strings by their bytes, without a JavaScript string for each: the values of a column that repeat from row group
 * to row group, but too rarely within one for a dictionary in the file.
 */
export class ByteDictionary {
  readonly #memory: CacheMemory;
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  /** Bits of a hash and number plus one of the string of each slot; 0: empty. */
  #slots = new Int32Array(2 * FIRST_STRINGS);
  #hashes = new Int32Array(FIRST_STRINGS);
  #lengths = new Uint8Array(FIRST_STRINGS);
  /** The first two and the last two words of each string of a middle length. */
  #records = new Int32Array(4 * FIRST_STRINGS);
  /** Where the other strings are in the bytes. */
  #starts = new Int32Array(FIRST_STRINGS);
  #end = 0;
  #bytes = new Uint8Array(FIRST_BYTES);
  #words: DataView = new DataView(this.#bytes.buffer);
  #isFull = false;
  /** Hashes of JSON texts by number, two numbers each. Both are 0 until they were set. */
  #textHashes = new Int32Array(0);
  /** The strings of the last lookup, and their words. */
  #texts: Texts | null = null;
  #textWords: DataView = this.#words;
  count = 0;

  private constructor(memory: CacheMemory) {
    this.#memory = memory;
  }

  /** @returns `null` if there is no memory for one */
  static create(memory: CacheMemory): ByteDictionary | null {
    return memory.take(BYTES_OF_STRING * FIRST_STRINGS + FIRST_BYTES) ? new ByteDictionary(memory) : null;
  }

  /** Returns the number of a string, from 0; -1 if it has none and gets none. */
  idOf(texts: Texts, index: number): number {
    const { bytes } = texts;
    const start = texts.startOf(index);
    const length = texts.endOf(index) - start;
    if (length > MAX_LENGTH) return -1;
    if (texts !== this.#texts) {
      this.#texts = texts;
      this.#textWords = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    if (length >= MIN_WORDED && length <= MAX_WORDED) return this.#idOfWorded(bytes, start, length);
    const hash = this.#hashOf(bytes, start, length);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const held = this.#slots[slot] ?? 0;
      if (held === 0) return this.#add(slot, hash, bytes, start, length);
      if (((held ^ hash) & TAG) === 0) {
        const known = (held & ~TAG) - 1;
        if (this.#isAt(known, bytes, start, length)) return known;
      }
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** Like `idOf`, without loops over the string, whose ends a processor would often predict wrongly. */
  #idOfWorded(bytes: Uint8Array, start: number, length: number): number {
    const words = this.#textWords;
    const end = start + length;
    const a = words.getInt32(start, true);
    const b = words.getInt32(start + WORD, true);
    const c = words.getInt32(end - 2 * WORD, true);
    const d = words.getInt32(end - WORD, true);
    let hash = Math.imul(a ^ this.#seed ^ length, 0x85ebca77) ^ Math.imul(b, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15) ^ c, 0xc2b2ae3d) ^ Math.imul(d, 0x27d4eb2f);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hash ^= hash >>> 13;
    const slots = this.#slots;
    const records = this.#records;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const held = slots[slot] ?? 0;
      if (held === 0) return this.#add(slot, hash, bytes, start, length);
      const known = (held & ~TAG) - 1;
      if (
        ((held ^ hash) & TAG) === 0 &&
        records[4 * known] === a &&
        records[4 * known + 1] === b &&
        records[4 * known + 2] === c &&
        records[4 * known + 3] === d &&
        this.#lengths[known] === length
      ) {
        return known;
      }
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** Returns the hash of the JSON text of a numbered string, valid until the next call; `null` if it was not set. */
  textHashOf(id: number): ValueHash | null {
    const a = this.#textHashes[2 * id] ?? 0;
    const b = this.#textHashes[2 * id + 1] ?? 0;
    if (a === 0 && b === 0) return null;
    found.a = a;
    found.b = b;
    return found;
  }

  /** Keeps a hash, if there is memory. */
  setTextHash(id: number, { a, b }: ValueHash): void {
    if (2 * id >= this.#textHashes.length) this.#growTextHashes(2 * id);
    this.#textHashes[2 * id] = a;
    this.#textHashes[2 * id + 1] = b;
  }

  #hashOf(bytes: Uint8Array, start: number, length: number): number {
    let hash = this.#seed ^ length;
    if (length >= WORD) {
      const words = this.#textWords;
      const last = start + length - WORD;
      for (let at = start; at < last; at += WORD) {
        hash = Math.imul(hash ^ words.getInt32(at, true), 0x85ebca77);
        hash ^= hash >>> 15;
      }
      // The last word overlaps the one before, so that it ends with the string.
      hash = Math.imul(hash ^ words.getInt32(last, true), 0x85ebca77);
    } else {
      for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d);
    return hash ^ (hash >>> 13);
  }

  #isAt(known: number, bytes: Uint8Array, start: number, length: number): boolean {
    if (this.#lengths[known] !== length) return false;
    const own = this.#starts[known] ?? 0;
    if (length < WORD) {
      for (let at = 0; at < length; at++) if (this.#bytes[own + at] !== bytes[start + at]) return false;
      return true;
    }
    const words = this.#words;
    const others = this.#textWords;
    const last = length - WORD;
    for (let at = 0; at < last; at += WORD) {
      if (words.getInt32(own + at, true) !== others.getInt32(start + at, true)) return false;
    }
    return words.getInt32(own + last, true) === others.getInt32(start + last, true);
  }

  #add(slot: number, hash: number, bytes: Uint8Array, start: number, length: number): number {
    const id = this.count;
    const isWorded = length >= MIN_WORDED && length <= MAX_WORDED;
    const isOut = id === this.#hashes.length;
    if (isOut || (!isWorded && this.#end + length > this.#bytes.length)) {
      if (this.#isFull || !(isOut ? this.#growStrings() : this.#growBytes())) {
        this.#isFull = true;
        return -1;
      }
      // The slots may be others now.
      return this.#add(this.#emptySlot(hash), hash, bytes, start, length);
    }
    if (isWorded) {
      const end = start + length;
      const places = [start, start + WORD, end - 2 * WORD, end - WORD];
      for (const [at, place] of places.entries()) {
        this.#records[4 * id + at] = this.#textWords.getInt32(place, true);
      }
    } else {
      for (let at = 0; at < length; at++) this.#bytes[this.#end + at] = bytes[start + at] ?? 0;
      this.#starts[id] = this.#end;
      this.#end += length;
    }
    this.#lengths[id] = length;
    this.#hashes[id] = hash;
    this.#slots[slot] = (hash & TAG) | (id + 1);
    this.count++;
    return id;
  }

  #growBytes(): boolean {
    const { length } = this.#bytes;
    if (length === MAX_BYTES || !this.#memory.take(length)) return false;
    this.#bytes = grown(this.#bytes, new Uint8Array(length * 2));
    this.#words = new DataView(this.#bytes.buffer);
    return true;
  }

  #growStrings(): boolean {
    const { length } = this.#hashes;
    const wanted = Math.min(length * 2, MAX_STRINGS);
    if (length === MAX_STRINGS || !this.#memory.take(BYTES_OF_STRING * (wanted - length))) return false;
    this.#hashes = grown(this.#hashes, new Int32Array(wanted));
    this.#lengths = grown(this.#lengths, new Uint8Array(wanted));
    this.#starts = grown(this.#starts, new Int32Array(wanted));
    this.#records = grown(this.#records, new Int32Array(4 * wanted));
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let id = 0; id < length; id++) {
      const hash = this.#hashes[id] ?? 0;
      this.#slots[this.#emptySlot(hash)] = (hash & TAG) | (id + 1);
    }
    return true;
  }

  #emptySlot(hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  #growTextHashes(at: number): void {
    const length = Math.min(Math.max(2 * FIRST_STRINGS, 2 * at), 2 * MAX_STRINGS);
    if (!this.#memory.take((length - this.#textHashes.length) * WORD)) return;
    this.#textHashes = grown(this.#textHashes, new Int32Array(length));
  }
}

/** Result of `textHashOf`, valid until its next call. */
const found = { a: 0, b: 0 };

export function grown<T extends Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
