import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countsOf, errorPeak, newerHalf } from "../../../../web/src/pages/investigate/compare/counts.ts";
import {
  type Facets,
  fieldDifferences,
  numberFields,
} from "../../../../web/src/pages/investigate/compare/field-differences.ts";
import { baseSpan, customSpan, nowSpan } from "../../../../web/src/pages/investigate/compare/spans-of-time.ts";

const COLUMNS = ["field", "type", "entries", "value", "count"].map((name) => ({ name, type: "string" }));

type Fields = Record<string, Record<string, number>>;

/** Facets of entries whose fields have these values so often. */
function facets(matched: number, fields: Fields): Facets {
  const rows = Object.entries(fields).flatMap(([field, values]) => {
    const entries = Object.values(values).reduce((sum, count) => sum + count, 0);
    return Object.entries(values).map(([value, count]) => [field, "string", entries, value, count]);
  });
  return { columns: COLUMNS, rows, matched };
}

const LISTED = 50;

describe("19.3: fields that differ between two spans", () => {
  it("rank by the value whose share differs most, and ids and equal fields are left out", () => {
    const ids = (from: number) => Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`id-${from + n}`, 1]));
    const before = facets(1000, {
      status: { "200": 980, "504": 20 },
      host: { "eu-1": 500, "eu-2": 500 },
      route: { "/cart": 600, "/checkout": 400 },
      "user.id": ids(0),
    });
    const now = facets(1000, {
      status: { "200": 400, "504": 600 },
      host: { "eu-1": 510, "eu-2": 490 },
      route: { "/cart": 300, "/checkout": 700 },
      "user.id": ids(100),
      "error.name": { GatewayTimeout: 590 },
    });
    const found = fieldDifferences(before, now, LISTED);
    expect(found.map(({ field }) => field)).toEqual(["error.name", "status", "route"]);
    expect(found[1]?.values[0]).toMatchObject({ before: 20, now: 600, beforeShare: 0.02, nowShare: 0.6 });
    // The field as a whole is new, too.
    expect(found[0]?.values.map(({ value }) => value)).toEqual([undefined, "GatewayTimeout"]);
  });

  it("less the margin of error: a large difference of few entries comes after a smaller one of many", () => {
    const before = facets(4, { few: { a: 0, b: 4 } });
    const now = facets(4, { few: { a: 4, b: 0 } });
    const [few] = fieldDifferences(before, now, LISTED);
    expect(few?.score).toBeGreaterThan(0);
    const [many] = fieldDifferences(
      facets(4000, { many: { a: 100, b: 3900 } }),
      facets(4000, { many: { a: 2400, b: 1600 } }),
      LISTED,
    );
    expect(many?.score).toBeGreaterThan(few?.score ?? 1);
    expect(fieldDifferences(facets(3, { x: { a: 3 } }), facets(3, { x: { a: 1, b: 2 } }), LISTED)).toEqual([]);
  });

  it("does not take a value that a full list lacks for missing", () => {
    const values = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`v${n}`, 100]));
    const before = facets(1000, { x: values });
    // v3 may have 100 entries before, too.
    const [found] = fieldDifferences(before, facets(1000, { x: { ...values, v3: 90 } }), 3);
    expect(found?.values.map(({ value }) => value)).toEqual([undefined]);
    expect(fieldDifferences(before, facets(1000, { x: { v0: 100, v3: 400 } }), 3)[0]?.values[0]?.value).toBe("v3");
  });

  it("is the same in both directions, and none for equal spans", () => {
    const counts = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.nat(200), { minKeys: 1 });
    const fields = fc.dictionary(fc.constantFrom("x", "y"), counts, { minKeys: 1 });
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        const [a, b] = [facets(700, one), facets(900, other)];
        const there = fieldDifferences(a, b, LISTED);
        const back = fieldDifferences(b, a, LISTED);
        expect(back.map(({ field }) => field)).toEqual(there.map(({ field }) => field));
        expect(fieldDifferences(a, a, LISTED)).toEqual([]);
        for (const { score } of there) expect(score > 0 && score < 1).toBe(true);
      }),
    );
  });

  it("without entries there is none", () => {
    expect(fieldDifferences(facets(0, {}), facets(0, {}), LISTED)).toEqual([]);
  });

  it("of numbers of many sizes are compared by their distribution", () => {
    const many = Array.from({ length: 12 }, (_, n) => ["ms", "number", 500, n, 1]);
    const few = [200, 500].map((status) => ["status", "number", 900, status, 1]);
    expect(numberFields([{ columns: COLUMNS, rows: [...many, ...few] }])).toEqual(["ms"]);
  });
});

