import { detachBuffer } from "../../../platform/isolate-memory.ts";

/** Initial number of slots, a power of two. */
const TABLE_CAPACITY = 1024;
const GROWTH = 4;
/** Slots from which on a table grows to its double, because it has half a megabyte. */
const LARGE_SLOTS = 65_536;
/** Maximum number of tokens in a table unless given: no filter in a row holds more. */
const MAX_TOKENS = 80_000;

/** Numbers of a slot: both halves of the token's hash, both 0 in a free slot. */
const SLOT = 2;

/**
 * The tokens of one kind in a segment, each once. Uses open addressing in one typed array, so that a token takes one line of
 * the processor's cache.
 */
export class TokenTable {
  #slots = new Uint32Array(TABLE_CAPACITY * SLOT);
  #mask = TABLE_CAPACITY - 1;
  #size = 0;
  /** Whether the token of which both halves are 0 was added. */
  #hasZero = false;

  readonly #maxTokens: number;

  /** @param maxTokens number of tokens from which on the table is not used: it counts as infinite and frees its memory */
  constructor(maxTokens = MAX_TOKENS) {
    this.#maxTokens = maxTokens;
  }

  /** Number of tokens; infinite if the table is full. */
  get size(): number {
    return this.#isFull ? Number.POSITIVE_INFINITY : this.#size;
  }

  get #isFull(): boolean {
    return this.#size >= this.#maxTokens;
  }

  add(a: number, b: number): void {
    if (this.#isFull) return;
    const slots = this.#slots;
    const mask = this.#mask;
    const first = a >>> 0;
    const second = b >>> 0;
    if (first === 0 && second === 0) {
      if (!this.#hasZero) this.#size++;
      this.#hasZero = true;
      return;
    }
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const at = slot * SLOT;
      const heldFirst = slots[at] ?? 0;
      const heldSecond = slots[at + 1] ?? 0;
      if (heldFirst === first && heldSecond === second) return;
      if (heldFirst !== 0 || heldSecond !== 0) continue;
      slots[at] = first;
      slots[at + 1] = second;
      this.#size++;
      if (this.#isFull) this.release();
      else if (this.#size * 2 > mask) this.#grow();
      return;
    }
  }

  forEach(visit: (a: number, b: number) => void): void {
    const slots = this.#slots;
    if (this.#hasZero) visit(0, 0);
    for (let at = 0; at < slots.length; at += SLOT) {
      const first = slots[at] ?? 0;
      const second = slots[at + 1] ?? 0;
      if (first !== 0 || second !== 0) visit(first, second);
    }
  }

  /** Frees its memory. */
  release(): void {
    detachBuffer(this.#slots);
  }

  #grow(): void {
    const growth = this.#mask + 1 >= LARGE_SLOTS ? 2 : GROWTH;
    const slots = new Uint32Array(this.#slots.length * growth);
    const mask = slots.length / SLOT - 1;
    for (let old = 0; old < this.#slots.length; old += SLOT) {
      const first = this.#slots[old] ?? 0;
      const second = this.#slots[old + 1] ?? 0;
      if (first === 0 && second === 0) continue;
      let slot = first & mask;
      while (slots[slot * SLOT] !== 0 || slots[slot * SLOT + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * SLOT] = first;
      slots[slot * SLOT + 1] = second;
    }
    detachBuffer(this.#slots);
    this.#slots = slots;
    this.#mask = mask;
  }
}
