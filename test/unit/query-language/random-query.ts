import fc from "fast-check";
import {
  AGGREGATE_FUNCTIONS,
  type Field,
  type Filter,
  joined,
  LEVEL_NAMES,
  type Pipe,
  type Query,
  type Scalar,
  type TextTest,
  type ValueTest,
} from "../../../src/query-language/syntax.ts";
import { columnsAfter, type TableColumn } from "../../../src/query-language/table-columns.ts";

/** Random queries as the parser can return them. */

const NAMES = ["status", "user", "a-b", "größe", "http.status", "data", "level", "a b", 'q"uote', "x:y", "$id", "_1"];
const TEXTS = [
  "x",
  "OR",
  "-a",
  "a*b",
  "..",
  "1..2",
  "a,b",
  "~/a/",
  "",
  "a:b",
  "(",
  "<5",
  "ü\n\u0000",
  "🚀",
  "5",
  "=x",
  "http://x/y",
  "a|b",
  "--x",
];

const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: "binary", maxLength: 8 }));
const someText = text.filter((value) => value !== "");
const name = fc.oneof(fc.constantFrom(...NAMES), someText);
const ownNames = ["level", "message", "time", "seq", "session", "service", "category"] as const;
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.constantFrom(...ownNames).map((own): Field => ({ kind: "own", name: own })),
  fc
    .tuple(name, fc.array(fc.oneof(name, fc.nat({ max: 99 })), { maxLength: 2 }))
    .map(([first, rest]): Field => ({ kind: "data", path: [first, ...rest] })),
);
const wildcardOf = (...patterns: string[]) =>
  fc.constantFrom(...patterns).map((pattern) => ({ kind: "wildcard" as const, pattern }));
const wildcard = wildcardOf("a*", "*b", "/api/*/x", "a:b*", "*--*");
const regex = fc
  .record({ source: fc.constantFrom("a|b", "\\d+", "a/b", "[/]", "^x$", "\\\\", "é"), ignoreCase: fc.boolean() })
  .map((each) => ({ kind: "regex" as const, ...each }));
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e21, 5e-324, 0.1),
);
const level = fc.constantFrom(...LEVEL_NAMES);
const time = fc.oneof(
  fc.integer({ min: 1, max: 1e9 }).map((ms) => ({ kind: "ago" as const, ms })),
  fc.constantFrom(
    { kind: "period" as const, from: Date.UTC(2026, 10, 22), to: Date.UTC(2026, 10, 23) },
    { kind: "period" as const, from: Date.UTC(2026, 10, 22, 10), to: Date.UTC(2026, 10, 22, 11) },
    { kind: "period" as const, from: Date.UTC(2026, 0), to: Date.UTC(2027, 0) },
    { kind: "period" as const, from: Date.UTC(2026, 10, 22, 10, 0, 0, 250), to: Date.UTC(2026, 10, 22, 10, 0, 0, 251) },
  ),
);

function scalarOf(target: Field): fc.Arbitrary<Scalar> | null {
  if (target.kind !== "own") return number.map((value) => ({ kind: "number", value: value === 0 ? 0 : value }));
  if (target.name === "level") return level.map((each) => ({ kind: "level", level: each }));
  if (target.name === "time") return time.map((each) => ({ kind: "time", time: each }));
  return target.name === "seq" ? fc.nat().map((value) => ({ kind: "number", value })) : null;
}

function testOf(target: Field): fc.Arbitrary<ValueTest> {
  const scalar = scalarOf(target);
  const tests: fc.Arbitrary<ValueTest>[] = [fc.constant({ kind: "exists" })];
  if (scalar) {
    const operator = fc.constantFrom("<" as const, "<=" as const, ">" as const, ">=" as const);
    tests.push(fc.record({ kind: fc.constant("compare" as const), operator, value: scalar }));
  }
  const own = target.kind === "own" ? target.name : "";
  if (own === "time") tests.push(time.map((each) => ({ kind: "during", time: each })));
  else if (own === "level") tests.push(level.map((each) => ({ kind: "is", text: each })));
  else if (own === "seq") tests.push(fc.nat().map((value) => ({ kind: "is", text: String(value) })));
  else
    tests.push(
      text.map((each) => ({ kind: "is", text: each })),
      text.map((each) => ({ kind: "exact", text: each })),
      wildcard,
      regex,
    );
  if (own === "") {
    tests.push(
      fc.tuple(fc.integer(), fc.nat()).map(([from, more]) => ({
        kind: "range",
        from: { kind: "number", value: from },
        to: { kind: "number", value: from + more },
      })),
    );
  }
  const one = fc.oneof(...tests);
  return fc.oneof(
    { weight: 4, arbitrary: one },
    {
      weight: 1,
      arbitrary: fc.array(one, { minLength: 2, maxLength: 3 }).map((all) => ({ kind: "anyOf" as const, tests: all })),
    },
  );
}

