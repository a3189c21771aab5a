import type { ValueTest as LanguageTest } from "../../../query-language/syntax.ts";
import { type DataCondition, isOrdered, type Scalar } from "../../query/filter.ts";
import { testsIn } from "../../search/rest-filter.ts";
import { TEST_WORK } from "../../search/text-tests.ts";
import { TextTest } from "./text-test.ts";

/** Tests of `data`, prepared for columns: each column has the values of one type. */

/** Holds for the numbers of a closed interval, or for those of a list. */
export class NumberTest {
  readonly low: number;
  readonly high: number;
  /** In rising order; `null`: every number of the interval, if `#passes` says so. */
  readonly #listed: Float64Array | null;
  readonly #passes: ((value: number) => boolean) | null;
  /** Work units of testing a number, beside those of a row. */
  readonly valueWork: number;

  private constructor(
    low: number,
    high: number,
    listed: Float64Array | null,
    passes: ((value: number) => boolean) | null = null,
    valueWork = 0,
  ) {
    this.valueWork = valueWork;
    this.low = low;
    this.high = high;
    this.#listed = listed;
    this.#passes = passes;
  }

  /** Holds for the numbers that pass. @param valueWork work units of `passes` */
  static where(passes: (value: number) => boolean, valueWork: number): NumberTest {
    return new NumberTest(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, null, passes, valueWork);
  }

  static interval(low: number, high: number): NumberTest {
    return new NumberTest(low, high, null);
  }

  /** Holds for `from <= value < to`. */
  static span(from: number, to: number): NumberTest {
    return new NumberTest(from, -nextAbove(-to), null);
  }

  /** @param values at least one */
  static listed(values: readonly number[]): NumberTest {
    const sorted = Float64Array.from(values).sort();
    const low = sorted[0] ?? Number.NaN;
    const high = sorted.at(-1) ?? Number.NaN;
    return new NumberTest(low, high, low === high ? null : sorted);
  }

  /** Whether every number from `low` to `high` holds. */
  get isInterval(): boolean {
    return this.#listed === null && this.#passes === null;
  }

  holds(value: number): boolean {
    if (!(value >= this.low && value <= this.high)) return false;
    return this.#listed === null ? (this.#passes?.(value) ?? true) : isIn(this.#listed, value);
  }

  /** Whether a number between two may hold. */
  mayHold(min: number, max: number): boolean {
    if (max < this.low || min > this.high) return false;
    const first = this.#listed?.find((value) => value >= min);
    return this.#listed === null || (first !== undefined && first <= max);
  }

  /** Whether all numbers between two hold. */
  holdsForAll(min: number, max: number): boolean {
    if (min === max) return this.holds(min);
    return this.isInterval && min >= this.low && max <= this.high;
  }
}

function isIn(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}

/** What a test says about each type of value. A row passes if its value holds, or if it does not and `isNegated`. */
export interface ValueTest {
  condition: DataCondition;
  isNegated: boolean;
  /** `null`: holds for no number, or no string. */
  numbers: NumberTest | null;
  texts: TextTest | null;
  false: boolean;
  true: boolean;
  null: boolean;
  object: boolean;
}

export function valueTestOf(condition: DataCondition): ValueTest {
  const nothing = { numbers: null, texts: null, false: false, true: false, null: false, object: false };
  switch (condition.op) {
    case "exists":
      return {
        condition,
        isNegated: !condition.value,
        numbers: EVERY_NUMBER,
        texts: TextTest.every,
        false: true,
        true: true,
        null: true,
        object: true,
      };
    case "eq":
      return { condition, isNegated: false, ...listed([condition.value]) };
    case "ne":
      return { condition, isNegated: true, ...listed([condition.value]) };
    case "in":
      return { condition, isNegated: false, ...listed(condition.value) };
    default: {
      const { op, value } = condition;
      if (typeof value === "number") {
        return { condition, isNegated: false, ...nothing, numbers: intervalOf(op, value) };
      }
      const texts = TextTest.ordered((text) => isOrdered(op, text, value));
      return { condition, isNegated: false, ...nothing, texts };
    }
  }
}

export const EVERY_NUMBER = NumberTest.interval(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);

function listed(values: readonly Scalar[]) {
  const numbers = values.filter((value) => typeof value === "number");
  const texts = values.filter((value) => typeof value === "string");
  return {
    numbers: numbers.length === 0 ? null : NumberTest.listed(numbers),
    texts: TextTest.listed(texts),
    false: values.includes(false),
    true: values.includes(true),
    null: values.includes(null),
    object: false,
  };
}

export function intervalOf(op: "gt" | "gte" | "lt" | "lte", bound: number): NumberTest {
  switch (op) {
    case "gt":
      return NumberTest.interval(nextAbove(bound), Number.POSITIVE_INFINITY);
    case "gte":
      return NumberTest.interval(bound, Number.POSITIVE_INFINITY);
    case "lt":
      return NumberTest.interval(Number.NEGATIVE_INFINITY, -nextAbove(-bound));
    case "lte":
      return NumberTest.interval(Number.NEGATIVE_INFINITY, bound);
  }
}

const bits = new DataView(new ArrayBuffer(8));

/** Returns the smallest double that is larger. */
function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  if (!Number.isFinite(value)) return value;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}

/** Returns the test of the numbers that pass a test of the query language; `null` if none passes. */
export function numberTestOf(test: LanguageTest, passes: (value: unknown) => boolean): NumberTest | null {
  switch (test.kind) {
    case "exists":
      return EVERY_NUMBER;
    case "exact":
      return null;
    case "is": {
      const value = Number(test.text);
      return String(value) === test.text && Number.isFinite(value) ? NumberTest.listed([value]) : null;
    }
    case "compare":
      if (test.value.kind !== "number") return null;
      return intervalOf(OPERATORS[test.operator], test.value.value);
    case "range": {
      const { from, to } = test;
      return from.kind === "number" && to.kind === "number" ? NumberTest.interval(from.value, to.value) : null;
    }
    default:
      // Most tests compare the spelling of the number.
      return NumberTest.where(passes, testsIn(test) * TEST_WORK);
  }
}

const OPERATORS = { "<": "lt", "<=": "lte", ">": "gt", ">=": "gte" } as const;
