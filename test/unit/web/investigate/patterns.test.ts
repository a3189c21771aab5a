import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { QUERY_LIMITS } from "../../../../src/query-language/reader.ts";
import { errorsOf, not, patternTest, valueTest, withTest } from "../../../../web/src/pages/investigate/added-test.ts";
import { binFor, binsOf } from "../../../../web/src/pages/investigate/bins.ts";
import { patternDifferences } from "../../../../web/src/pages/investigate/compare/pattern-differences.ts";
import {
  changeOf,
  errorsIn,
  patternsOf,
  sorted,
  trendQueries,
  trendsOf,
} from "../../../../web/src/pages/investigate/patterns/pattern-model.ts";

const COLUMNS = ["pattern", "count", "before", "change"].map((name) => ({ name, type: "number" }));

describe("19.3: patterns", () => {
  it("have shares of all entries, and changes that chance does not explain", () => {
    const rows = [
      ["new", 3, 0, 3],
      ["risen", 130, 90, 40],
      ["steady", 100, 95, 5],
      ["fallen", 20, 60, -40],
      ["gone", 0, 9, -9],
      [null, 47, 40, 7],
    ];
    const patterns = patternsOf({ columns: COLUMNS, rows });
    expect(patterns.map(({ change }) => change)).toEqual(["new", "risen", null, "fallen", "gone", null]);
    expect(patterns.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(sorted(patterns, "count").map(({ pattern }) => pattern)).toEqual([
      ...["risen", "steady", "fallen", "new", "gone", null],
    ]);
    expect(sorted(patterns, "rarest").map(({ pattern }) => pattern)).toEqual([
      ...["gone", "new", "fallen", "steady", "risen", null],
    ]);
    expect(sorted(patterns, "change").map(({ pattern }) => pattern)).toEqual([
      ...["fallen", "risen", "gone", "steady", "new", null],
    ]);
    expect(sorted(patterns, "new").map(({ pattern }) => pattern)).toEqual([
      ...["new", "risen", "steady", "fallen", "gone", null],
    ]);
    // Of none, the most frequent first; the row of all others has no errors of its own.
    const errors = errorsIn({
      columns: COLUMNS.slice(0, 2),
      rows: [
        ["new", 2],
        ["steady", 9],
        [null, 40],
      ],
    });
    expect(sorted(patterns, "errors", errors).map(({ pattern }) => pattern)).toEqual([
      ...["steady", "new", "risen", "fallen", "gone", null],
    ]);
  });

  it("without comparison have no change", () => {
    const [only] = patternsOf({ columns: COLUMNS.slice(0, 2), rows: [["a", 5]] });
    expect(only).toEqual({ pattern: "a", count: 5, before: null, share: 1, change: null });
    expect(patternsOf({ columns: COLUMNS.slice(0, 2), rows: [] })).toEqual([]);
  });

  it("of a project that has just begun to log are not all new", () => {
    const first = patternsOf({
      columns: COLUMNS,
      rows: [
        ["a", 9000, 2, 8998],
        ["b", 50, 0, 50],
      ],
    });
    expect(first.map(({ before, change }) => [before, change])).toEqual([
      [2, null],
      [0, null],
    ]);
    // Nor are those of two spans that are compared, whatever their lengths.
    const [before, now] = [2, 9050].map((count) => ({ columns: COLUMNS.slice(0, 2), rows: [["a", count]] }));
    expect(before && now && patternDifferences(before, now, 1)).toBe(null);
    expect(before && now && patternDifferences(before, now, 10)).toHaveLength(1);
  });

  it("change by the lengths of both spans", () => {
    // Half as long: 50 are as many as 100.
    expect([changeOf(50, 100, 0.5), changeOf(100, 100, 0.5), changeOf(20, 100, 0.5)]).toEqual([
      null,
      "risen",
      "fallen",
    ]);
    const table = (rows: unknown[][]) => ({ columns: COLUMNS.slice(0, 2), rows });
    const before = table([
      ["a", 100],
      ["b", 100],
      ["c", 4],
    ]);
    const now = table([
      ["a", 50],
      ["b", 90],
      ["d", 6],
      [null, 900],
    ]);
    expect(patternDifferences(before, now, 0.5)).toEqual([
      { pattern: "b", before: 100, now: 90, change: "risen" },
      { pattern: "c", before: 4, now: 0, change: "gone" },
      { pattern: "d", before: 0, now: 6, change: "new" },
    ]);
  });

  it("are in the order of their change relative to all entries: what fell with all traffic is last", () => {
    const table = (rows: unknown[][]) => ({ columns: COLUMNS.slice(0, 2), rows });
    const before = table([
      ["busy", 8000],
      ["broken", 900],
      ["other", 1100],
    ]);
    const now = table([
      ["busy", 4000],
      ["broken", 100],
      ["other", 560],
      ["failed", 340],
    ]);
    const found = patternDifferences(before, now, 1);
    expect(found?.map(({ pattern, change }) => `${pattern} ${change}`)).toEqual([
      "broken fallen",
      "failed new",
      "other fallen",
      "busy fallen",
    ]);
  });

  it("are counted over time by queries within the limits, which find nothing else", () => {
    const patterns = Array.from({ length: 120 }, (_, n) => `user <N> "${n}" ${"x".repeat(n % 7 === 0 ? 900 : 20)}`);
    const queries = trendQueries("a OR level:error", [...patterns, "y".repeat(9000)], 60_000, 20);
    for (const query of queries) {
      expect(parse(query).ok).toBe(true);
      expect(new TextEncoder().encode(query).length).toBeLessThanOrEqual(QUERY_LIMITS.bytes);
      expect(query).toMatch(/^a OR level:error \| stats .* \| where pattern:/);
    }
    for (const pattern of patterns) expect(queries.some((query) => query.includes(JSON.stringify(pattern)))).toBe(true);
    expect(trendQueries("*", patterns, 60_000, 2).length).toBe(2);
    expect(trendQueries("", ["one"], 60_000, 4)).toEqual([
      "* | stats count() as entries, min(time) as first, max(time) as last by pattern, level, bin(1m) | where pattern:=one",
    ]);
  });

  it("have trends over the whole range, with the most frequent and the most severe level, and the first and the last time", () => {
    const start = Date.UTC(2026, 10, 22);
    const bins = binsOf(start, start + 3_600_000, 6);
    expect(bins).toEqual({ start, binMs: 600_000, spans: 6 });
    const names = ["pattern", "time", "entries", "level", "first", "last"];
    const columns = names.map((name) => ({ name, type: "string" }));
    const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();
    const rows = [
      ["a", at(0), 2, "info", at(4), at(9)],
      ["a", at(50), 1, "info", at(58), at(58)],
      ["a", at(50), 2, "error", at(51), at(52)],
      ["b", at(0), 1, "warn", at(7), at(7)],
      ["b", at(0), 1, "info", at(6), at(6)],
      ["a", at(60), 9, "fatal", at(61), at(62)],
      [null, at(0), 9, "fatal", at(0), at(1)],
    ];
    const seen = (first: number, last: number) => ({ first: Date.parse(at(first)), last: Date.parse(at(last)) });
    expect([...trendsOf([{ columns, rows }], bins)]).toEqual([
      [
        "a",
        {
          counts: [2, 0, 0, 0, 0, 3],
          level: "info",
          errors: 2,
          worst: { level: "error", counts: [0, 0, 0, 0, 0, 2] },
          seen: seen(4, 58),
        },
      ],
      ["b", { counts: [2, 0, 0, 0, 0, 0], level: "warn", errors: 0, worst: null, seen: seen(6, 7) }],
    ]);
  });

  it("use the smallest spans of time that are few enough", () => {
    expect([60_000, 3_600_000, 86_400_000, 40 * 86_400_000, 4000 * 86_400_000].map((ms) => binFor(ms, 48))).toEqual([
      ...[5000, 120_000, 1_800_000, 86_400_000, 84 * 86_400_000],
    ]);
  });

  it("are added to queries and excluded from them, whatever they contain", () => {
    const odd = 'said "<STR>" | (a OR b) \\ <N>';
    expect(withTest("", patternTest(odd))).toBe(`pattern:=${JSON.stringify(odd)}`);
    const query = withTest("a OR b", not(patternTest(odd)));
    expect(query).toBe(`(a OR b) -pattern:=${JSON.stringify(odd)}`);
    expect(parse(query).ok).toBe(true);
    expect(withTest("level:>=", patternTest("a"))).toBe("level:>=");
    expect([errorsOf(""), errorsOf("a OR b")]).toEqual(["level:>=error", "(a OR b) level:>=error"]);
    const tests = [
      valueTest("user.plan", "team"),
      valueTest("status", 504),
      valueTest('"a b"', true),
      valueTest("level", undefined),
    ];
    expect(tests.map((test) => test && withTest("", test))).toEqual([
      ...["user.plan:=team", "status:504", '"a b":true', "level:*"],
    ]);
    expect([valueTest("a", null), valueTest("a |", 1)]).toEqual([null, null]);
  });
});
