import fc from "fast-check";
import { expect, it } from "vitest";
import type { Entry } from "../../../src/logs/entry.ts";
import { type EntryPlace, entryTestOf } from "../../../src/logs/search/entry-test.ts";
import { InvalidRegex, regexTest, wildcardTest } from "../../../src/logs/search/text-tests.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { passes } from "./reference.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

const word = fc.constantFrom("Timeout", "timeout", "a b", "x", "", "5", "true", "GET /api/5", "Reset", "ab*c");
const scalar = fc.oneof(word, fc.constantFrom(0, 5, -5, 5.5, 404, 500, true, false, null));
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.record({ id: scalar }), { maxLength: 2 }),
  fc.record({ id: scalar, name: scalar }, { requiredKeys: [] }),
  fc.constant([["x"], [5]]),
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
  },
  { requiredKeys: [] },
);
const entry: fc.Arbitrary<Entry> = fc
  .record({
    level: fc.constantFrom("trace" as const, "info" as const, "warn" as const, "error" as const, "fatal" as const),
    category: fc.constantFrom("http", "HTTP", "custom"),
    type: fc.constantFrom("request", "log"),
    message: word,
    session: fc.option(fc.constantFrom("s1", "S1"), { nil: undefined }),
    traceId: fc.option(fc.constantFrom("abc", "5"), { nil: undefined }),
    data: fc.option(data, { nil: undefined }),
  })
  .map(({ session, traceId, data: own, ...rest }) => ({
    timestamp: new Date(NOW).toISOString(),
    ...rest,
    ...(session && { session }),
    ...(traceId && { traceId }),
    ...(own && { data: own }),
  }));
const place: fc.Arbitrary<EntryPlace> = fc.record({
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
  '"user.id"',
  "user.name",
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
  fc.constantFrom(...OTHERS.filter((text) => !text.startsWith("pattern"))),
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)).map(([name, test]) => `${name}:${test}`),
);
const query = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { depthSize: "small" },
    atom,
    tie("query").map((text) => `NOT (${text})`),
    fc
      .tuple(tie("query"), fc.constantFrom(" ", " OR ", " AND "), tie("query"))
      .map(([a, operator, b]) => `(${a})${operator}(${b})`),
  ),
})).query;

it("finds what a plain evaluator finds", () => {
  let found = 0;
  fc.assert(
    fc.property(query, fc.array(fc.tuple(entry, place), { minLength: 1, maxLength: 8 }), (text, entries) => {
      const parsed = parse(text);
      // `service` and `host` have no order.
      if (!parsed.ok && parsed.error.message.includes("is text")) return;
      if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message}`);
      const { filter } = parsed.query;
      const test = entryTestOf(filter, NOW);
      for (const [each, where] of entries) {
        const expected = passes(filter, each, where, NOW);
        if (expected) found++;
        expect(test(each, where), `${text} of ${JSON.stringify(each)}`).toBe(expected);
      }
    }),
    { numRuns: 5000 },
  );
  // Neither all nor none: the comparison means something.
  expect(found).toBeGreaterThan(3000);
});

it("refuses regular expressions that RE2 cannot run in linear time, or that are too large", () => {
  expect(regexTest({ kind: "regex", source: "(a*)*b", ignoreCase: false })("a".repeat(100_000))).toBe(false);
  for (const source of ["a(b", "(?=a)", "\\1", "(a{1000}){1000}", "((a{100}){100}){5}", "x".repeat(1001)]) {
    expect(() => regexTest({ kind: "regex", source, ignoreCase: false }), source).toThrow(InvalidRegex);
  }
});

it("compares wildcards in linear time, whatever the case", () => {
  expect(wildcardTest("*a*a*a*a*a*a*a*b", true)("a".repeat(100_000))).toBe(false);
  expect(wildcardTest("ab*ba", true)("aba")).toBe(false);
  expect(wildcardTest("AB*ba", true)("abBA")).toBe(true);
  expect(wildcardTest("time*out", false)("a Time was out.")).toBe(true);
});
