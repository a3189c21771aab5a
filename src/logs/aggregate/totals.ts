/** Bounds up to which percentiles and distinct counts are exact. */
export const EXACT_LIMITS = {
  /** Values (for distinct counts: different ones) of one group and field. */
  group: 50_000,
  /** Values and different values that all groups of an answer hold together. */
  total: 1_000_000,
} as const;

/**
 * The number of values that the states of an answer hold. It only depends on the entries, never on their order or on
 * how the work was split, so whether an answer is exact does not either.
 */
export class ValueTotal {
  #count = 0;

  add(count: number): void {
    this.#count += count;
  }

  /** Records that a part of the answer has exceeded the bound. */
  exceed(): void {
    this.#count = Math.max(this.#count, EXACT_LIMITS.total + 1);
  }

  /** Whether all groups together have too many values for exact results. */
  get isExceeded(): boolean {
    return this.#count > EXACT_LIMITS.total;
  }
}
