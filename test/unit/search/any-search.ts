import fc from "fast-check";
import { LEVELS } from "../../../src/logs/entry.ts";
import { printField } from "../../../src/query-language/fields.ts";
import type { TestEntry } from "../query/store.ts";

/** Random entries, and random queries with pipes over them. */

export const NOW = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

const MESSAGES = [
  "GET /api/users/5 took 12 ms",
  "GET /api/users/77 took 120 ms",
  "Timeout after 30s",
  "timeout after 5s",
  'user "bob" logged in',
  "ü 2026-11-22T10:00:00Z",
  "x",
];
const scalar = fc.oneof(
  fc.constantFrom("a", "B", "", "5", "ü\n", "a b"),
  fc.constantFrom(0, 5, -5, 2.5, 100, 404),
  fc.boolean(),
  fc.constant(null),
);
const data = fc.record(
  {
    ms: fc.integer({ min: 0, max: 50 }).map((value) => value / 4),
    mixed: fc.oneof(scalar, fc.record({ id: scalar })),
    route: fc.constantFrom("/", "/cart", "/api/5"),
    user: fc.oneof(fc.record({ id: scalar, name: scalar }, { requiredKeys: [] }), scalar),
    "user.id": scalar,
    tags: fc.array(scalar, { maxLength: 3 }),
    items: fc.array(fc.oneof(fc.record({ id: scalar }), scalar), { maxLength: 2 }),
    service: fc.oneof(fc.constantFrom("web", "db"), fc.record({ name: fc.constantFrom("web", "api") })),
    "host.name": fc.constantFrom("h1", "h2"),
    status: fc.constantFrom(200, 204, 404, 500),
  },
  { requiredKeys: [] },
);

export const searchEntry: fc.Arbitrary<TestEntry> = fc.record(
  {
    timestamp: fc.integer({ min: NOW - 30 * HOUR, max: NOW + HOUR }),
    level: fc.constantFrom(...LEVELS),
    category: fc.constantFrom("http", "custom"),
    type: fc.constantFrom("request", "log"),
    message: fc.constantFrom(...MESSAGES),
    session: fc.constantFrom("s1", "s2"),
    traceId: fc.constantFrom("abc", "5"),
    data,
  },
  { requiredKeys: ["timestamp", "level", "category", "type", "message"] },
);

