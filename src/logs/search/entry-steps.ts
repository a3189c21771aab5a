import type { Field, Filter, Regex, ValueTest } from "../../query-language/syntax.ts";
import type { Entry } from "../entry.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import {
  beginPathWork,
  type ComparedMember,
  type ComparedMembers,
  someItem,
  someText,
  takePathWork,
} from "./data-values.ts";
import { type EntryPlace, entryTestOf, readerOf, valueTestOf } from "./entry-test.ts";
import { leavesOf, type RegexTest, regexTestOf, TEST_WORK, TEXT_BYTE_WORK } from "./text-tests.ts";

/** Whether an entry passes a filter, in steps that the meter ends. */
export type EntrySteps = (entry: Entry, place: EntryPlace, meter: WorkMeter) => Generator<void, boolean>;

/** A part of a filter: a test that takes no long time, or steps. */
type Part =
  | { test: (entry: Entry, place: EntryPlace, meter: WorkMeter) => boolean; steps: null }
  | { test: null; steps: EntrySteps };

/**
 * Like `entryTestOf`, for filters that may take many milliseconds for one long entry.
 * @param compared as in `entryTestOf`
 * @throws InvalidRegex
 */
export function entryStepsOf(filter: Filter, now: number, compared: ComparedMembers | null = null): EntrySteps {
  const { test, steps } = partOf(filter, now, compared);
  if (steps !== null) return steps;
  return function* (entry, place, meter) {
    const passes = test(entry, place, meter);
    if (meter.isDue) yield;
    return passes;
  };
}

function partOf(filter: Filter, now: number, compared: ComparedMembers | null): Part {
  switch (filter.kind) {
    case "all":
      return { test: () => true, steps: null };
    case "not": {
      const { test, steps } = partOf(filter.filter, now, compared);
      if (steps === null) return { test: (entry, place, meter) => !test(entry, place, meter), steps };
      return {
        test,
        steps: function* (entry, place, meter) {
          return !(yield* steps(entry, place, meter));
        },
      };
    }
    case "and":
    case "or": {
      const parts = filter.filters.map((each) => partOf(each, now, compared));
      const decisive = filter.kind === "or";
      return {
        test: null,
        steps: function* (entry, place, meter) {
          for (const { test, steps } of parts) {
            // A generator for each of many short tests would take longer than they do.
            const passes = steps === null ? test(entry, place, meter) : yield* steps(entry, place, meter);
            if (passes === decisive) return decisive;
            if (meter.isDue) yield;
          }
          return !decisive;
        },
      };
    }
    case "text":
      if (filter.test.kind === "regex") {
        const steps = regexStepsOf(filter.test);
        return {
          test: null,
          steps: ({ message, service, host, data }, _, meter) => steps([message, service, host, data], meter),
        };
      }
      return { test: countedTest(filter, now, compared), steps: null };
    case "field": {
      const member = compared?.of(filter.field, filter.test) ?? null;
      const steps = valueStepsOf(filter.field, filter.test, now, member);
      const read = readerOf(filter.field);
      if (steps !== null) {
        return {
          test: null,
          steps: (entry, place, meter) => {
            beginPathWork();
            const values = collected((visit) => read(entry, place, visit));
            meter.add(TEST_WORK + takePathWork());
            return steps(values, meter);
          },
        };
      }
      const leaves = leavesOf(filter.test);
      if (leaves.length > 1) {
        const each = leaves.map((test): Filter => ({ ...filter, test }));
        return partOf({ kind: "or", filters: each }, now, compared);
      }
      return { test: countedTest(filter, now, compared), steps: null };
    }
  }
}

function countedTest(filter: Filter, now: number, compared: ComparedMembers | null): NonNullable<Part["test"]> {
  const passes = entryTestOf(filter, now, compared);
  return (entry, place, meter) => {
    beginPathWork();
    const isFound = passes(entry, place);
    meter.add(TEST_WORK + takePathWork());
    return isFound;
  };
}

/** Tests in steps a text, or the texts in a value. */
export type ValueSteps<T> = (value: T, meter: WorkMeter) => Generator<void, boolean>;

/** Searches every string, number and boolean in a value. @throws InvalidRegex */
export function regexStepsOf(regex: Regex): ValueSteps<unknown> {
  const test = regexTestOf(regex);
  return function* (value, meter) {
    const texts: string[] = [];
    beginPathWork();
    someText(value, (text) => texts.push(text) < 0);
    meter.add(takePathWork());
    return yield* somePasses([test], texts, meter);
  };
}

/**
 * Tests values of a field, of which one must pass.
 * @returns `null` if the test has no regular expression
 * @throws InvalidRegex
 */
export function valueStepsOf(
  field: Field,
  test: ValueTest,
  now: number,
  member: ComparedMember | null = null,
): ValueSteps<readonly unknown[]> | null {
  const leaves = leavesOf(test);
  const tests = leaves.flatMap((leaf) => (leaf.kind === "regex" ? [regexTestOf(leaf)] : []));
  if (tests.length === 0) return null;
  const others = leaves.filter((leaf) => leaf.kind !== "regex").map((leaf) => valueTestOf(field, leaf, now, member));
  return function* (values, meter) {
    const characters = others.length === 0 ? 0 : values.reduce<number>((sum, value) => sum + lengthOf(value), 0);
    for (const passes of others) {
      meter.add(values.length * TEST_WORK + characters * TEXT_BYTE_WORK);
      if (values.some(passes)) return true;
      if (meter.isDue) yield;
    }
    const texts: string[] = [];
    for (const value of values) {
      if (value === null || typeof value !== "object") someText(value, (text) => texts.push(text) < 0);
    }
    return yield* somePasses(tests, texts, meter);
  };
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}

/** Collects the values that a reader visits, and those in arrays of them. */
export function collected(read: (visit: (value: unknown) => boolean) => boolean): unknown[] {
  const values: unknown[] = [];
  const collect = (value: unknown) => values.push(value) < 0;
  read((value) => collect(value) || (Array.isArray(value) && someItem(value, collect)));
  return values;
}

function* somePasses(
  tests: readonly RegexTest[],
  texts: readonly string[],
  meter: WorkMeter,
): Generator<void, boolean> {
  for (const test of tests) {
    for (const text of texts) {
      meter.add(WORK.text);
      if (yield* test.steps(text, meter)) return true;
      if (meter.isDue) yield;
    }
  }
  return false;
}