const textTest: fc.Arbitrary<TextTest> = fc.oneof(
  someText.map((each) => ({ kind: "contains" as const, text: each })),
  // A colon after a name would make it a test of a field.
  wildcardOf("a*", "*b", "/api/*/x", "12:30*", "--x*"),
  regex,
);

function filterOf(target: fc.Arbitrary<Field>, hasText: boolean): fc.Arbitrary<Filter> {
  return fc.letrec<{ filter: Filter; atom: Filter }>((tie) => ({
    atom: fc.oneof(
      {
        weight: 4,
        arbitrary: target.chain((each) => testOf(each).map((test): Filter => ({ kind: "field", field: each, test }))),
      },
      { weight: hasText ? 3 : 0, arbitrary: textTest.map((test): Filter => ({ kind: "text", test })) },
      { weight: 1, arbitrary: fc.constant<Filter>({ kind: "all" }) },
    ),
    filter: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("atom"),
      tie("filter").map((filter): Filter => ({ kind: "not", filter })),
      fc
        .tuple(fc.constantFrom("and" as const, "or" as const), fc.array(tie("filter"), { minLength: 2, maxLength: 3 }))
        .map(([kind, filters]) => joined(kind, filters)),
    ),
  })).filter;
}

const count = fc.option(fc.integer({ min: 1, max: 10_000 }));

function pipeAfter(columns: readonly TableColumn[] | null): fc.Arbitrary<Pipe> {
  const names = columns?.map((column) => column.name) ?? [];
  const target: fc.Arbitrary<Field> =
    columns === null ? field : fc.constantFrom(...names).map((each) => ({ kind: "column", name: each }));
  const key = fc.oneof(
    { weight: 3, arbitrary: target.map((each) => ({ kind: "field" as const, field: each })) },
    {
      weight: columns === null ? 1 : 0,
      arbitrary: fc.integer({ min: 1, max: 1e9 }).map((ms) => ({ kind: "bin" as const, ms })),
    },
  );
  const by = fc.array(key, { minLength: 1, maxLength: 2 });
  const aggregate = fc.record({ fn: fc.constantFrom(...AGGREGATE_FUNCTIONS), field: target, as: fc.option(someText) });
  const pipes: fc.Arbitrary<Pipe>[] = [
    by.map((each) => ({ kind: "count", by: each })),
    fc.record({
      kind: fc.constant("stats" as const),
      aggregates: fc.array(aggregate, { minLength: 1, maxLength: 2 }),
      by,
    }),
    fc.record({ kind: fc.constantFrom("top" as const, "rare" as const), limit: count, by }),
    fc.record({
      kind: fc.constant("sort" as const),
      by: target,
      order: fc.constantFrom("asc" as const, "desc" as const),
    }),
    fc.integer({ min: 1, max: 10_000 }).map((limit) => ({ kind: "limit", limit })),
    fc.array(target, { minLength: 1, maxLength: 3 }).map((fields) => ({ kind: "fields", fields })),
  ];
  if (columns === null) {
    pipes.push(
      filterOf(field, true).map((filter) => ({ kind: "where", filter })),
      fc.record({
        kind: fc.constant("patterns" as const),
        limit: count,
        versus: fc.option<number>(fc.integer({ min: 1, max: 1e9 })),
      }),
      count.map((limit) => ({ kind: "facets", limit })),
      fc.integer({ min: 1, max: 100 }).map((entries) => ({ kind: "context", entries })),
    );
  }
  return fc.oneof(...pipes);
}

function hasDuplicates(columns: readonly TableColumn[] | null): boolean {
  return columns !== null && new Set(columns.map(({ name: each }) => each)).size < columns.length;
}

export const randomQuery: fc.Arbitrary<Query> = filterOf(field, true).chain((filter) =>
  pipeAfter(null).chain((first) => {
    const columns = columnsAfter(first, null);
    const none = fc.constant<Pipe[]>([]);
    const two = pipeAfter(columns).map((second): Pipe[] =>
      hasDuplicates(columnsAfter(second, columns)) ? [first] : [first, second],
    );
    return fc.oneof(none, hasDuplicates(columns) ? none : two).map((pipes) => ({ filter, pipes }));
  }),
);