const FILTERS = [
  "*",
  "*",
  "timeout",
  "level:>=warn",
  "level:(info OR error)",
  "status:500..599",
  "-status:*",
  "time:1h",
  "time:20h..10h",
  "route:/api/*",
  "mixed:5",
  "user.id:*",
  "tags:a",
  "(level:error OR ms:>5)",
  "NOT (session:s1 OR category:http)",
  "message:~/^t/i",
  "service:web",
  "seq:<4",
  "took -ms:>=2",
];
/** Fields by which entries are grouped and sorted. */
const KEYS = [
  ...["level", "category", "type", "session", "trace", "service", "host", "pattern", "project", "seq", "time"],
  ...["message", "received", "id", "ms", "mixed", "route", "user.id", "user", "tags", "items.id", "status", "items[0]"],
];
const ANY = ["count", "count_distinct", "first", "last", "values"];
const NUMERIC = ["sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "p999"];
const NUMBERS = ["ms", "mixed", "status", "user.id", "tags", "seq"];

const filter = fc.constantFrom(...FILTERS);
const key = fc.constantFrom(...KEYS);
const count = fc.integer({ min: 1, max: 6 });
const order = fc.constantFrom("", " asc", " desc");
const keys = fc.uniqueArray(fc.oneof({ weight: 3, arbitrary: key }, fc.constantFrom("bin(1h)", "bin(7m)")), {
  maxLength: 2,
  selector: (each) => (each.startsWith("bin") ? "time" : each),
});
const aggregate = fc.oneof(
  fc.constant("count()"),
  fc.tuple(fc.constantFrom(...ANY), key).map(([fn, field]) => `${fn}(${field})`),
  fc.tuple(fc.constantFrom(...NUMERIC), fc.constantFrom(...NUMBERS)).map(([fn, field]) => `${fn}(${field})`),
  fc
    .tuple(fc.constantFrom("min", "max"), fc.constantFrom("time", "received", "level"))
    .map(([fn, field]) => `${fn}(${field})`),
);
const aggregates = fc.uniqueArray(aggregate, { minLength: 1, maxLength: 3 });

const by = (names: readonly string[]) => (names.length === 0 ? "" : ` by ${names.join(", ")}`);

/** The text of a pipe that makes a table, with the names of its columns. */
interface TablePart {
  text: string;
  columns: readonly string[];
}

const columnsOfKeys = (names: readonly string[]) => names.map((name) => (name.startsWith("bin") ? "time" : name));
const maker: fc.Arbitrary<TablePart> = fc.oneof(
  keys.map((names) => ({ text: `count${by(names)}`, columns: [...columnsOfKeys(names), "count"] })),
  fc.tuple(aggregates, keys).map(([calls, names]) => ({
    text: `stats ${calls.join(", ")}${by(names)}`,
    columns: [...columnsOfKeys(names), ...calls],
  })),
  fc.tuple(fc.constantFrom("top", "rare"), fc.option(count, { nil: "" }), keys).map(([kind, limit, names]) => {
    const own = names.length === 0 ? ["level"] : names;
    return { text: `${kind} ${limit}${by(own)}`, columns: [...columnsOfKeys(own), "count"] };
  }),
  fc.option(count, { nil: "" }).map((limit) => ({ text: `patterns ${limit}`, columns: ["pattern", "count"] })),
  fc
    .option(count, { nil: "" })
    .map((limit) => ({ text: `facets ${limit}`, columns: ["field", "type", "entries", "value", "count"] })),
  fc
    .uniqueArray(key, { minLength: 1, maxLength: 3 })
    .map((names) => ({ text: `fields ${names.join(", ")}`, columns: names })),
);

const VALUES = [">1", "<=5", "5", "*", "a", "t*", "(a OR 5)", "~/a/i", "0..5", '"/cart"', "=5"];

function onTable({ text, columns }: TablePart): fc.Arbitrary<TablePart> {
  const names = columns.map((name) => printField({ kind: "column", name }));
  const column = fc.constantFrom(...names);
  const index = (name: string) => columns[names.indexOf(name)] ?? "";
  const test = fc
    .tuple(fc.constantFrom("", "-"), column, fc.constantFrom(...VALUES))
    .map(([minus, name, value]) => `${minus}${name}:${value}`);
  const with_ = (pipe: string, after: readonly string[] = columns) => ({ text: `${text} | ${pipe}`, columns: after });
  return fc.oneof(
    test.map((each) => with_(`where ${each}`)),
    fc.tuple(test, test).map(([a, b]) => with_(`where ${a} OR ${b}`)),
    fc.tuple(column, order).map(([name, way]) => with_(`sort ${name}${way}`)),
    count.map((limit) => with_(`limit ${limit}`)),
    fc
      .uniqueArray(column, { minLength: 1, maxLength: 2 })
      .map((own) => with_(`fields ${own.join(", ")}`, own.map(index))),
    fc.uniqueArray(column, { maxLength: 2 }).map((own) => with_(`count${by(own)}`, [...own.map(index), "count"])),
    fc
      .tuple(fc.constantFrom("top", "rare"), column)
      .map(([kind, own]) => with_(`${kind} 3 by ${own}`, [index(own), "count"])),
    fc
      .tuple(fc.constantFrom(...ANY, ...NUMERIC), column, fc.uniqueArray(column, { maxLength: 1 }))
      .map(([fn, read, own]) =>
        with_(`stats ${fn}(${read}) as s, count()${by(own)}`, [...own.map(index), "s", "count()"]),
      ),
  );
}

const entryPipe = fc.oneof(
  filter.map((text) => `where ${text}`),
  fc.tuple(key, order).map(([by_, way]) => `sort ${by_}${way}`),
  fc.constantFrom("sort time", "sort time desc"),
  count.map((limit) => `limit ${limit}`),
  fc.constantFrom("context 1", "context 3"),
);

/** Texts of queries. Some have two columns of one name, which the parser refuses. */
export const searchText: fc.Arbitrary<string> = fc
  .tuple(
    filter,
    fc.array(entryPipe, { maxLength: 3 }),
    fc.option(
      maker.chain((first) =>
        fc.oneof(
          fc.constant(first),
          onTable(first),
          onTable(first).chain(onTable),
          onTable(first).chain(onTable).chain(onTable),
        ),
      ),
    ),
  )
  .map(([first, pipes, table]) => [first, ...pipes, ...(table === null ? [] : [table.text])].join(" | "));
