const LIST_CAPACITY = 64;

/** A list of unsigned 32-bit numbers that grows: an eighth of what an array takes that holds them as objects. */
export class Uint32List {
  #items = new Uint32Array(LIST_CAPACITY);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#items[index] ?? 0;
  }

  /** Two at once: a hash has two halves, a range two ends. */
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

/** Slots at first; always a power of two. */
const TABLE_CAPACITY = 1024;
const GROWTH = 4;
/** Tokens that a table takes; then it is full, stops counting and is of no more use. More fit no filter of a segment. */
const MAX_TOKENS = 80_000;

/** Numbers of a slot: both halves of the token's hash, the last frame that has it (from 1; 0 in a free slot), nothing. */
const SLOT = 4;
const FRAME = 2;

/**
 * The tokens of one kind in a segment, each once, and which frames have them. Open addressing in one typed array, so that
 * a token takes one line of the processor's cache. Frames come in order, so the last one tells whether a pair is new.
 */
export class TokenTable {
  #slots = new Uint32Array(TABLE_CAPACITY * SLOT);
  #mask = TABLE_CAPACITY - 1;
  #size = 0;
  #frame = 1;
  readonly #pairs = new Uint32List();
  /** Where the pairs of each frame that is closed end. */
  readonly #pairEnds: number[] = [];

  /** Infinite once it is full: what came later is not in it. */
  get size(): number {
    return this.#size >= MAX_TOKENS ? Number.POSITIVE_INFINITY : this.#size;
  }

  /** Pairs of token and frame. */
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
      const block = slots[at + FRAME] ?? 0;
      if (block === 0) {
        slots[at] = first;
        slots[at + 1] = second;
        slots[at + FRAME] = this.#frame;
        this.#size++;
        this.#pairs.pushPair(first, second);
        if (this.#size * 2 > mask) this.#grow();
        return;
      }
      if (slots[at] !== first || slots[at + 1] !== second) continue;
      if (block !== this.#frame) {
        slots[at + FRAME] = this.#frame;
        this.#pairs.pushPair(first, second);
      }
      return;
    }
  }

  /** What is added from now on is in the next frame. */
  closeBlock(): void {
    this.#pairEnds.push(this.#pairs.length);
    this.#frame++;
  }

  forEach(visit: (a: number, b: number) => void): void {
    const slots = this.#slots;
    for (let at = 0; at < slots.length; at += SLOT) {
      if (slots[at + FRAME] !== 0) visit(slots[at] ?? 0, slots[at + 1] ?? 0);
    }
  }

  /** Frames from 0. */
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
      if (this.#slots[old + FRAME] === 0) continue;
      let slot = (this.#slots[old] ?? 0) & mask;
      while (slots[slot * SLOT + FRAME] !== 0) slot = (slot + 1) & mask;
      for (let part = 0; part <= FRAME; part++) slots[slot * SLOT + part] = this.#slots[old + part] ?? 0;
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}
