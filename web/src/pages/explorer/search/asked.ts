import { parseDataPath } from "../../../../../src/logs/query/data-path.ts";
import { printField } from "../../../../../src/query-language/fields.ts";
import { hintsOf } from "../../../../../src/query-language/hints.ts";
import { analyze, type ParseResult } from "../../../../../src/query-language/parse.ts";
import { printFilter } from "../../../../../src/query-language/print.ts";
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
  /** What the text probably does not do as intended. The service says it of answers. */
  hints: readonly string[];
}

/** Reads a query. One that is not valid is passed on, so that the service says why. */
export function askedOf(query: string): Asked {
  if (query.trim() === "") return { isAnswer: false, q: null, text: "", hints: [] };
  const analysis = analyze(query);
  const { result } = analysis;
  if (!result.ok) return { isAnswer: false, q: query, text: "", hints: [] };
  const { filter, pipes } = result.query;
  const end = pipes.findIndex(({ kind }) => kind !== "where");
  const isAnswer = end >= 0;
  // Of an answer, the entries that it is made of.
  const filters = pipes
    .slice(0, isAnswer ? end : pipes.length)
    .flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []));
  const whole = joined(
    "and",
    [filter, ...filters].filter(({ kind }) => kind !== "all"),
  );
  const isOpen = whole.kind === "and" && whole.filters.length === 0;
  const q = isOpen ? null : printFilter(whole);
  if (isAnswer) return { isAnswer, q, text: "", hints: [] };
  const hints = hintsOf(query, analysis).filter(({ ifNothing }) => !ifNothing);
  return { isAnswer, q, text: textOf(whole), hints: hints.map(({ message }) => message) };
}

/** How the table of a query over spans of time is drawn. */
export interface Axes {
  /** Milliseconds of a span. */
  binMs: number;
  /** Names of the columns that group, which are not drawn as values. */
  keys: readonly string[];
}

/** Returns how the table of a query is drawn; `null` if it has no spans of time. */
export function axesOf(result: ParseResult): Axes | null {
  if (!result.ok) return null;
  let binMs: number | null = null;
  let keys: string[] = [];
  for (const pipe of result.query.pipes) {
    if (!("by" in pipe && Array.isArray(pipe.by))) continue;
    const bin = pipe.by.find(({ kind }) => kind === "bin");
    // A table of a table has its own keys, and the spans of the first.
    if (bin?.kind === "bin") binMs = bin.ms;
    keys = pipe.by.map((key) => (key.kind === "field" ? nameOf(key.field) : "time"));
  }
  return binMs === null ? null : { binMs, keys };
}

function nameOf(field: Field): string {
  return field.kind === "column" ? field.name : printField(field);
}

function textOf(filter: Filter): string {
  if (filter.kind === "text" && filter.test.kind === "contains") return filter.test.text;
  return filter.kind === "and" ? (filter.filters.map(textOf).find((text) => text !== "") ?? "") : "";
}

/** Returns a query with the filters of a view as tests. Its own text stays as written, because the service has hints on it. */
export function withFilters(query: string, filters: ViewFilters): string {
  const { result, tokens } = analyze(query);
  const tests = testsOf(filters);
  if (!result.ok || tests.length === 0) return query;
  const added = printFilter(joined("and", tests));
  const pipe = tokens.find(({ kind, start, end }) => kind === "operator" && query.slice(start, end) === "|");
  const [own, pipes] = pipe === undefined ? [query, ""] : [query.slice(0, pipe.start), query.slice(pipe.start)];
  if (result.query.filter.kind === "all") return `${added} ${pipes}`.trim();
  return `${added} (${own.trim()}) ${pipes}`.trim();
}

function testsOf({
  level,
  minLevel,
  category,
  type,
  service,
  host,
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
    ...(service?.length ? [own("service", anyOf(service.map((text) => ({ kind: "exact", text }))))] : []),
    ...(host?.length ? [own("host", anyOf(host.map((text) => ({ kind: "exact", text }))))] : []),
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
