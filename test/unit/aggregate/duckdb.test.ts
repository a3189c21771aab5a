import { writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { LEVELS } from "../../../src/logs/entry.ts";
import { Export } from "../../../src/logs/export/run-export.ts";
import { runSearch } from "../../../src/logs/search/run-search.ts";
import { encodeSegment } from "../../../src/logs/segments/encode/encode-segment.ts";
import { runTable, type TableAnswer } from "../../../src/logs/stats/run-table.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { useDuckDb } from "../../support/duckdb.ts";
import { bodyOf, SEGMENT_KINDS, type TestEntry, TestStore } from "../query/store.ts";
import { open } from "../segments/support.ts";

/** DuckDB judges the tables of aggregations: over an export, and over segment files as a flush writes them. */

const PROJECT = "proj_000000000001";
const START = Date.UTC(2026, 10, 20);
const duck = useDuckDb();

/** Members of `data` that queries name. `mixed` has values of several types. */
const FIELDS = ["ms", "bytes", "route", "user.id", "ok", "mixed"] as const;
const NUMBERS = ["ms", "bytes", "mixed"] as const;

const fraction = fc.double({ min: -1e6, max: 1e6, noNaN: true }).filter((value) => !Object.is(value, -0));
const data = fc.record(
  {
    ms: fc.integer({ min: 0, max: 400 }),
    bytes: fc.oneof(fraction, fc.integer({ min: -1000, max: 1000 })),
    route: fc.constantFrom("/", "/cart", "/ü", "500", ""),
    user: fc.oneof(fc.record({ id: fc.integer({ min: 1, max: 6 }) }), fc.constant("none")),
    ok: fc.boolean(),
    mixed: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom("3", "x", true, 2.5)),
    // Values without a column.
    tags: fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 }),
    nothing: fc.constant(null),
  },
  { requiredKeys: [] },
);
const entry: fc.Arbitrary<TestEntry> = fc.record(
  {
    timestamp: fc.integer({ min: 0, max: 7_200_000 }).map((at) => START + at),
    level: fc.constantFrom(...LEVELS),
    category: fc.constantFrom("http", "custom", "queue"),
    type: fc.constant("request"),
    message: fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }),
    data,
  },
  { requiredKeys: ["timestamp", "level", "category", "type", "message"] },
);
const batches = fc.array(fc.array(entry, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 });

/** A key of a table, and its value in SQL. */
interface SqlKey {
  name: string;
  body: string | object;
  sql: string;
}

const key = fc.oneof(
  fc.constantFrom(...FIELDS, "level", "category").map((name): SqlKey => ({ name, body: name, sql: keySql(name) })),
  fc.constantFrom([60_000, "1m"], [900_000, "15m"], [3_600_000, "1h"]).map(
    ([ms, bin]): SqlKey => ({
      name: "time",
      body: { bin },
      sql: `to_json(ts // ${ms} * ${ms})`,
    }),
  ),
);
/** An aggregation, and its SQL. */
interface SqlAggregation {
  body: { fn: string; field?: string };
  sql: string;
}

