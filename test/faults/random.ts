/** A small seeded generator (mulberry32): the same seed gives the same run of numbers. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return min + (((mixed ^ (mixed >>> 14)) >>> 0) % (max - min + 1));
  }

  /** True once in `n`. */
  oneIn(n: number): boolean {
    return this.int(1, n) === 1;
  }
}
