import type { Field, Filter, Regex, TextTest, ValueTest } from "../../query-language/syntax.ts";
import type { Entry } from "../entry.ts";
import { WORK, type WorkMeter } from "../query/budget.ts";
import { type ComparedMember, type ComparedMembers, someItem, someText, takeItemWork } from "./data-values.ts";
import { type EntryPlace, readerOf, textTestOf, valueTestOf } from "./entry-test.ts";
import { type RegexTest, regexTestOf, TEXT_BYTE_WORK } from "./text-tests.ts";

/** Whether an entry passes a filter, in steps that the meter ends. */
export type EntrySteps = (entry: Entry, place: EntryPlace, meter: WorkMeter) => Generator<void, boolean>;

/**
 * Like `entryTestOf`, for filters that may take many milliseconds for one long entry.
 * @param compared as in `entryTestOf`
 * @throws InvalidRegex
 */
export function entryStepsOf(filter: Filter, now: number, compared: ComparedMembers | null = null): EntrySteps {
  switch (filter.kind) {
    case "all":
      // biome-ignore lint/correctness/useYield: nothing takes long
      return function* () {
        return true;
      };
    case "not": {
      const steps = entryStepsOf(filter.filter, now, compared);
      return function* (entry, place, meter) {
        return !(yield* steps(entry, place, meter));
      };
    }
    case "and":
    case "or": {
      const parts = filter.filters.map((each) => entryStepsOf(each, now, compared));
      const decisive = filter.kind === "or";
      return function* (entry, place, meter) {
        for (const steps of parts) if ((yield* steps(entry, place, meter)) === decisive) return decisive;
        return !decisive;
      };
    }
    case "text":
      if (filter.test.kind === "regex") {
        const steps = regexStepsOf(filter.test);
        return ({ message, service, host, data }, _, meter) => steps([message, service, host, data], meter);
      }
      return textSteps(filter.test);
    case "field": {
      const member = compared?.of(filter.field, filter.test) ?? null;
      const steps = valueStepsOf(filter.field, filter.test, now, member);
      const read = readerOf(filter.field);
      if (steps !== null) {
        return (entry, place, meter) => {
          const values = collected((visit) => read(entry, place, visit));
          meter.add(takeItemWork());
          return steps(values, meter);
        };
      }
      const leaves = leavesOf(filter.test);
      if (leaves.length > 1) {
        const each = leaves.map((test): Filter => ({ ...filter, test }));
        return entryStepsOf({ kind: "or", filters: each }, now, compared);
      }
      const passes = valueTestOf(filter.field, filter.test, now, member);
      return function* (entry, place, meter) {
        const values = collected((visit) => read(entry, place, visit));
        meter.add(takeItemWork());
        const isFound = values.some((value) => {
          meter.add(WORK.condition + (typeof value === "string" ? value.length * TEXT_BYTE_WORK : 0));
          return passes(value);
        });
        if (meter.isDue) yield;
        return isFound;
      };
    }
  }
}

/** Returns the tests of which one must hold. */
function leavesOf(test: ValueTest): ValueTest[] {
  return test.kind === "anyOf" ? test.tests.flatMap(leavesOf) : [test];
}

function textSteps(wanted: TextTest): EntrySteps {
  const passes = textTestOf(wanted);
  return function* ({ message, service, host, data }, _, meter) {
    const visit = (text: string) => {
      meter.add(WORK.text + text.length * TEXT_BYTE_WORK);
      return passes(text);
    };
    const isFound = [message, service, host, data].some((value) => someText(value, visit));
    if (meter.isDue) yield;
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
    someText(value, (text) => texts.push(text) < 0);
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
    for (const passes of others) {
      meter.add(values.length * WORK.condition);
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
