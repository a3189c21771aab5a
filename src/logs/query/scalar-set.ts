import type { Scalar } from "./filter.ts";

/**
 * A list of scalars that is asked whether it has a value, by `===`. Numbers are looked for by halves: a client can choose
 * them so that a hash table puts all of them into one place. The hash of strings is seeded.
 */
export class ScalarSet {
  readonly #numbers: Float64Array;
  readonly #others: ReadonlySet<unknown>;

  constructor(values: readonly Scalar[]) {
    this.#numbers = Float64Array.from(values.filter((value) => typeof value === "number")).sort();
    this.#others = new Set(values.filter((value) => typeof value !== "number"));
  }

  has(value: unknown): boolean {
    return typeof value === "number" ? this.#hasNumber(value) : this.#others.has(value);
  }

  #hasNumber(value: number): boolean {
    const numbers = this.#numbers;
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return numbers[low] === value;
  }
}
