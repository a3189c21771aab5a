import { type Filter, joined, type Scalar, type ValueTest } from "../../query-language/syntax.ts";
import { LEVELS } from "../entry.ts";
import { QUERY_LIMITS } from "../query/budget.ts";
import { ALL_LEVELS_MASK, type DataCondition, type LogFilter, OPEN_FILTER } from "../query/filter.ts";
import { foldCase } from "../query/fold-case.ts";
import type { ComparedMembers } from "./data-values.ts";
import { valueTestOf } from "./entry-test.ts";
import { kindMaskOf, restFilterOf, withoutDurations } from "./rest-filter.ts";

/**
 * Compiles a filter of the query language. What the members of `LogFilter` express exactly becomes these members, the rest
 * becomes `rest`. Levels and times that `rest` requires narrow the scan, too.
 * @param now the time from which relative times count, epoch milliseconds
 * @param compared see `RestFilter`
 * @throws InvalidRegex
 */
export function compileFilter(filter: Filter, now: number, compared?: ComparedMembers): LogFilter {
  const members: LogFilter = { ...OPEN_FILTER };
  const rest: Filter[] = [];
  for (const part of partsOf(withoutDurations(filter, now))) {
    const levels = levelMaskOf(part);
    const span = spanOf(part);
    members.levelMask &= levels.mask;
    Object.assign(members, both(members, span));
    if (levels.isExact || span.isExact || takes(members, part)) continue;
    rest.push(part);
  }
  if (rest.length > 0) members.rest = restFilterOf(joined("and", rest), now, compared);
  return members;
}

/** Returns a filter that passes what two filters pass. */
export function andFilters(a: LogFilter, b: LogFilter): LogFilter {
  const further: Filter[] = [];
  const isOneId = (name: "session" | "traceId") => a[name] === null || b[name] === null || a[name] === b[name];
  const isPossible = isOneId("session") && isOneId("traceId");
  // One text is searched for in the bytes of lines and columns; the other is tested where it is found.
  if (a.search !== null && b.search !== null && a.search !== b.search) {
    further.push({ kind: "text", test: { kind: "contains", text: b.search } });
  }
  for (const { rest } of [a, b]) if (rest !== null) further.push(rest.filter);
  const now = a.rest?.now ?? b.rest?.now ?? 0;
  return {
    levelMask: isPossible ? a.levelMask & b.levelMask : 0,
    categories: commonNames(a.categories, b.categories),
    types: commonNames(a.types, b.types),
    session: a.session ?? b.session,
    traceId: a.traceId ?? b.traceId,
    ...both(a, b),
    search: a.search ?? b.search,
    data: [...a.data, ...b.data],
    rest: further.length === 0 ? null : restFilterOf(joined("and", further), now),
  };
}

function commonNames(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  const names = new Set(b);
  return a.filter((name) => names.has(name));
}

/** Returns parts of a filter that must all hold. */
function partsOf(filter: Filter): Filter[] {
  if (filter.kind === "all") return [];
  if (filter.kind === "and") return filter.filters.flatMap(partsOf);
  if (filter.kind !== "not") return [filter];
  const { filter: negated } = filter;
  if (negated.kind === "not") return partsOf(negated.filter);
  if (negated.kind === "or") return negated.filters.flatMap((each) => partsOf({ kind: "not", filter: each }));
  return [filter];
}

/** Returns the levels of which an entry may pass. */
function levelMaskOf(filter: Filter) {
  return kindMaskOf(filter, ALL_LEVELS_MASK, (each) => {
    if (each.kind !== "field" || each.field.kind !== "own" || each.field.name !== "level") return null;
    const test = valueTestOf(each.field, each.test, 0);
    return LEVELS.reduce((mask, level, severity) => (test(level) ? mask | (1 << severity) : mask), 0);
  });
}

/** Times of entries that may pass: `from <= timestamp < to`. */
interface Span {
  from: number | null;
  to: number | null;
}

/** `isExact`: the filter tests nothing else, so that all entries of this time pass. */
type FilterSpan = Span & { isExact: boolean };

const EVER: FilterSpan = { from: null, to: null, isExact: false };

/**
 * Returns the times of entries that may pass.
 * @param filter without durations
 */
