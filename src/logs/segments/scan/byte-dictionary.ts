import type { HeldBytes } from "../../aggregate/by-group.ts";
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

/** Strings that one dictionary numbers, and the bytes that they may have together. */
const MAX_STRINGS = 32_768;
const MAX_BYTES = 1024 * 1024;
const SLOTS = 2 * MAX_STRINGS;
/** A longer string is not numbered. */
const MAX_LENGTH = 64;
/** Bounds the time of a lookup if strings were made to have equal hashes. */
const MAX_PROBES = 32;
const FIRST_BYTES = 64 * 1024;

/**
 * Numbers strings by their bytes, without a JavaScript string for each: the values of a column that repeat from row group
 * to row group, but too rarely within one for a dictionary in the file.
 */
export class ByteDictionary {
  readonly #memory: CacheMemory;
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  /** Number plus one of the string of each slot; 0: empty. */
  readonly #slots = new Int32Array(SLOTS);
  readonly #hashes = new Int32Array(MAX_STRINGS);
  readonly #ends = new Int32Array(MAX_STRINGS);
  #bytes = new Uint8Array(FIRST_BYTES);
  count = 0;

  private constructor(memory: CacheMemory) {
    this.#memory = memory;
  }

  /** @returns `null` if there is no memory for one */
  static create(memory: CacheMemory): ByteDictionary | null {
    const bytes = (SLOTS + 2 * MAX_STRINGS) * 4 + FIRST_BYTES;
    return memory.take(bytes) ? new ByteDictionary(memory) : null;
  }

  /** Returns the number of a string, from 0; -1 if it has none and gets none. */
  idOf({ bytes, offsets }: Texts, index: number): number {
    const start = offsets[index] ?? 0;
    const length = (offsets[index + 1] ?? 0) - start;
    if (length > MAX_LENGTH) return -1;
    let hash = this.#seed;
    for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
    hash ^= hash >>> 13;
    let slot = hash & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const known = (this.#slots[slot] ?? 0) - 1;
      if (known < 0) return this.#add(slot, hash, bytes, start, length);
      if (this.#hashes[known] === hash && this.#isAt(known, bytes, start, length)) return known;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return -1;
  }

  #isAt(known: number, bytes: Uint8Array, start: number, length: number): boolean {
    const own = known === 0 ? 0 : (this.#ends[known - 1] ?? 0);
    if ((this.#ends[known] ?? 0) - own !== length) return false;
    for (let at = 0; at < length; at++) if (this.#bytes[own + at] !== bytes[start + at]) return false;
    return true;
  }

  #add(slot: number, hash: number, bytes: Uint8Array, start: number, length: number): number {
    const id = this.count;
    const from = id === 0 ? 0 : (this.#ends[id - 1] ?? 0);
    if (id === MAX_STRINGS || from + length > MAX_BYTES) return -1;
    if (from + length > this.#bytes.length) {
      if (!this.#memory.take(this.#bytes.length)) return -1;
      const grown = new Uint8Array(this.#bytes.length * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    for (let at = 0; at < length; at++) this.#bytes[from + at] = bytes[start + at] ?? 0;
    this.#ends[id] = from + length;
    this.#hashes[id] = hash;
    this.#slots[slot] = id + 1;
    this.count++;
    return id;
  }
}

/** Words of the bits of one group. */
const GROUP_WORDS = MAX_STRINGS / 32;

/** Remembers which numbered strings a group has had. */
export class SeenStrings {
  readonly #memory: CacheMemory;
  readonly #byGroup = new Map<number, Int32Array>();
  #last = -1;
  #words: Int32Array | null = null;

  constructor(memory: CacheMemory) {
    this.#memory = memory;
  }

  /** @returns whether the string is certainly not the first of its kind in the group */
  has(group: number, id: number): boolean {
    if (group !== this.#last) {
      this.#last = group;
      this.#words = this.#wordsOf(group);
    }
    const words = this.#words;
    if (words === null) return false;
    const word = words[id >> 5] ?? 0;
    const bit = 1 << (id & 31);
    if ((word & bit) !== 0) return true;
    words[id >> 5] = word | bit;
    return false;
  }

  #wordsOf(group: number): Int32Array | null {
    const known = this.#byGroup.get(group);
    if (known !== undefined) return known;
    if (!this.#memory.take(GROUP_WORDS * 4)) return null;
    const words = new Int32Array(GROUP_WORDS);
    this.#byGroup.set(group, words);
    return words;
  }
}
