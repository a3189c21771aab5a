import { parseDataPath } from "../../../../../src/logs/query/data-path.ts";
import { type ParseResult, parse } from "../../../../../src/query-language/parse.ts";
import { print, printFilter } from "../../../../../src/query-language/print.ts";
import {
  type Field,
  type Filter,
  joined,
  type Scalar as SyntaxScalar,
  type ValueTest,
} from "../../../../../src/query-language/syntax.ts";
import type { DataCondition, Scalar } from "../filters.ts";
import type { ViewFilters } from "../view/view.ts";

/** What the query of a view asks for. */
export interface Asked {
  /** Whether it has an answer of its own, such as a table, in place of the list of entries. */
  isAnswer: boolean;
  /** The filter part for requests; `null` if every entry passes. */
  q: string | null;
  /** A text that is searched for, to mark it in entries; empty if there is none. */
  text: string;
}

/** Reads a query. One that is not valid is passed on, so that the service says why. */
export function askedOf(query: string): Asked {
  if (query.trim() === "") return { isAnswer: false, q: null, text: "" };
  const result = parse(query);
  if (!result.ok) return { isAnswer: false, q: query, text: "" };
  const { filter, pipes } = result.query;
  const filters = pipes.flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []));
  if (filters.length < pipes.length) return { isAnswer: true, q: null, text: "" };
  const whole = joined(
    "and",
    [filter, ...filters].filter(({ kind }) => kind !== "all"),
  );
  const isOpen = whole.kind === "and" && whole.filters.length === 0;
  return { isAnswer: false, q: isOpen ? null : printFilter(whole), text: textOf(whole) };
}

/** The milliseconds of the spans of time in the table of a query; `null` if it has none. */
export function binOf(result: ParseResult): number | null {
  if (!result.ok) return null;
  const bins = result.query.pipes.flatMap((pipe) => ("by" in pipe && Array.isArray(pipe.by) ? pipe.by : []));
  const bin = bins.findLast(({ kind }) => kind === "bin");
  return bin?.kind === "bin" ? bin.ms : null;
}

function textOf(filter: Filter): string {
  if (filter.kind === "text" && filter.test.kind === "contains") return filter.test.text;
  return filter.kind === "and" ? (filter.filters.map(textOf).find((text) => text !== "") ?? "") : "";
}

/** Returns a query with the filters of a view as tests. */
export function withFilters(query: string, filters: ViewFilters): string {
  const result = parse(query);
  if (!result.ok) return query;
  const tests = [...testsOf(filters), result.query.filter].filter(({ kind }) => kind !== "all");
  const filter: Filter = tests.length === 0 ? { kind: "all" } : joined("and", tests);
  return print({ ...result.query, filter });
}

function testsOf({
  level,
  minLevel,
  category,
  type,
  session,
  traceId,
  search,
  data,
  ...unused
}: ViewFilters): Filter[] {
  unused satisfies Record<string, never>;
  const severity = minLevel && { kind: "level" as const, level: minLevel };
  return [
    ...(level?.length ? [own("level", anyOf(level.map((text) => ({ kind: "is", text }))))] : []),
    ...(severity ? [own("level", { kind: "compare", operator: ">=", value: severity })] : []),
    ...(category?.length ? [own("category", anyOf(category.map((text) => ({ kind: "exact", text }))))] : []),
    ...(type?.length ? [own("type", anyOf(type.map((text) => ({ kind: "exact", text }))))] : []),
    ...(session ? [own("session", { kind: "exact", text: session })] : []),
    ...(traceId ? [own("trace", { kind: "exact", text: traceId })] : []),
    ...(search ? [{ kind: "text" as const, test: { kind: "contains" as const, text: search } }] : []),
    ...Object.entries(data ?? {}).flatMap(([path, condition]) => dataTests(parseDataPath(path) ?? [path], condition)),
  ];
}

function own(name: Extract<Field, { kind: "own" }>["name"], test: ValueTest): Filter {
  return { kind: "field", field: { kind: "own", name }, test };
}

function anyOf(tests: ValueTest[]): ValueTest {
  const [only] = tests;
  return tests.length === 1 && only ? only : { kind: "anyOf", tests };
}

const COMPARISONS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function dataTests(path: readonly string[], condition: DataCondition): Filter[] {
  const field: Field = { kind: "data", path: [...path] };
  const has = (test: ValueTest): Filter => ({ kind: "field", field, test });
  const not = (filter: Filter): Filter => ({ kind: "not", filter });
  if (typeof condition !== "object" || condition === null) return [has(equal(condition))];
  const { eq, ne, in: any, exists } = condition;
  const bounds = Object.entries(COMPARISONS).flatMap(([name, operator]) => {
    // SAFETY: the names are those of the literal above.
    const bound = condition[name as keyof typeof COMPARISONS];
    const value: SyntaxScalar | null = typeof bound === "number" ? { kind: "number", value: bound } : null;
    return value === null ? [] : [has({ kind: "compare", operator, value })];
  });
  return [
    ...(eq === undefined ? [] : [has(equal(eq))]),
    ...(ne === undefined ? [] : [not(has(equal(ne)))]),
    ...(any === undefined ? [] : [has(anyOf(any.map(equal)))]),
    ...(exists === undefined ? [] : [exists ? has({ kind: "exists" }) : not(has({ kind: "exists" }))]),
    ...bounds,
  ];
}

function equal(value: Scalar): ValueTest {
  return typeof value === "string" ? { kind: "exact", text: value } : { kind: "is", text: String(value) };
}