const aggregation: fc.Arbitrary<SqlAggregation> = fc.oneof(
  fc.constant({ body: { fn: "count" }, sql: "count(*)" }),
  fc.constantFrom<string[]>(...FIELDS).map((field) => ({
    body: { fn: "count_distinct", field },
    sql: `count(DISTINCT ${keySql(field)})`,
  })),
  fc
    .tuple(
      fc.constantFrom("sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "p999"),
      fc.constantFrom<string[]>(...NUMBERS),
    )
    .map(([fn, field]) => ({ body: { fn, field }, sql: functionSql(fn, `${quoted(field)}.n`) })),
);

function functionSql(fn: string, value: string): string {
  if (fn === "sum") return `fsum(${value})`;
  if (fn === "avg") return `fsum(${value}) / count(${value})`;
  if (fn === "min" || fn === "max") return `${fn}(${value})`;
  return `quantile_disc(${value}, ${`0.${fn.slice(1)}`})`;
}

const filter = fc.oneof(
  fc.constant({ body: {}, sql: "true" }),
  fc
    .subarray([...LEVELS], { minLength: 1 })
    .map((level) => ({ body: { level }, sql: `level IN (${level.map(text).join(", ")})` })),
  fc.constantFrom(...LEVELS).map((minLevel) => ({
    body: { minLevel },
    sql: `level IN (${LEVELS.slice(LEVELS.indexOf(minLevel)).map(text).join(", ")})`,
  })),
  fc.tuple(fc.nat(7_200_000), fc.nat(7_200_000)).map(([a, b]) => ({
    body: { from: START + Math.min(a, b), to: START + Math.max(a, b) + 1 },
    sql: `ts >= ${START + Math.min(a, b)} AND ts <= ${START + Math.max(a, b)}`,
  })),
  fc
    .tuple(fc.constantFrom(...NUMBERS), fc.constantFrom(["gte", ">="], ["lt", "<"]), fc.integer({ min: 0, max: 300 }))
    .map(([field, [name = "", sign = ""], value]) => ({
      body: { data: { [field]: { [name]: value } } },
      sql: `coalesce(${quoted(field)}.n ${sign} ${value}, false)`,
    })),
  fc
    .constantFrom("/cart", "500")
    .map((route) => ({ body: { data: { route } }, sql: `coalesce(route.t = ${text(route)}, false)` })),
  fc.constantFrom(true, false).map((ok) => ({ body: { data: { ok } }, sql: `coalesce(ok.b = ${ok}, false)` })),
);

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function quoted(name: string): string {
  return `"${name}"`;
}

/** A value as JSON text, so that values of different types differ; null without a value. */
function keySql(name: string): string {
  if (!FIELDS.some((field) => field === name)) return `to_json(${name})`;
  const field = quoted(name);
  return `coalesce(to_json(${field}.n), to_json(${field}.t), to_json(${field}.b))`;
}

let files = 0;

/** Writes a file. @returns its rows as SQL, each of the members as a struct of its number, text and boolean */
function selected(bytes: Uint8Array, source: string, names: readonly string[]): string {
  const file = path.join(duck.folder, `${files++}.parquet`);
  writeFileSync(file, bytes);
  const { reader } = open(bytes);
  const fields = names.map((name) => {
    const columns = reader.columnsOf(name.split("."));
    const of = (types: readonly string[], sqlType: string, jsonTypes: string) => {
      const own = columns.filter(({ column }) => types.includes(column.type));
      const typed = own.map(({ column }) => `CAST(${quoted(column.name)} AS ${sqlType})`);
      const rest = `CASE WHEN json_type(rest, ${text(`$.${name}`)}) IN (${jsonTypes}) THEN CAST(rest ->> ${text(`$.${name}`)} AS ${sqlType}) END`;
      return `coalesce(${[...typed, rest].join(", ")}, NULL)`;
    };
    const number = of(["integer", "number"], "DOUBLE", "'BIGINT', 'UBIGINT', 'DOUBLE'");
    return `{n: ${number}, t: ${of(["text"], "VARCHAR", "'VARCHAR'")}, b: ${of(["boolean"], "BOOLEAN", "'BOOLEAN'")}} AS ${quoted(name)}`;
  });
  return `SELECT '${source}' AS source, epoch_ms(timestamp) AS ts, level, category${fields.map((field) => `, ${field}`).join("")} FROM '${file}'`;
}

/** The entries as segment files of some batches each. */
function segmentFiles(made: readonly (readonly TestEntry[])[]): Uint8Array[] {
  let firstSeq = 1;
  const decoded = made.map((entries, at) => {
    const batch = { firstSeq, count: entries.length, commit: at + 1, receivedAt: START, body: bodyOf(entries) };
    firstSeq += entries.length;
    return batch;
  });
  const middle = Math.ceil(decoded.length / 2);
  return [decoded.slice(0, middle), decoded.slice(middle)].flatMap((some) => {
    const [first, last] = [some[0], some.at(-1)];
    if (!first || !last) return [];
    const lines = linesOf(some, { firstSeq: first.firstSeq, lastSeq: last.firstSeq + last.count - 1 });
    const steps = encodeSegment(PROJECT, lines, { groupRows: 40 });
    for (;;) {
      const step = steps.next();
      if (step.done) return [Buffer.concat(step.value.parts)];
    }
  });
}

async function exported(store: TestStore): Promise<Uint8Array> {
  const source = {
    workspaceId: store.scope,
    projectId: PROJECT,
    recent: store.bySeq(PROJECT, 3),
    cold: store.cold(),
    report: (fault: Error) => {
      throw fault;
    },
    missing: async () => Number.NaN,
  };
  const opened = await Export.open(source, { from: null, to: null, afterSeq: 0, format: "parquet" });
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened?.bytes() ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

type Row = readonly unknown[];

/** Rows by their keys. */
function byKeys(rows: readonly Row[], keys: number): Map<string, Row> {
  return new Map(rows.map((row) => [JSON.stringify(row.slice(0, keys)), row.slice(keys)]));
}

test("300 random sets of entries and queries: tables equal DuckDB's over the export and over the stored segment files", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.record({ count: fc.nat(6), kind: fc.constantFrom(...SEGMENT_KINDS) }),
      fc.uniqueArray(key, { maxLength: 2, selector: ({ name }) => name }),
      fc.array(aggregation, { minLength: 1, maxLength: 4 }),
      filter,
      async (made, flushed, keys, aggregations, { body: filters, sql: where }) => {
        const store = new TestStore();
        for (const entries of made) store.add(PROJECT, entries);
        store.flush(PROJECT, flushed.count, flushed.kind);
        const wanted = TableBody.parse({
          aggregations: aggregations.map(({ body }, at) => ({ ...body, as: `c${at}` })),
          groupBy: keys.map(({ body }) => body),
          filters,
        });
        const result = await runTable(store.stats(4), wanted);
        if (!result.ok) throw new Error(result.reason);
        const { answer } = result;
        const files = [await exported(store), ...segmentFiles(made)];
        const sources = files.map((bytes, at) => [at === 0 ? "export" : "segments", bytes] as const);
        compared += await compare(answer, sources, keys, aggregations, where);
      },
    ),
    { numRuns: 300 },
  );
  expect(compared).toBeGreaterThan(3000);
}, 180_000);

