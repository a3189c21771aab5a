import type { Entry } from "../../../src/logs/entry.ts";
import type { EntryPlace } from "../../../src/logs/search/entry-test.ts";
import { patternOf } from "../../../src/logs/search/pattern.ts";
import type { Field, Filter, Regex, Scalar, TimeValue, ValueTest } from "../../../src/query-language/syntax.ts";

/** Evaluates filters of the query language as its page describes them, without regard to cost. */

const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"];

export function passes(filter: Filter, entry: Entry, place: EntryPlace, now: number): boolean {
  if (filter.kind === "all") return true;
  if (filter.kind === "not") return !passes(filter.filter, entry, place, now);
  if (filter.kind !== "text" && filter.kind !== "field") {
    const results = filter.filters.map((each) => passes(each, entry, place, now));
    return filter.kind === "and" ? !results.includes(false) : results.includes(true);
  }
  if (filter.kind === "field")
    return valuesOf(filter.field, entry, place).some((value) => holds(filter.test, value, now));
  const { test } = filter;
  return textsIn([entry.message, entry.service, entry.host, entry.data]).some((text) => {
    if (test.kind === "contains") return folded(text).includes(folded(test.text));
    if (test.kind === "regex") return nativeRegex(test).test(text);
    return wildcard(test.pattern, false).test(text);
  });
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number" || typeof value === "boolean") return [String(value)];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

/** Values of a field; those of an array besides the array itself. */
function valuesOf(field: Field, entry: Entry, place: EntryPlace): unknown[] {
  return fieldValues(field, entry, place).flatMap((value) => [value, ...itemsOf(value)]);
}

function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [];
}

function fieldValues(field: Field, entry: Entry, place: EntryPlace): unknown[] {
  if (field.kind === "data") return memberValues(field.path, entry);
  if (field.kind === "column") throw new Error("A column");
  const { name } = field;
  const own: Record<string, unknown> = {
    ...{ level: entry.level, category: entry.category, type: entry.type, message: entry.message },
    ...{ session: entry.session, trace: entry.traceId, span: entry.spanId, id: place.id, project: place.projectId },
    pattern: patternOf(entry.message),
    ...{ time: place.timestamp, received: place.receivedAt, seq: place.seq },
  };
  if (name in own) return own[name] === undefined ? [] : [own[name]];
  if ((name === "service" || name === "host") && entry[name] !== undefined) return [entry[name]];
  const plain = at(entry.data, [name]).filter(
    (value) => value === null || typeof value !== "object" || Array.isArray(value),
  );
  return plain.length > 0 ? plain : at(entry.data, [name, "name"]);
}

/** An own member counts in place of a member of `data` that is missing or an object. */
function memberValues(path: readonly (string | number)[], entry: Entry): unknown[] {
  const values = at(entry.data, path);
  const [name] = path;
  if (path.length > 1 || (name !== "service" && name !== "host") || entry[name] === undefined) return values;
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  return values.every(isObject) ? [entry[name]] : values;
}

function at(value: unknown, path: readonly (string | number)[]): unknown[] {
  if (path.length === 0) return [value];
  const [first] = path;
  if (Array.isArray(value)) {
    if (typeof first === "number") return first < value.length ? at(value[first], path.slice(1)) : [];
    return value
      .filter((item) => item !== null && typeof item === "object" && !Array.isArray(item))
      .flatMap((item) => at(item, path));
  }
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, member]) => {
    for (let length = 1; length <= path.length; length++) {
      const names = path.slice(0, length);
      if (names.every((each) => typeof each === "string") && names.join(".") === name)
        return at(member, path.slice(length));
    }
    return [];
  });
}

export function holds(test: ValueTest, value: unknown, now: number): boolean {
  const spelling = typeof value === "number" || typeof value === "boolean" ? String(value) : null;
  const text = typeof value === "string" ? value : spelling;
  switch (test.kind) {
    case "exists":
      return true;
    case "is":
      return typeof value === "string" ? folded(value) === folded(test.text) : spelling === test.text;
    case "exact":
      return value === test.text;
    case "wildcard":
      return text !== null && wildcard(test.pattern, true).test(text);
    case "regex":
      return text !== null && nativeRegex(test).test(text);
    case "anyOf":
      return test.tests.some((each) => holds(each, value, now));
    case "during":
      return (
        typeof value === "number" && value >= from(test.time, now) && (test.time.kind === "ago" || value < test.time.to)
      );
    case "range":
      return (
        compares(">=", test.from, value, now) && compares(test.to.kind === "time" ? "<" : "<=", test.to, value, now)
      );
    case "compare":
      return compares(test.operator, test.value, value, now);
  }
}

function from(time: TimeValue, now: number): number {
  return time.kind === "ago" ? now - time.ms : time.from;
}

function compares(operator: string, scalar: Scalar, value: unknown, now: number): boolean {
  if (scalar.kind === "time") {
    if (typeof value !== "number") return false;
    const begin = from(scalar.time, now);
    const last = scalar.time.kind === "ago" ? begin : scalar.time.to - 1;
    if (operator === "<") return value < begin;
    if (operator === ">=") return value >= begin;
    return operator === ">" ? value > last : value <= last;
  }
  const [a, b] =
    scalar.kind === "level" ? [LEVELS.indexOf(String(value)), LEVELS.indexOf(scalar.level)] : [value, scalar.value];
  if (typeof a !== "number" || (a === -1 && scalar.kind === "level")) return false;
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

function nativeRegex({ source, ignoreCase }: Regex): RegExp {
  // RE2 writes flags before the text that they belong to.
  const [, flag = "", body = ""] = /^(\(\?i\))?(.*)$/s.exec(source) ?? [];
  return new RegExp(body, ignoreCase || flag !== "" ? "i" : "");
}

function wildcard(pattern: string, isWhole: boolean): { test(text: string): boolean } {
  const body = folded(pattern)
    .split("*")
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join("[^]*");
  const regex = new RegExp(isWhole ? `^${body}$` : body);
  return { test: (text: string) => regex.test(folded(text)) };
}

/** Sigma has two lower case forms. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}