export function spanOf(filter: Filter): FilterSpan {
  switch (filter.kind) {
    case "and": {
      const parts = filter.filters.map(spanOf);
      return { ...parts.reduce<Span>(both, EVER), isExact: parts.every(({ isExact }) => isExact) };
    }
    case "or":
      return hull(filter.filters.map(spanOf));
    case "not": {
      const { from, to, isExact } = spanOf(filter.filter);
      if (!isExact || (from === null) === (to === null)) return EVER;
      return { from: to, to: from, isExact };
    }
    case "field": {
      const isTime = filter.field.kind === "own" && filter.field.name === "time";
      return isTime ? spanOfTest(filter.test) : EVER;
    }
    default:
      return EVER;
  }
}

function spanOfTest(test: ValueTest): FilterSpan {
  switch (test.kind) {
    case "anyOf":
      return hull(test.tests.map(spanOfTest));
    case "during":
      return test.time.kind === "period" ? { from: test.time.from, to: test.time.to, isExact: true } : EVER;
    case "range": {
      const [from, to] = [periodOfScalar(test.from), periodOfScalar(test.to)];
      return from === null || to === null ? EVER : { from: from.from, to: to.from, isExact: true };
    }
    case "compare": {
      const period = periodOfScalar(test.value);
      if (period === null) return EVER;
      const { from, to } = period;
      const isLater = test.operator === ">" || test.operator === ">=";
      const bound = test.operator === ">" || test.operator === "<=" ? to : from;
      return { from: isLater ? bound : null, to: isLater ? null : bound, isExact: true };
    }
    default:
      return EVER;
  }
}

function periodOfScalar(scalar: Scalar): { from: number; to: number } | null {
  return scalar.kind === "time" && scalar.time.kind === "period" ? scalar.time : null;
}

function both(a: Span, b: Span): Span {
  return {
    from: a.from === null || b.from === null ? (a.from ?? b.from) : Math.max(a.from, b.from),
    to: a.to === null || b.to === null ? (a.to ?? b.to) : Math.min(a.to, b.to),
  };
}

/** Returns the time from the beginning of the first to the end of the last. */
function hull(spans: readonly FilterSpan[]): FilterSpan {
  const [only] = spans;
  if (only !== undefined && spans.length === 1) return only;
  const from = spans.every((span) => span.from !== null) ? Math.min(...spans.map((span) => span.from ?? 0)) : null;
  const to = spans.every((span) => span.to !== null) ? Math.max(...spans.map((span) => span.to ?? 0)) : null;
  return { from, to, isExact: false };
}

/** Sets the member that expresses a part exactly. @returns whether there is one, and it was free */
function takes(members: LogFilter, part: Filter): boolean {
  if (part.kind === "text") {
    const { test } = part;
    if (test.kind !== "contains" || members.search !== null) return false;
    const search = foldCase(test.text);
    // An empty text is in no entry without strings for one evaluator, and in each for another.
    if (search === "" || search.length > QUERY_LIMITS.search) return false;
    members.search = search;
    return true;
  }
  const condition = existenceOf(part);
  if (condition !== null) {
    members.data = [...members.data, condition];
    return true;
  }
  if (part.kind !== "field" || part.field.kind !== "own") return false;
  const texts = exactTexts(part.test);
  if (texts === null) return false;
  switch (part.field.name) {
    case "category":
    case "type": {
      const name = part.field.name === "category" ? "categories" : "types";
      members[name] = commonNames(members[name], texts);
      return true;
    }
    case "session":
    case "trace": {
      const name = part.field.name === "session" ? "session" : "traceId";
      const [only] = texts;
      if (only === undefined || texts.length > 1 || members[name] !== null) return false;
      members[name] = only;
      return true;
    }
    default:
      return false;
  }
}

/** A text that is equal to no other one, whatever the case. */
const UNCASED = /^[\x20-@[-`{-~]+$/;

/** Returns the texts of which the value is exactly one; `null` for other tests. */
function exactTexts(test: ValueTest): string[] | null {
  if (test.kind === "exact" || (test.kind === "is" && UNCASED.test(test.text))) return [test.text];
  if (test.kind !== "anyOf") return null;
  const texts = test.tests.map(exactTexts);
  return texts.includes(null) ? null : [...new Set(texts.flatMap((each) => each ?? []))];
}

/** Whether a member of `data` itself exists is the same question in both filters. Further in, arrays are read differently. */
function existenceOf(part: Filter): DataCondition | null {
  const isNegated = part.kind === "not";
  const test = isNegated ? part.filter : part;
  if (test.kind !== "field" || test.field.kind !== "data" || test.test.kind !== "exists") return null;
  const [name, ...more] = test.field.path;
  if (typeof name !== "string" || more.length > 0) return null;
  return { path: [name], op: "exists", value: !isNegated };
}
