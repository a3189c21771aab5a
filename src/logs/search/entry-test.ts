import {
  type Comparison,
  type Field,
  type Filter,
  LEVEL_NAMES,
  type OwnField,
  type Scalar,
  type TimeValue,
  type ValueTest,
} from "../../query-language/syntax.ts";
import type { Entry, OwnMember } from "../entry.ts";
import { WORK } from "../query/budget.ts";
import { dataAt } from "../query/data-path.ts";
import { foldCase } from "../query/fold-case.ts";
import { addPathWork, type ComparedMember, type ComparedMembers, someAt, someItem, someText } from "./data-values.ts";
import { patternOf, patternWorkOf } from "./pattern.ts";
import { regexTestOf, TEXT_BYTE_WORK, valueWorkOf, wildcardTest } from "./text-tests.ts";

/** What a stored entry has besides its line. */
export interface EntryPlace {
  /** Epoch milliseconds, as in the line. */
  timestamp: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  seq: number;
  projectId: string;
  id: string;
}

/** Whether an entry passes a filter of the query language. */
export type EntryTest = (entry: Entry, place: EntryPlace) => boolean;

/** Calls `visit` for each value of a field. @returns whether a visit ended the search */
type ReadField = (entry: Entry, place: EntryPlace, visit: (value: unknown) => boolean) => boolean;

/**
 * Prepares a filter. Its tests add what they take to the work of paths.
 * @param now the time from which relative times count, epoch milliseconds
 * @param compared takes what comparisons with numbers meet in place of numbers; `null`: it does not matter
 * @throws InvalidRegex
 */
export function entryTestOf(filter: Filter, now: number, compared: ComparedMembers | null = null): EntryTest {
  switch (filter.kind) {
    case "all":
      return () => true;
    case "and": {
      const tests = filter.filters.map((each) => entryTestOf(each, now, compared));
      return (entry, place) => tests.every((test) => test(entry, place));
    }
    case "or": {
      const tests = filter.filters.map((each) => entryTestOf(each, now, compared));
      return (entry, place) => tests.some((test) => test(entry, place));
    }
    case "not": {
      const test = entryTestOf(filter.filter, now, compared);
      return (entry, place) => !test(entry, place);
    }
    case "text": {
      const passes = textTestOf(filter.test);
      const test = (text: string) => {
        addPathWork(WORK.text + text.length * TEXT_BYTE_WORK);
        return passes(text);
      };
      // A damaged line may have anything in place of its message.
      return ({ message, service, host, data }) =>
        [message, service, host, data].some((value) => someText(value, test));
    }
    case "field": {
      const read = readerOf(filter.field);
      const member = compared?.of(filter.field, filter.test) ?? null;
      const passes = valueTestOf(filter.field, filter.test, now, member);
      const workOf = valueWorkOf(filter.test);
      const test = (value: unknown) => {
        addPathWork(workOf(value));
        return passes(value);
      };
      // An array has the value of each of its items. Whether there is one, its items do not matter.
      return (entry, place) =>
        read(entry, place, (value) => test(value) || (Array.isArray(value) && someItem(value, test)));
    }
  }
}

export function textTestOf(test: Extract<Filter, { kind: "text" }>["test"]): (text: string) => boolean {
  if (test.kind === "regex") return regexTestOf(test).passes;
  if (test.kind === "wildcard") return wildcardTest(test.pattern, false);
  const needle = foldCase(test.text);
  return (text) => foldCase(text).includes(needle);
}

/**
 * @param test of a value that is not an array
 * @param member takes what comparisons meet in place of numbers
 */
export function valueTestOf(
  field: Field,
  test: ValueTest,
  now: number,
  member: ComparedMember | null = null,
): (value: unknown) => boolean {
  switch (test.kind) {
    case "exists":
      return () => true;
    case "is": {
      const wanted = foldCase(test.text);
      // Folding makes no text shorter.
      return (value) =>
        typeof value === "string"
          ? value.length <= wanted.length && foldCase(value) === wanted
          : spelled(value) === test.text;
    }
    case "exact":
      return (value) => value === test.text;
    case "wildcard":
      return onText(wildcardTest(test.pattern, true));
    case "regex":
      return onText(regexTestOf(test).passes);
    case "anyOf": {
      const others = test.tests.filter(({ kind }) => kind !== "is" && kind !== "exact");
      const tests = others.map((each) => valueTestOf(field, each, now, member));
      if (others.length < test.tests.length) tests.unshift(wordsTest(test.tests));
      return (value) => tests.some((each) => each(value));
    }
    case "during": {
      const period = periodOf(test.time, now);
      // A duration has no end: a client's clock may be ahead.
      return test.time.kind === "ago"
        ? timeOrder(">=", period)
        : both(timeOrder(">=", period), timeOrder("<=", period));
    }
    case "compare":
      if (test.value.kind === "time") return timeOrder(test.operator, periodOf(test.value.time, now));
      return order(test.operator, test.value, member);
    case "range": {
      const { from, to } = test;
      if (from.kind !== "time" && to.kind !== "time") return both(order(">=", from, member), order("<=", to, null));
      if (from.kind !== "time" || to.kind !== "time") throw new RangeError("The ends of a range have one type.");
      return both(timeOrder(">=", periodOf(from.time, now)), timeOrder("<", periodOf(to.time, now)));
    }
  }
}

