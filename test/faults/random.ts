/** A small seeded generator (mulberry32): the same seed returns the same sequence. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A separate generator for each name, so that the number of draws from one does not affect others. */
  fork(name: string): Random {
    let hash = 0x811c9dc5 ^ this.#state;
    for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    return new Random(hash);
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return min + (((mixed ^ (mixed >>> 14)) >>> 0) % (max - min + 1));
  }

  /** `true` with probability 1/`n`. */
  oneIn(n: number): boolean {
    return this.int(1, n) === 1;
  }

  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError("There is nothing to pick from.");
    // SAFETY: the index is within the list.
    return values[this.int(0, values.length - 1)] as T;
  }

  /** Some of the values, in random order, or all of them if there are fewer. */
  sample<T>(values: readonly T[], most: number): T[] {
    const rest = [...values];
    const taken: T[] = [];
    while (taken.length < most && rest.length > 0) taken.push(...rest.splice(this.int(0, rest.length - 1), 1));
    return taken;
  }
}