/** What a table is compared by: parts of SQL. */
type Judged = Pick<TableAnswer, "rows" | "matched" | "complete" | "exact">;

/**
 * Compares a table with what DuckDB finds in files.
 * @param files with their names; those of one name are one table
 * @returns number of compared values
 */
async function compare(
  answer: Judged,
  files: readonly (readonly [source: string, bytes: Uint8Array])[],
  keys: readonly SqlKey[],
  aggregations: readonly SqlAggregation[],
  where: string,
): Promise<number> {
  expect(answer).toMatchObject({ complete: true, exact: true });
  let compared = 0;
  const rows = answer.rows.map((row) => JSON.parse(Buffer.from(row, "latin1").toString()));
  const named = `${JSON.stringify([keys, aggregations])}${where}`;
  const fields = FIELDS.filter((name) =>
    [`"${name}"`, `\\"${name}\\"`, `${name}.t`, `${name}.b`].some((each) => named.includes(each)),
  );
  const entries = files.map(([source, bytes]) => selected(bytes, source, fields)).join(" UNION ALL ");
  const columns = [
    ...keys.map((each, at) => `${each.sql} AS k${at}`),
    ...aggregations.map(({ sql }, at) => `${sql} AS c${at}`),
  ];
  const groups = ["source", ...keys.map((_, at) => `k${at}`)].join(", ");
  const read = await duck.run(
    `WITH entries AS (${entries}) SELECT source, ${columns.join(", ")} FROM entries WHERE ${where} GROUP BY ${groups}`,
  );
  const judged = read.getRowsJS().map((row) => row.map((value) => (typeof value === "bigint" ? Number(value) : value)));
  const isTime = keys.map(({ name }) => name === "time");
  const own = byKeys(
    rows.map((row: unknown[]) => row.map((value, at) => (isTime[at] ? Date.parse(String(value)) : value))),
    keys.length,
  );
  for (const source of new Set(files.map(([name]) => name))) {
    const found = judged
      .filter((row) => row[0] === source)
      .map((row) =>
        row.slice(1).map((value, at) => (at < keys.length && value !== null ? JSON.parse(String(value)) : value)),
      );
    const theirs = byKeys(found, keys.length);
    // SQL has no row for no entries, the table has one if it has no keys.
    if (found.length === 0 && keys.length === 0) {
      expect(answer.matched).toBe(0);
      continue;
    }
    expect([...theirs.keys()].sort(), named).toEqual([...own.keys()].sort());
    for (const [name, values] of theirs) {
      values.forEach((value, at) => {
        const mine = own.get(name)?.[at];
        const fn = aggregations[at]?.body.fn ?? "";
        if (typeof value === "number" && (fn === "sum" || fn === "avg")) expectClose(Number(mine), value);
        else expect([name, fn, mine], named).toEqual([name, fn, value]);
        compared++;
      });
    }
  }
  return compared;
}

