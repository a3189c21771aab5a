import { printFilter } from "../../query-language/print.ts";
import type { Filter, Scalar, TimeValue, ValueTest } from "../../query-language/syntax.ts";
import { BUILT_IN_CATEGORIES, OTHER_CATEGORY_BIT } from "../entry.ts";
import { ComparedMembers } from "./data-values.ts";
import { type EntrySteps, entryStepsOf } from "./entry-steps.ts";
import { type EntryTest, entryTestOf, periodOf, valueTestOf } from "./entry-test.ts";
import { TEST_WORK } from "./text-tests.ts";
import { type WantedMembers, wantedMembersOf } from "./wanted-members.ts";

/** A filter of the query language, prepared for many entries. */
export interface RestFilter {
  /** Its times are absolute. */
  filter: Filter;
  /** The filter as text that means the same at any time. */
  text: string;
  /** The time from which relative times counted, epoch milliseconds. */
  now: number;
  test: EntryTest;
  /** In place of `test` if that may take many milliseconds for one entry; `null` if it does not. */
  steps: EntrySteps | null;
  /** Mask of the categories that an entry may have to pass; see `categoryBit`. */
  categoryMask: number;
  /** Members that the tests read; `null`: the whole entry. */
  members: WantedMembers | null;
  /** What comparisons with numbers meet in place of numbers. */
  compared: ComparedMembers;
  /** Work units of `test` besides those of the values that it finds, which are work of paths. */
  lineWork: number;
}

/**
 * Prepares a filter.
 * @param now the time from which relative times count, epoch milliseconds
 * @throws InvalidRegex
 */
export function restFilterOf(filter: Filter, now: number, compared = new ComparedMembers()): RestFilter {
  const absolute = withoutDurations(filter, now);
  const tests = testsOf(absolute);
  const isCostly = tests > MAX_TESTS || hasRegex(absolute);
  return {
    filter: absolute,
    text: printFilter(absolute),
    now,
    test: entryTestOf(absolute, now, compared),
    steps: isCostly ? entryStepsOf(absolute, now, compared) : null,
    categoryMask: categoryMaskOf(absolute),
    members: wantedMembersOf(absolute),
    compared,
    // Steps count their own work.
    lineWork: isCostly ? 0 : tests * TEST_WORK,
  };
}

/** Tests of one entry without a pause. One of thousands of values takes 5 ms. */
const MAX_TESTS = 4;

function testsOf(filter: Filter): number {
  if (filter.kind === "and" || filter.kind === "or")
    return filter.filters.reduce((sum, each) => sum + testsOf(each), 0);
  if (filter.kind === "not") return testsOf(filter.filter);
  return filter.kind === "field" ? testsIn(filter.test) : filter.kind === "text" ? 1 : 0;
}

function hasRegex(filter: Filter): boolean {
  if (filter.kind === "and" || filter.kind === "or") return filter.filters.some(hasRegex);
  if (filter.kind === "not") return hasRegex(filter.filter);
  if (filter.kind === "field") return regexesIn(filter.test) > 0;
  return filter.kind === "text" && filter.test.kind === "regex";
}

/** Returns the number of tests that a value takes. All words of a list are one. */
export function testsIn(test: ValueTest): number {
  if (test.kind !== "anyOf") return 1;
  const words = test.tests.filter(({ kind }) => kind === "is" || kind === "exact").length;
  return test.tests.reduce((sum, each) => sum + testsIn(each), Math.min(words, 1) - words);
}

/** Returns the number of regular expressions of a test. */
export function regexesIn(test: ValueTest): number {
  if (test.kind === "anyOf") return test.tests.reduce((sum, each) => sum + regexesIn(each), 0);
  return test.kind === "regex" ? 1 : 0;
}

/** Returns a filter in which durations are points in time, so that it means the same at any time. */
export function withoutDurations(filter: Filter, now: number): Filter {
  switch (filter.kind) {
    case "field":
      return { ...filter, test: absoluteTest(filter.test, now) };
    case "not":
      return { kind: "not", filter: withoutDurations(filter.filter, now) };
    case "and":
    case "or":
      return { kind: filter.kind, filters: filter.filters.map((each) => withoutDurations(each, now)) };
    default:
      return filter;
  }
}

function absoluteTest(test: ValueTest, now: number): ValueTest {
  switch (test.kind) {
    case "anyOf":
      return { kind: "anyOf", tests: test.tests.map((each) => absoluteTest(each, now)) };
    case "during":
      // A duration has no end: a client's clock may be ahead.
      if (test.time.kind === "period") return test;
      return { kind: "compare", operator: ">=", value: { kind: "time", time: absoluteTime(test.time, now) } };
    case "compare":
      return { ...test, value: absoluteScalar(test.value, now) };
    case "range":
      return { kind: "range", from: absoluteScalar(test.from, now), to: absoluteScalar(test.to, now) };
    default:
      return test;
  }
}

function absoluteScalar(scalar: Scalar, now: number): Scalar {
  return scalar.kind === "time" ? { kind: "time", time: absoluteTime(scalar.time, now) } : scalar;
}

function absoluteTime(time: TimeValue, now: number): TimeValue {
  return { kind: "period", ...periodOf(time, now) };
}

/** What the entries of one kind, such as a level, can do: bits by kind. */
export interface KindMask {
  /** Kinds of which an entry may pass. */
  mask: number;
  /** Whether the filter tests nothing else, so that all entries of these kinds pass. */
  isExact: boolean;
}

/**
 * Returns the kinds of which an entry may pass.
 * @param all mask of all kinds
 * @param of returns the mask of a test of the kind; `null` for other tests
 */
export function kindMaskOf(filter: Filter, all: number, of: (filter: Filter) => number | null): KindMask {
  switch (filter.kind) {
    case "all":
      return { mask: all, isExact: true };
    case "not": {
      const { mask, isExact } = kindMaskOf(filter.filter, all, of);
      return { mask: isExact ? all & ~mask : all, isExact };
    }
    case "and":
    case "or": {
      const parts = filter.filters.map((each) => kindMaskOf(each, all, of));
      const mask =
        filter.kind === "and"
          ? parts.reduce((sum, part) => sum & part.mask, all)
          : parts.reduce((sum, part) => sum | part.mask, 0);
      return { mask, isExact: parts.every(({ isExact }) => isExact) };
    }
    default: {
      const mask = of(filter);
      return mask === null ? { mask: all, isExact: false } : { mask, isExact: true };
    }
  }
}

const OTHER_CATEGORIES = 1 << OTHER_CATEGORY_BIT;
const ALL_CATEGORIES = 2 * OTHER_CATEGORIES - 1;

function categoryMaskOf(filter: Filter): number {
  const built = kindMaskOf(filter, ALL_CATEGORIES, (each) => {
    if (each.kind !== "field" || each.field.kind !== "own" || each.field.name !== "category") return null;
    const test = valueTestOf(each.field, each.test, 0);
    return BUILT_IN_CATEGORIES.reduce((mask, name, bit) => (test(name) ? mask | (1 << bit) : mask), 0);
  });
  // Any of the other categories may pass.
  return built.mask | OTHER_CATEGORIES;
}
