import { detachBuffer } from "../platform/isolate-memory.ts";

/** Bytes of an id, and 32-bit words of it. */
export const ID_BYTES = 16;
const ID_WORDS = ID_BYTES / Uint32Array.BYTES_PER_ELEMENT;
/** Bits by which an index of words is longer than one of slots. */
const WORD_BITS = Math.log2(ID_WORDS);
const FIRST_SLOTS = 256;
/** Share of the slots that is used at most. */
const MAX_LOAD = 0.75;

/** A set of ids, each 16 bytes of a cryptographic hash, in one buffer with open addressing. No id is all zeros. */
export class IdSet {
  #words = new Uint32Array(FIRST_SLOTS * ID_WORDS);
  #size = 0;
  /** Random and odd, so that clients cannot choose records whose ids need the same slots. */
  readonly #factor = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) | 1;

  get size(): number {
    return this.#size;
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#words.byteLength;
  }

  /** @param words ids one after the other @param at index of the id's first word */
  has(words: Uint32Array, at: number): boolean {
    return !isNone(this.#words, this.#slotOf(words, at));
  }

  /** Adds an id. @returns `false` if the set has it already */
  add(words: Uint32Array, at: number): boolean {
    const slot = this.#slotOf(words, at);
    if (!isNone(this.#words, slot)) return false;
    this.#words.set(words.subarray(at, at + ID_WORDS), slot);
    this.#size++;
    if (this.#size > (this.#words.length / ID_WORDS) * MAX_LOAD) this.#grow();
    return true;
  }

  /** Frees the buffer. The set must not be used afterwards. */
  free(): void {
    detachBuffer(this.#words);
  }

  /** Index of the words that are equal to an id, or of the free ones in which it belongs. */
  #slotOf(words: Uint32Array, at: number): number {
    const own = this.#words;
    // The number of slots is a power of two. The upper bits of the product are the ones that depend on all bits of the word.
    const mask = own.length - 1;
    const first = Math.imul(words[at] ?? 0, this.#factor) >>> (Math.clz32(mask) + WORD_BITS);
    for (let slot = first * ID_WORDS; ; slot = (slot + ID_WORDS) & mask) {
      if (isNone(own, slot) || isEqual(own, slot, words, at)) return slot;
    }
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(before.length * 2);
    this.#size = 0;
    for (let at = 0; at < before.length; at += ID_WORDS) if (!isNone(before, at)) this.add(before, at);
    detachBuffer(before);
  }
}

/** Returns ids as words. @param ids whole ids, of any alignment */
export function wordsOf(ids: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = ids.byteOffset % 4 === 0 ? ids : Uint8Array.from(ids);
  return new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT);
}

/** Yields the index of each id's first word, and the number of the id. Zeros stand for a record without an id. */
export function* eachId(words: Uint32Array): Generator<{ at: number; number: number }> {
  for (let at = 0, number = 0; at < words.length; at += ID_WORDS, number++) {
    if (!isNone(words, at)) yield { at, number };
  }
}

function isNone(words: Uint32Array, at: number): boolean {
  for (let word = 0; word < ID_WORDS; word++) if (words[at + word] !== 0) return false;
  return true;
}

function isEqual(a: Uint32Array, atA: number, b: Uint32Array, atB: number): boolean {
  for (let word = 0; word < ID_WORDS; word++) if (a[atA + word] !== b[atB + word]) return false;
  return true;
}
