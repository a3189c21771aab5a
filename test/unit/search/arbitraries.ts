import fc from "fast-check";
import type { Entry } from "../../../src/logs/entry.ts";
import type { EntryPlace } from "../../../src/logs/search/entry-test.ts";
import { parse } from "../../../src/query-language/parse.ts";
import type { Filter } from "../../../src/query-language/syntax.ts";

/** Random entries, and filters of the query language that find some of them. */

export const NOW = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

const word = fc.constantFrom(
  "Timeout",
  "timeout",
  "a b",
  "x",
  "",
  "5",
  "true",
  "GET /api/5",
  "Reset",
  "ab*c",
  "\u0130x",
  "\u03a3\u03c2",
  'q"\n',
);
const scalar = fc.oneof(word, fc.constantFrom(0, -0, 5, -5, 5.5, 404, 500, 1e21, true, false, null));
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.record({ id: scalar }), { maxLength: 2 }),
  fc.record({ id: scalar, name: scalar }, { requiredKeys: [] }),
  fc.constant([["x"], [5]]),
  fc.constant([]),
);
const data = fc.record(
  {
    status: value,
    user: value,
    "user.id": scalar,
    service: value,
    "service.name": scalar,
    host: scalar,
    level: scalar,
    tags: value,
    a: fc.oneof(value, fc.record({ b: value, "b.c": scalar }, { requiredKeys: [] })),
    "a.b": fc.oneof(value, fc.record({ c: scalar })),
  },
  { requiredKeys: [] },
);
export const entry: fc.Arbitrary<Entry> = fc
  .record({
    level: fc.constantFrom("trace" as const, "info" as const, "warn" as const, "error" as const, "fatal" as const),
    category: fc.constantFrom("http", "HTTP", "custom"),
    type: fc.constantFrom("request", "log"),
    message: word,
    session: fc.option(fc.constantFrom("s1", "S1"), { nil: undefined }),
    traceId: fc.option(fc.constantFrom("abc", "5"), { nil: undefined }),
    service: fc.option(fc.constantFrom("x", "Timeout", "5"), { nil: undefined }),
    host: fc.option(fc.constantFrom("X", "\u0130x"), { nil: undefined }),
    data: fc.option(data, { nil: undefined }),
  })
  .map(({ session, traceId, service, host, data: own, ...rest }) => ({
    timestamp: new Date(NOW).toISOString(),
    ...rest,
    ...(session && { session }),
    ...(traceId && { traceId }),
    ...(service && { service }),
    ...(host && { host }),
    ...(own && { data: own }),
  }));
export const place: fc.Arbitrary<EntryPlace> = fc.record({
  timestamp: fc.integer({ min: NOW - 30 * HOUR, max: NOW + HOUR }),
  receivedAt: fc.constantFrom(NOW, NOW - HOUR),
  seq: fc.integer({ min: 1, max: 9 }),
  projectId: fc.constantFrom("proj_a", "proj_b"),
  id: fc.constant("log_a1"),
});

const VALUES = [
  "x",
  "X",
  "5",
  '"5"',
  "=5",
  "=x",
  "=X",
  ">5",
  ">=5",
  "<404",
  "<=5.5",
  "5..500",
  "*",
  "true",
  "t*t",
  "*o*",
  "~/^T/",
  "~/t/i",
  "(x OR 5 OR >=404)",
  '""',
  "-5",
  "Timeout",
  "ab*c",
  '"ab*c"',
  "null",
];
const NAMES = [
  "status",
  "user",
  "user.id",
  "user[0]",
  "user[1].id",
  "data.level",
  "tags",
  "service",
  "host",
  "data.service",
  "data.host",
  "service.name",
  '"user.id"',
  "user.name",
  "a.b",
  "a.b.c",
  '"a.b".c',
  "a[0].id",
  "a",
];
const OTHERS = [
  "level:warn",
  "level:>=warn",
  "level:<error",
  "level:info..error",
  "level:(trace OR fatal)",
  "-level:info",
  "category:http",
  "category:=http",
  "type:r*",
  "session:s1",
  "-session:*",
  "trace:abc",
  "trace:5",
  "seq:>3",
  "seq:5",
  "seq:2..4",
  "project:proj_a",
  "id:LOG_A1",
  "id:=log_0000000000015",
  "id:LOG_000000000001*",
  "id:~/[1-4]$/",
  "project:PROJ_000000000001",
  "message:=Reset",
  "type:(=log OR =x)",
  "category:(=http OR =HTTP)",
  "-category:h*",
  "span:*",
  "session:=S1",
  "trace:=abc",
  "message:~/^GET/",
  "\u03c3\u03c3",
  "ix",
  '~/q"\n/',
  "~/(?i)RESET/",
  "~/a b|GET/",
  "~/e+se?t/",
  "fals*",
  "time:1h",
  "time:2026-11-22",
  "time:>2h",
  "time:<=2026-11-21",
  "time:20h..10h",
  "time:2026-11-22T10..2026-11-22T11",
  "received:<1h",
  "message:timeout",
  'message:"a b"',
  "message:GET*",
  "pattern:*api*",
  "timeout",
  "5",
  '"a b"',
  "api*5",
  "~/^Time/",
  "~/time/i",
  "ue",
  "*",
  "reset",
];
const atom = fc.oneof(
  fc.constantFrom(...OTHERS),
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)).map(([name, test]) => `${name}:${test}`),
);
const text = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { depthSize: "small" },
    atom,
    tie("query").map((text) => `NOT (${text})`),
    fc
      .tuple(tie("query"), fc.constantFrom(" ", " OR ", " AND "), tie("query"))
      .map(([a, operator, b]) => `(${a})${operator}(${b})`),
  ),
})).query;

export interface TestQuery {
  text: string;
  filter: Filter;
}

/** Filters that parse: `service` and `host` have no order. */
export const query: fc.Arbitrary<TestQuery> = text
  .map((each) => ({ text: each, parsed: parse(each) }))
  .filter(({ text: each, parsed }) => {
    if (!parsed.ok && !parsed.error.message.includes("is text")) throw new Error(`${each}: ${parsed.error.message}`);
    return parsed.ok;
  })
  .map(({ text: each, parsed }) => ({ text: each, filter: parsed.ok ? parsed.query.filter : { kind: "all" } }));
