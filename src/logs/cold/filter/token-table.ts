const LIST_CAPACITY = 64;

/** A growing list of unsigned 32-bit numbers. Takes an eighth of the memory of an array that stores them as objects. */
export class Uint32List {
  #items = new Uint32Array(LIST_CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#items[index] ?? 0;
  }

  /** Adds two numbers: the halves of a hash, or the ends of a range. */
  pushPair(first: number, second: number): void {
    const at = this.#length;
    if (at + 2 > this.#items.length) this.#grow();
    this.#items[at] = first;
    this.#items[at + 1] = second;
    this.#length = at + 2;
  }

  clear(): void {
    this.#length = 0;
  }

  #grow(): void {
    const grown = new Uint32Array(this.#items.length * 2);
    grown.set(this.#items);
    this.#items = grown;
  }
}

/** Initial number of slots, a power of two. */
const TABLE_CAPACITY = 1024;
const GROWTH = 4;
/**
 * Maximum number of tokens in a table. A full table stops counting and is not used, because no filter of a segment
 * holds more.
 */
const MAX_TOKENS = 80_000;

/**
 * Numbers of a slot: both halves of the token's hash, the last block that has it (from 1; 0 in a free slot), unused.
 */
const SLOT = 4;
const BLOCK = 2;

/**
 * The tokens of one kind in a segment, each once, and the blocks that have them. Uses open addressing in one typed
 * array, so that a token takes one line of the processor's cache. Blocks are added in order, so the last block of a
 * token tells whether a pair is new.
 */
export class TokenTable {
  #slots = new Uint32Array(TABLE_CAPACITY * SLOT);
  #mask = TABLE_CAPACITY - 1;
  #size = 0;
  #block = 1;
  readonly #pairs = new Uint32List();
  /** Ends of the pairs of each closed block. */
  readonly #pairEnds: number[] = [];

  /** Number of tokens; infinite if the table is full. */
  get size(): number {
    return this.#size >= MAX_TOKENS ? Number.POSITIVE_INFINITY : this.#size;
  }

  /** Number of pairs of token and block. */
  get pairCount(): number {
    return this.#size >= MAX_TOKENS ? Number.POSITIVE_INFINITY : this.#pairs.length / 2;
  }

  add(a: number, b: number): void {
    if (this.#size >= MAX_TOKENS) return;
    const slots = this.#slots;
    const mask = this.#mask;
    const first = a >>> 0;
    const second = b >>> 0;
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const at = slot * SLOT;
      const block = slots[at + BLOCK] ?? 0;
      if (block === 0) {
        slots[at] = first;
        slots[at + 1] = second;
        slots[at + BLOCK] = this.#block;
        this.#size++;
        this.#pairs.pushPair(first, second);
        if (this.#size * 2 > mask) this.#grow();
        return;
      }
      if (slots[at] !== first || slots[at + 1] !== second) continue;
      if (block !== this.#block) {
        slots[at + BLOCK] = this.#block;
        this.#pairs.pushPair(first, second);
      }
      return;
    }
  }

  /** Closes the block. Tokens added later belong to the next block. */
  closeBlock(): void {
    this.#pairEnds.push(this.#pairs.length);
    this.#block++;
  }

  forEach(visit: (a: number, b: number) => void): void {
    const slots = this.#slots;
    for (let at = 0; at < slots.length; at += SLOT) {
      if (slots[at + BLOCK] !== 0) visit(slots[at] ?? 0, slots[at + 1] ?? 0);
    }
  }

  /** Visits the pairs. Blocks are numbered from 0. */
  forEachPair(visit: (a: number, b: number, block: number) => void): void {
    let at = 0;
    this.#pairEnds.forEach((end, block) => {
      for (; at < end; at += 2) visit(this.#pairs.at(at), this.#pairs.at(at + 1), block);
    });
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * GROWTH);
    const mask = slots.length / SLOT - 1;
    for (let old = 0; old < this.#slots.length; old += SLOT) {
      if (this.#slots[old + BLOCK] === 0) continue;
      let slot = (this.#slots[old] ?? 0) & mask;
      while (slots[slot * SLOT + BLOCK] !== 0) slot = (slot + 1) & mask;
      for (let part = 0; part <= BLOCK; part++) slots[slot * SLOT + part] = this.#slots[old + part] ?? 0;
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}
