import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "../../../src/query-language/parse.ts";
import { dollars, estimateCost, PRICES } from "../../../web/src/model/cost.ts";
import { keyUse } from "../../../web/src/pages/overview/key-use.ts";
import { countsOf, type NowAnswer, newestReleases, nowOf, patternQuery } from "../../../web/src/pages/overview/now.ts";

const SCALING = readFileSync(path.join(import.meta.dirname, "../../../docs/scaling.md"), "utf8");

test("prices are those of the scaling document", () => {
  expect(SCALING).toContain(`| **ingested** | **${PRICES.ingestPerMillion}** |`);
  expect(SCALING).toContain(`In batches of 1,000, ingest costs $${PRICES.ingestInLargeBatches}`);
  expect(SCALING.replaceAll("\n", " ")).toContain(`object storage $${PRICES.recentPerGb.toFixed(2)} a GB and month`);
  const [, megabytes = "", cost = ""] = /\| a month: ([\d.]+) MB in the bucket.*\| ([\d.]+) \|/.exec(SCALING) ?? [];
  expect((PRICES.storedPerGb * Number(megabytes)) / 1000).toBeCloseTo(Number(cost), 4);
});

test("an estimate adds both tiers, and does without the one that cannot be had", () => {
  const recent = { entries: 1, bytes: 1e9, oldestAt: null };
  const stored = { entries: 1, bytes: 10e9, segments: 1 };
  expect(estimateCost(2e6, { recent, stored })).toEqual({ ingest: { least: 0.02, most: 0.3 }, storage: 0.4 });
  expect(estimateCost(0, { recent, stored: null })).toEqual({ ingest: { least: 0, most: 0 }, storage: 0.2 });
});

test.each([
  [0, "$0"],
  [0.004, "under $0.01"],
  [1.4, "$1.40"],
  [1234.5, "$1,235"],
])("%d dollars are %s", (amount, text) => {
  expect(dollars(amount)).toBe(text);
});

test("minutes without a row are 0, and rows of other times are left out", () => {
  const now = Date.parse("2026-11-26T12:00:30.000Z");
  const rows = [
    ["2026-11-26T12:00:00.000Z", 5],
    ["2026-11-26T11:58:00.000Z", 7],
    ["2026-11-26T10:58:00.000Z", 9],
    ["2026-11-26T12:03:00.000Z", 9],
  ];
  const of = (table: Parameters<typeof countsOf>[0]) => countsOf(table, now, 60_000, 60).map(({ count }) => count);
  const minutes = of({ columns: [{ name: "time" }, { name: "n" }], rows });
  expect(minutes).toHaveLength(60);
  expect(minutes.slice(-4)).toEqual([0, 7, 0, 5]);
  expect(minutes.reduce((a, b) => a + b)).toBe(12);
  expect(of(undefined)).toEqual(Array(60).fill(0));
});

describe("answers of the overview", () => {
  const now = Date.parse("2026-11-26T12:00:30.000Z");
  const at = (hours: number) => new Date(now - hours * 3_600_000).toISOString();
  const answer = (rows: unknown[][], change: Partial<NowAnswer> = {}): NowAnswer => ({
    columns: ["time", "n"].map((name) => ({ name, type: "string" })),
    ...{ rows, ok: true, exact: true, complete: true, matched: 0 },
    ...change,
  });
  // SAFETY: what a batch answers to a query that it refuses.
  const refused = { ok: false } as NowAnswer;

  test("that are whole are exact", () => {
    const counts = answer([[new Date(now - 60_000).toISOString(), 10]]);
    const shown = nowOf([counts, answer([[at(1), 3]]), answer([]), answer([]), answer([])], now);
    expect(shown).toMatchObject({ rate: 2, errors: { total: 3, isExact: true } });
    expect(nowOf([counts, answer([]), answer([])], now).errors).toMatchObject({ total: 0, isExact: true });
  });

  test("that are refused, missing or lack entries are not taken for zero", () => {
    const partial = { complete: false };
    const services = answer([["shop", 3]], { ...partial, columns: [{ name: "service", type: "string" }] });
    for (const none of [refused, undefined]) {
      const { rate, errors } = nowOf([none, none, none, none, none], now);
      expect([rate, errors.total, errors.isExact, errors.services]).toEqual([null, 0, false, []]);
      expect(newestReleases(none, now)).toBe(null);
    }
    const { rate, errors } = nowOf([answer([], partial), answer([[at(1), 3]], partial), services], now);
    expect([rate, errors.total, errors.isExact, errors.services]).toEqual([null, 3, false, []]);
    expect(newestReleases(answer([], partial), now)).toBe(null);
    expect(newestReleases(answer([]), now)).toEqual([]);
  });

  test("tell what is new only if the day before has entries", () => {
    const isComparable = (warnings: NowAnswer) =>
      nowOf([undefined, undefined, undefined, warnings], now).patterns.isComparable;
    expect(isComparable(answer([[at(1), 500]]))).toBe(false);
    expect(
      isComparable(
        answer([
          [at(1), 500],
          [at(30), 1],
        ]),
      ),
    ).toBe(true);
    expect(
      isComparable(
        answer([
          [at(1), 5000],
          [at(30), 5],
        ]),
      ),
    ).toBe(false);
    expect(isComparable(answer([]))).toBe(true);
    expect(isComparable(refused)).toBe(true);
  });
});

test("a pattern is asked for as it is, whatever characters it has", () => {
  for (const pattern of ["Order <N> of <UUID> could not be paid", 'said <STR> and \\ | "x"', "a\nb"]) {
    expect(parse(patternQuery(pattern))).toMatchObject({ ok: true, query: { pipes: [] } });
    expect(JSON.stringify(parse(patternQuery(pattern)))).toContain(JSON.stringify(pattern).slice(1, -1));
  }
});

test("keys without use are told apart by their age", () => {
  const now = Date.parse("2026-11-27T12:00:00.000Z");
  const key = (id: string, createdAt: string, lastUsedAt: string | null) => {
    // SAFETY: the members that are read.
    return { id, createdAt, lastUsedAt } as Parameters<typeof keyUse>[0][number];
  };
  const keys = [
    key("old", "2026-10-01T00:00:00.000Z", null),
    key("forgotten", "2026-01-01T00:00:00.000Z", "2026-10-27T00:00:00.000Z"),
    key("used", "2026-01-01T00:00:00.000Z", "2026-11-27T00:00:00.000Z"),
    key("young", "2026-11-20T00:00:00.000Z", null),
  ];
  const { unused, young, hasMore } = keyUse(keys, now);
  expect([unused, young].map((list) => list.map(({ id }) => id))).toEqual([["old", "forgotten"], ["young"]]);
  expect(hasMore).toBe(false);
});
