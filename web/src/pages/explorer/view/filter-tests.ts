import { parseDataPath } from "../../../../../src/logs/query/data-path.ts";
import { type Field, type Filter, joined, type ValueTest } from "../../../../../src/query-language/syntax.ts";
import type { DataCondition, Filters, Scalar } from "../filters.ts";
import { valueFilter } from "./query-terms.ts";

/** Filters of the API as tests of a query, all but the times. */
export function testsOf(filters: Omit<Filters, "from" | "to" | "q">): Filter[] {
  const { level, minLevel, category, type, service, host, session, traceId, search, data, ...unused } = filters;
  unused satisfies Record<string, never>;
  const severity = minLevel && { kind: "level" as const, level: minLevel };
  return [
    ...(level?.length ? [own("level", anyOf(level.map((text) => ({ kind: "is", text }))))] : []),
    ...(severity ? [own("level", { kind: "compare", operator: ">=", value: severity })] : []),
    ...named("category", category),
    ...named("type", type),
    ...named("service", service),
    ...named("host", host),
    ...(session ? [own("session", { kind: "exact", text: session })] : []),
    ...(traceId ? [own("trace", { kind: "exact", text: traceId })] : []),
    ...(search ? [{ kind: "text" as const, test: { kind: "contains" as const, text: search } }] : []),
    ...Object.entries(data ?? {}).flatMap(([path, condition]) => dataTests(path, condition)),
  ];
}

/** Whether the query language has a test for each condition. It compares numbers only. */
export function isTestable(data: NonNullable<Filters["data"]>): boolean {
  return Object.values(data).every((condition) => {
    if (typeof condition !== "object" || condition === null) return true;
    const { gt, gte, lt, lte, in: any } = condition;
    const bounds = [gt, gte, lt, lte].every((bound) => bound === undefined || typeof bound === "number");
    return bounds && (any === undefined || (Array.isArray(any) && any.length > 0));
  });
}

type OwnName = Extract<Field, { kind: "own" }>["name"];

function named(name: OwnName, values: readonly string[] | undefined): Filter[] {
  return values?.length ? [own(name, anyOf(values.map((text) => ({ kind: "exact", text }))))] : [];
}

function own(name: OwnName, test: ValueTest): Filter {
  return { kind: "field", field: { kind: "own", name }, test };
}

function anyOf(tests: ValueTest[]): ValueTest {
  const [only] = tests;
  return tests.length === 1 && only ? only : { kind: "anyOf", tests };
}

const COMPARISONS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function dataTests(written: string, condition: DataCondition): Filter[] {
  const names = parseDataPath(written) ?? [written];
  const field = memberOf(names);
  // A filter of the API names the items of an array and the members of an object alike.
  const indexed = names.map((name) => (/^\d{1,9}$/.test(name) ? Number(name) : name));
  if (indexed.every((name) => typeof name === "string")) return conditionTests(field, condition);
  const either = [memberOf(indexed), field].map((each) => joined("and", conditionTests(each, condition)));
  return [joined("or", either)];
}

/** A filter on `data.level` is not a filter on the level. Services and hosts in `data` are those of the entry. */
function memberOf(path: (string | number)[]): Field {
  const [name] = path;
  if (path.length === 1 && (name === "service" || name === "host")) return { kind: "own", name };
  return { kind: "data", path };
}

function conditionTests(field: Field, condition: DataCondition): Filter[] {
  const has = (test: ValueTest): Filter => ({ kind: "field", field, test });
  const not = (filter: Filter): Filter => ({ kind: "not", filter });
  if (typeof condition !== "object" || condition === null) return allOf(valueFilter(field, condition));
  const { eq, ne, in: any, exists } = condition;
  const bounds = Object.entries(COMPARISONS).flatMap(([name, operator]) => {
    // SAFETY: the names are those of the literal above.
    const bound = condition[name as keyof typeof COMPARISONS];
    return typeof bound === "number"
      ? [has({ kind: "compare", operator, value: { kind: "number" as const, value: bound } })]
      : [];
  });
  return [
    ...(eq === undefined ? [] : allOf(valueFilter(field, eq))),
    ...(ne === undefined ? [] : [not(valueFilter(field, ne))]),
    ...(any === undefined ? [] : [oneOf(field, any)]),
    ...(exists === undefined ? [] : [exists ? has({ kind: "exists" }) : not(has({ kind: "exists" }))]),
    ...bounds,
  ];
}

function allOf(filter: Filter): Filter[] {
  return filter.kind === "and" ? filter.filters : [filter];
}

function oneOf(field: Field, values: readonly Scalar[]): Filter {
  const tests = values.map((value) => valueFilter(field, value));
  const plain = tests.flatMap((each) => (each.kind === "field" ? [each.test] : []));
  return plain.length === tests.length ? { kind: "field", field, test: anyOf(plain) } : joined("or", tests);
}