describe("19.3: spans that are compared", () => {
  const HOUR = 3_600_000;
  const now = { start: 100 * HOUR, end: 102 * HOUR };

  it("are the one before, yesterday's, last week's, or given times", () => {
    expect(baseSpan(now, "before", null)).toEqual({ start: 98 * HOUR, end: 100 * HOUR });
    expect(baseSpan(now, "1d", null)).toEqual({ start: 76 * HOUR, end: 78 * HOUR });
    const later = { start: 200 * HOUR, end: 202 * HOUR };
    expect(baseSpan(later, "7d", null)).toEqual({ start: 32 * HOUR, end: 34 * HOUR });
    expect(baseSpan(now, "custom", { start: 1, end: 2 })).toEqual({ start: 1, end: 2 });
    expect(baseSpan(now, "custom", null)).toEqual({ start: 98 * HOUR, end: 100 * HOUR });
  });

  it("have no part before 1970, which the service refuses", () => {
    expect(baseSpan({ start: HOUR, end: 3 * HOUR }, "before", null)).toEqual({ start: 0, end: HOUR });
    expect(baseSpan({ start: 23 * HOUR, end: 25 * HOUR }, "1d", null)).toEqual({ start: 0, end: HOUR });
    expect(baseSpan({ start: 167 * HOUR, end: 169 * HOUR }, "7d", null)).toEqual({ start: 0, end: HOUR });
    for (const base of ["before", "1d", "7d", "custom"] as const)
      expect(baseSpan({ start: 0, end: 2 * HOUR }, base, null), base).toBe(null);
    expect(baseSpan({ start: 0, end: 24 * HOUR }, "1d", null)).toBe(null);
    // A range without a beginning reaches back as far as entries are kept.
    expect(nowSpan({ kind: "between", from: null, to: "" }, { start: -HOUR, end: HOUR })).toEqual({
      start: 0,
      end: HOUR,
    });
    expect(nowSpan({ kind: "between", from: null, to: "" }, { start: -HOUR, end: 0 })).toEqual({ start: 0, end: 1 });
  });

  it("of a relative range are both as long as its name says", () => {
    const times = { start: now.start, end: now.end + 34_567 };
    const span = nowSpan({ kind: "last", preset: "2h" }, times);
    expect([span.end, span.end - span.start]).toEqual([times.end, 2 * HOUR]);
    expect(nowSpan({ kind: "between", from: null, to: null }, times)).toEqual(times);
  });

  it("have spans of time that are counted in part, and a peak of errors with the time before it", () => {
    const bins = { start: 100 * HOUR, binMs: HOUR, spans: 6 };
    const columns = ["time", "level", "count"].map((name) => ({ name, type: "string" }));
    const of = (errors: number[], info: number[]) => {
      const rowsOf = (level: string, counts: number[]) =>
        counts.map((count, at) => [new Date(bins.start + at * HOUR).toISOString(), level, count]);
      const rows = [...rowsOf("error", errors), ...rowsOf("info", info)];
      return countsOf({ columns, rows }, bins, { start: bins.start + 1, end: bins.start + 6 * HOUR - 1 });
    };
    const counts = of([0, 0, 1, 10, 6, 2], [9, 9, 9, 9, 9, 9]);
    expect(counts.partial).toEqual([true, false, false, false, false, true]);
    expect([counts.values, counts.errors]).toEqual([
      [9, 9, 10, 19, 15, 11],
      [0, 0, 1, 10, 6, 2],
    ]);
    expect(errorPeak(counts)).toEqual({ start: 103 * HOUR, end: 105 * HOUR });
    // No errors, and no entries before the peak.
    expect([errorPeak(of([], [9])), errorPeak(of([3, 0, 0], [0, 9]))]).toEqual([null, null]);
    // Of an odd number of spans of time with entries, the oldest one is left out.
    expect(newerHalf(of([], [0, 9, 9, 9, 0, 9]), 9)).toEqual({ start: 104 * HOUR, end: 106 * HOUR });
    expect(newerHalf(of([], [0, 9, 9, 9, 0, 0]), 9)).toEqual({ start: 103 * HOUR, end: 104 * HOUR });
    // Too few entries in a half, in one span of time, and none.
    const few = [of([], [0, 9, 1, 9, 0, 0]), of([], [0, 99]), of([], [])];
    expect(few.map((each) => newerHalf(each, 9))).toEqual([null, null, null]);
  });

  it("of an address are read only if they are times in order", () => {
    const [from, to] = ["2026-11-22T00:00:00.000Z", "2026-11-22T01:00:00.000Z"];
    const span = { start: Date.parse(from), end: Date.parse(to) };
    const read = (params: Record<string, string>) => {
      const ignored: string[] = [];
      return { span: customSpan(new URLSearchParams(params), ["from", "to"], ignored), ignored };
    };
    expect(read({ from, to })).toEqual({ span, ignored: [] });
    expect(read({ from: String(span.start), to })).toEqual({ span, ignored: [] });
    expect(read({})).toEqual({ span: null, ignored: [] });
    // What is there and not used is named.
    expect(read({ from: to, to: from })).toEqual({ span: null, ignored: ["from", "to"] });
    expect(read({ from })).toEqual({ span: null, ignored: ["from"] });
    for (const wrong of ["x", "-1", "-271821-04-20", "1969-12-31T23:59:59Z"])
      expect(read({ from: wrong, to }), wrong).toEqual({ span: null, ignored: ["from"] });
    expect(read({ from, to: "+275760-09-13" })).toEqual({ span: null, ignored: ["to"] });
  });
});