/** Atoms of filters of the query language, and what they are in SQL. */
const atom = fc.oneof(
  fc.constantFrom(...LEVELS).map((level) => ({ text: `level:${level}`, sql: `level = ${text(level)}` })),
  fc.constantFrom(...LEVELS).map((level) => ({
    text: `level:>=${level}`,
    sql: `level IN (${LEVELS.slice(LEVELS.indexOf(level)).map(text).join(", ")})`,
  })),
  fc.constantFrom("http", "custom").map((name) => ({ text: `category:=${name}`, sql: `category = ${text(name)}` })),
  fc
    .tuple(fc.constantFrom(...NUMBERS), fc.constantFrom("<", "<=", ">", ">="), fc.integer({ min: -5, max: 300 }))
    .map(([field, operator, value]) => ({
      text: `${field}:${operator}${value}`,
      sql: `coalesce(${quoted(field)}.n ${operator} ${value}, false)`,
    })),
  fc.tuple(fc.constantFrom(...NUMBERS), fc.nat(200), fc.nat(200)).map(([field, from, span]) => ({
    text: `${field}:${from}..${from + span}`,
    sql: `coalesce(${quoted(field)}.n BETWEEN ${from} AND ${from + span}, false)`,
  })),
  fc.constantFrom("3", "x", "true", "2.5", "0").map((value) => ({
    text: `mixed:${value}`,
    sql: `coalesce(mixed.t = ${text(value)} OR to_json(mixed.n)::VARCHAR IN (${text(value)}, ${text(`${value}.0`)}) OR to_json(mixed.b)::VARCHAR = ${text(value)}, false)`,
  })),
  fc.constantFrom("/c*", "*r*", "/*", "*0").map((pattern) => ({
    text: `route:${pattern}`,
    sql: `coalesce(route.t LIKE ${text(pattern.replaceAll("*", "%"))}, false)`,
  })),
  fc.constantFrom("/cart", "500", "").map((route) => ({
    text: `route:=${JSON.stringify(route)}`,
    sql: `coalesce(route.t = ${text(route)}, false)`,
  })),
  fc.constantFrom("^/", "[0-9]+", "t$").map((regex) => ({
    text: `route:~/${regex.replaceAll("/", "\\/")}/`,
    sql: `coalesce(regexp_matches(route.t, ${text(regex)}), false)`,
  })),
  fc.constantFrom<string[]>("ms", "ok", "route", "user.id", "mixed").map((field) => ({
    text: `${field}:*`,
    sql: `${keySql(field)} IS NOT NULL`,
  })),
  fc.nat(7_200_000).map((at) => ({
    text: `time:>=${new Date(START + at).toISOString()}`,
    sql: `ts >= ${START + at}`,
  })),
);

const { filter: languageFilter } = fc.letrec<{ filter: { text: string; sql: string } }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small" },
    atom,
    tie("filter").map((each) => ({ text: `NOT (${each.text})`, sql: `NOT (${each.sql})` })),
    fc.tuple(tie("filter"), fc.constantFrom("AND", "OR"), tie("filter")).map(([a, operator, b]) => ({
      text: `(${a.text}) ${operator} (${b.text})`,
      sql: `(${a.sql}) ${operator} (${b.sql})`,
    })),
  ),
}));

test("300 random queries of the query language: tables equal DuckDB's over the export", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.record({ count: fc.nat(6), kind: fc.constantFrom(...SEGMENT_KINDS) }),
      fc.uniqueArray(key, { maxLength: 2, selector: ({ name }) => name }),
      fc.array(aggregation, { minLength: 1, maxLength: 4 }),
      languageFilter,
      async (made, flushed, keys, aggregations, { text: written, sql: where }) => {
        const store = new TestStore();
        for (const entries of made) store.add(PROJECT, entries);
        store.flush(PROJECT, flushed.count, flushed.kind);
        const calls = aggregations.map(({ body }, at) => `${body.fn}(${"field" in body ? body.field : ""}) as c${at}`);
        const names = keys.map(({ body }) => (typeof body === "string" ? body : `bin(${Reflect.get(body, "bin")})`));
        const by = names.length === 0 ? "" : ` by ${names.join(", ")}`;
        const parsed = parse(`${written} | stats ${calls.join(", ")}${by}`);
        if (!parsed.ok) throw new Error(`${written}: ${parsed.error.message}`);
        const source = { ...store.stats(4), bySeq: () => expect.fail("The query asks for no neighbours.") };
        const wanted = { query: parsed.query, now: START, projectId: null, from: null, to: null, asOf: null };
        const result = await runSearch(source, { ...wanted, limit: 100, cursor: null });
        if (!result.ok || result.answer.kind !== "table") throw new Error(written);
        const files = [["export", await exported(store)]] as const;
        compared += await compare(result.answer, files, keys, aggregations, where);
      },
    ),
    { numRuns: 300 },
  );
  expect(compared).toBeGreaterThan(1500);
}, 180_000);

/** Equal within 1e-9 of the largest numbers that are added up. */
function expectClose(mine: number, theirs: number): void {
  expect(Math.abs(mine - theirs)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(theirs)));
}
