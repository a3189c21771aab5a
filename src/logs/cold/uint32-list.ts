const FIRST_CAPACITY = 64;

/** A list of unsigned 32-bit numbers that grows: an eighth of what an array takes that holds them as objects. */
export class Uint32List {
  #items = new Uint32Array(FIRST_CAPACITY);
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