/** Tests all wanted words at once: `is` whatever the case, `exact` as they are. */
function wordsTest(tests: readonly ValueTest[]): (value: unknown) => boolean {
  const words = tests.flatMap((test) => (test.kind === "is" ? [test.text] : []));
  const folded = new Set(words.map(foldCase));
  const spellings = new Set(words);
  const exact = new Set<unknown>(tests.flatMap((test) => (test.kind === "exact" ? [test.text] : [])));
  const longest = Math.max(...[...folded].map(({ length }) => length));
  return (value) => {
    if (exact.has(value)) return true;
    // Folding makes no text shorter.
    if (typeof value === "string") return value.length <= longest && folded.has(foldCase(value));
    const text = spelled(value);
    return text !== null && spellings.has(text);
  };
}

function both(a: (value: unknown) => boolean, b: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => a(value) && b(value);
}

/** Returns the spelling of a number or boolean; `null` for other values. */
function spelled(value: unknown): string | null {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function onText(test: (text: string) => boolean): (value: unknown) => boolean {
  return (value) => {
    const text = typeof value === "string" ? value : spelled(value);
    return text !== null && test(text);
  };
}

/** Compares numbers with numbers, and levels by severity. */
function order(
  operator: Comparison,
  scalar: Exclude<Scalar, { kind: "time" }>,
  member: ComparedMember | null,
): (value: unknown) => boolean {
  if (scalar.kind === "number") {
    return (value) => {
      if (typeof value === "number") return hasOrder(operator, value, scalar.value);
      member?.skip(value);
      return false;
    };
  }
  const bound = SEVERITY.get(scalar.level) ?? 0;
  return (value) => {
    const severity = SEVERITY.get(value);
    return severity !== undefined && hasOrder(operator, severity, bound);
  };
}

const SEVERITY: ReadonlyMap<unknown, number> = new Map(LEVEL_NAMES.map((name, severity) => [name, severity]));

/** Compares times with a period: after its end, from its beginning on, before its beginning, until its end. */
function timeOrder(operator: Comparison, { from, to }: Period): (value: unknown) => boolean {
  const [bound, isBefore] =
    operator === ">" ? [to, false] : operator === ">=" ? [from, false] : operator === "<" ? [from, true] : [to, true];
  return (value) => typeof value === "number" && value < bound === isBefore;
}

function hasOrder(operator: Comparison, a: number, b: number): boolean {
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
  }
}

/** Epoch milliseconds, `to` excluded. */
export interface Period {
  from: number;
  to: number;
}

/** A duration is the millisecond so long before `now`. */
export function periodOf(time: TimeValue, now: number): Period {
  return time.kind === "ago" ? { from: now - time.ms, to: now - time.ms + 1 } : time;
}

export function readerOf(field: Field): ReadField {
  if (field.kind === "column") throw new RangeError("Entries have fields and no columns.");
  if (field.kind === "own") return OWN_READERS[field.name];
  const { path } = field;
  return (entry, _, visit) => someAt(dataAt(entry, path), path, visit);
}

function member(read: (entry: Entry, place: EntryPlace) => unknown): ReadField {
  return (entry, place, visit) => {
    const value = read(entry, place);
    return value !== undefined && visit(value);
  };
}

/** The own member, else a member of `data`, else one that OpenTelemetry names so. */
function resource(name: OwnMember): ReadField {
  const [own, semantic] = [[name], [name, "name"]];
  return ({ [name]: text, data }, _, visit) => {
    if (text !== undefined) return visit(text);
    let isFound = false;
    const passes = someAt(data, own, (value) => {
      if (value !== null && typeof value === "object" && !Array.isArray(value)) return false;
      isFound = true;
      return visit(value);
    });
    return passes || (!isFound && someAt(data, semantic, visit));
  };
}

/** The message whose pattern was asked for last: a filter may have 200 tests of one pattern. */
let [lastMessage, lastPattern] = ["", ""];

function patternRead(message: string): string {
  if (message === lastMessage) return lastPattern;
  addPathWork(patternWorkOf(message));
  lastPattern = patternOf(message);
  lastMessage = message;
  return lastPattern;
}

const OWN_READERS: Readonly<Record<OwnField, ReadField>> = {
  level: member(({ level }) => level),
  category: member(({ category }) => category),
  type: member(({ type }) => type),
  message: member(({ message }) => message),
  time: member((_, { timestamp }) => timestamp),
  received: member((_, { receivedAt }) => receivedAt),
  seq: member((_, { seq }) => seq),
  session: member(({ session }) => session),
  trace: member(({ traceId }) => traceId),
  span: member(({ spanId }) => spanId),
  service: resource("service"),
  host: resource("host"),
  project: member((_, { projectId }) => projectId),
  id: member((_, { id }) => id),
  pattern: member(({ message }) => (typeof message === "string" ? patternRead(message) : undefined)),
};
