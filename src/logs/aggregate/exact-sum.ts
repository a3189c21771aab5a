import { ByGroup, type HeldBytes } from "./by-group.ts";

/** Numbers from this size on are integers, and few of them overflow a double. They are added up as `bigint`. */
const HUGE = 2 ** 960;
/** Exponent of the smallest double, 2 ** -1074: every double is a whole multiple of it. */
const LEAST_EXPONENT = -1074;
const MANTISSA_BITS = 52;
const MANTISSA_MASK = 0xf_ffff_ffff_ffffn;
/** Bits of an exact sum that are rounded to the 53 of a double; lower ones only decide between two neighbours. */
const ROUNDED_BITS = 64;
/** Approximate bytes of a group with terms in `#rest`, and of each term. */
const REST_BYTES = 64;
const TERM_BYTES = 8;
/** Approximate bytes of a `bigint` of `#huge` with its entry. */
const HUGE_BYTES = 200;

/** Serialized sums of some groups. */
export interface SumState {
  sums: Float64Array;
  errors: Float64Array;
  counts: Float64Array;
  rest: (readonly [group: number, terms: Float64Array])[];
  huge: (readonly [group: number, sum: bigint])[];
}

/**
 * Exact sums of doubles, one for each group. A sum is held as doubles whose exact sum is the exact sum of all values: a
 * rounded sum, its error, and the error's own errors, of which most groups have none. So a result does not depend on
 * the order of the values.
 */
export class ExactSums {
  readonly #held: HeldBytes;
  readonly #sums: ByGroup;
  readonly #errors: ByGroup;
  readonly #counts: ByGroup;
  /** Further terms, as in Shewchuk's expansions: rising in size, without overlap. */
  readonly #rest = new Map<number, number[]>();
  readonly #huge = new Map<number, bigint>();

  constructor(held: HeldBytes) {
    this.#held = held;
    this.#sums = new ByGroup(held);
    this.#errors = new ByGroup(held);
    this.#counts = new ByGroup(held);
  }

  /** @param value finite */
  add(group: number, value: number): void {
    this.#counts.add(group, 1);
    this.#addTerm(group, value);
  }

  count(group: number): number {
    return this.#counts.get(group);
  }

  /** Returns the sum, correctly rounded; `null` if it is larger than any double, or if there are no values. */
  sum(group: number): number | null {
    if (this.#counts.get(group) === 0) return null;
    if (!this.#rest.has(group) && !this.#huge.has(group)) return this.#sums.get(group) + this.#errors.get(group);
    return finite(rounded(this.#exact(group), LEAST_EXPONENT));
  }

  /** Returns the rounded sum divided by the number of values; `null` if there are none. */
  average(group: number): number | null {
    const count = this.#counts.get(group);
    if (count === 0) return null;
    const sum = this.sum(group);
    if (sum !== null) return sum / count;
    // The sum is no double, but the average is one.
    const scaled = (this.#exact(group) << BigInt(ROUNDED_BITS)) / BigInt(count);
    return rounded(scaled, LEAST_EXPONENT - ROUNDED_BITS);
  }

  /** Adds the sums of another state. @param groups this object's group by the other's */
  merge({ sums, errors, counts, rest, huge }: SumState, groups: Int32Array): void {
    for (const [index, group] of groups.entries()) {
      this.#counts.add(group, counts[index] ?? 0);
      this.#addTerm(group, sums[index] ?? 0);
      this.#addTerm(group, errors[index] ?? 0);
    }
    for (const [index, terms] of rest) for (const term of terms) this.#addTerm(groups[index] ?? 0, term);
    for (const [index, sum] of huge) this.#addHuge(groups[index] ?? 0, sum);
  }

  /** @param count number of groups */
  state(count: number): SumState {
    return {
      sums: this.#sums.copy(count),
      errors: this.#errors.copy(count),
      counts: this.#counts.copy(count),
      rest: [...this.#rest].map(([group, terms]) => [group, Float64Array.from(terms)]),
      huge: [...this.#huge],
    };
  }

  #addTerm(group: number, value: number): void {
    if (value >= HUGE || value <= -HUGE) {
      this.#addHuge(group, BigInt(value));
      return;
    }
    const sum = this.#sums.get(group);
    const total = sum + value;
    this.#sums.set(group, total);
    const error = errorOf(sum, value, total);
    if (error === 0) return;
    const errors = this.#errors.get(group);
    const totalError = errors + error;
    this.#errors.set(group, totalError);
    const rest = errorOf(errors, error, totalError);
    if (rest !== 0) this.#addRest(group, rest);
  }

  #addRest(group: number, value: number): void {
    let terms = this.#rest.get(group);
    if (terms === undefined) {
      terms = [];
      this.#rest.set(group, terms);
      this.#held.add(REST_BYTES);
    }
    const before = terms.length;
    let carried = value;
    let kept = 0;
    for (const term of terms) {
      const total = carried + term;
      const error = errorOf(carried, term, total);
      if (error !== 0) terms[kept++] = error;
      carried = total;
    }
    terms.length = kept;
    if (carried !== 0) terms.push(carried);
    this.#held.add((terms.length - before) * TERM_BYTES);
  }

  #addHuge(group: number, value: bigint): void {
    const before = this.#huge.get(group);
    if (before === undefined) this.#held.add(HUGE_BYTES);
    this.#huge.set(group, (before ?? 0n) + value);
  }

  /** Returns the exact sum in units of the smallest double. */
  #exact(group: number): bigint {
    let exact = (this.#huge.get(group) ?? 0n) << BigInt(-LEAST_EXPONENT);
    for (const term of [this.#sums.get(group), this.#errors.get(group), ...(this.#rest.get(group) ?? [])]) {
      exact += unitsOf(term);
    }
    return exact;
  }
}

/** Returns the exact error of `sum = a + b` (Knuth's TwoSum). No value may be near the largest double. */
function errorOf(a: number, b: number, sum: number): number {
  const part = sum - a;
  return a - (sum - part) + (b - part);
}

const bits = new DataView(new ArrayBuffer(8));

/** Returns a double in units of the smallest one. */
function unitsOf(value: number): bigint {
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = Number((word >> BigInt(MANTISSA_BITS)) & 0x7ffn);
  const mantissa = word & MANTISSA_MASK;
  // A subnormal number has exponent 0 and no leading one.
  const units = exponent === 0 ? mantissa : (mantissa | (1n << BigInt(MANTISSA_BITS))) << BigInt(exponent - 1);
  return value < 0 ? -units : units;
}

/** Returns the double nearest to `value * 2 ** exponent`, of two equally near the even one. It may be infinite. */
function rounded(value: bigint, exponent: number): number {
  const size = value < 0n ? -value : value;
  const length = size.toString(16).length * 4;
  const dropped = Math.max(0, length - ROUNDED_BITS - 4);
  let kept = size >> BigInt(dropped);
  // Bits that were dropped decide only whether the rest is more than half.
  if (kept << BigInt(dropped) !== size) kept |= 1n;
  const result = scaledBy(Number(kept), exponent + dropped);
  return value < 0n ? -result : result;
}

/** Multiplies by a power of two in steps that each are a double. */
function scaledBy(value: number, exponent: number): number {
  let result = value;
  let left = exponent;
  for (; left > 1000; left -= 1000) result *= 2 ** 1000;
  for (; left < -1000; left += 1000) result *= 2 ** -1000;
  return result * 2 ** left;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
