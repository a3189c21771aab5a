import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEVELS } from "../../../src/logs/entry.ts";
import { QUERY_BUDGET } from "../../../src/logs/query/budget.ts";
import { GROUPS, HistogramBody, INTERVALS, STATS_LIMITS } from "../../../src/logs/stats/histogram.ts";
import { runStats, type StatsAnswer } from "../../../src/logs/stats/run-stats.ts";
import { anyFilters, entryAt, type TestFilters, time } from "./arbitraries.ts";
import { passes } from "./reference.ts";
import { SEGMENT_KINDS, type TestEntry, TestStore } from "./store.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];
const START = 1_795_183_200_000;

interface Question {
  filters?: TestFilters;
  interval: keyof typeof INTERVALS;
  groupBy?: (typeof GROUPS)[number];
}

async function answerOf(store: TestStore, question: Question, pageBatches = 3): Promise<StatsAnswer> {
  const result = await runStats(store.stats(pageBatches), HistogramBody.parse(question), QUERY_BUDGET);
  if (!result.ok) throw new Error(result.reason);
  return result.answer;
}

/** A direct implementation of counting. */
function counted(entries: readonly TestEntry[], { interval, groupBy }: Question): StatsAnswer {
  const length = INTERVALS[interval];
  const starts = [...new Set(entries.map(({ timestamp }) => Math.floor(timestamp / length) * length))];
  const buckets = starts
    .sort((a, b) => a - b)
    .map((start) => {
      const inside = entries.filter(({ timestamp }) => timestamp >= start && timestamp < start + length);
      const bucket = { start: new Date(start).toISOString(), count: inside.length };
      if (groupBy === undefined) return bucket;
      const names = [...new Set(inside.flatMap((entry) => namesOf(entry, groupBy)))];
      const groups = names.map((name) => [
        name,
        inside.filter((entry) => namesOf(entry, groupBy).includes(name)).length,
      ]);
      return { ...bucket, groups: Object.fromEntries(groups) };
    });
  return { buckets, total: entries.length, complete: true };
}

function namesOf(entry: TestEntry, groupBy: (typeof GROUPS)[number]): string[] {
  return groupBy === "service" || groupBy === "host" ? ownTexts(entry, groupBy) : [entry[groupBy]];
}

/** The texts of the own member, or of what stands in its place in `data`. A table groups by the items of an array, not by those of arrays in it. */
function ownTexts(entry: TestEntry, name: "service" | "host"): string[] {
  if (entry[name] !== undefined) return [entry[name]];
  const data: unknown = entry.data === undefined ? {} : JSON.parse(JSON.stringify(entry.data));
  const [plain] = membersAt(data, name);
  const places = [[plain], membersAt(plain, "name"), membersAt(data, `${name}.name`)];
  const [first = []] = places.filter(([value]) => value !== undefined && !isObject(value));
  return first.flatMap((value) => [value].flat()).filter((text) => typeof text === "string");
}

function membersAt(value: unknown, name: string): unknown[] {
  return isObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe("runStats", () => {
  it("26: counts every entry of both tiers once, whatever the filters and whatever moves meanwhile", async () => {
    const batch = fc.record({
      project: fc.constantFrom(...PROJECTS),
      // Ingest accepts no name with a lone surrogate.
      entries: fc.array(entryAt(time).map(wellNamed), { minLength: 1, maxLength: 5 }),
    });
    const flush = fc.record({
      project: fc.constantFrom(...PROJECTS),
      count: fc.integer({ min: 1, max: 4 }),
      kind: fc.constantFrom(...SEGMENT_KINDS),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 8 }),
        anyFilters,
        // SAFETY: `Object.keys` of a literal returns exactly its keys.
        fc.constantFrom(...(Object.keys(INTERVALS) as (keyof typeof INTERVALS)[])),
        fc.option(fc.constantFrom(...GROUPS), { nil: undefined }),
        fc.record({
          pageBatches: fc.integer({ min: 1, max: 4 }),
          flushed: fc.array(flush, { maxLength: 4 }),
          moves: fc.array(fc.option(flush), { maxLength: 6 }),
          oldestMinute: fc.option(time),
        }),
        async (batches, filters, interval, groupBy, { pageBatches, flushed, moves, oldestMinute }) => {
          const store = new TestStore();
          for (const { project, entries } of batches) store.add(project, entries);
          for (const { project, count, kind } of flushed) store.flush(project, count, kind);
          const waiting = [...moves];
          store.beforePage = () => {
            const move = waiting.shift();
            if (move) store.flush(move.project, move.count, move.kind);
          };
          store.oldest = Math.floor((oldestMinute ?? 0) / 60_000) * 60_000;
          const wanted = store.rows.map(({ entry }) => entry).filter((entry) => passes(entry, filters, []));
          const question = { filters, interval, ...(groupBy === undefined ? {} : { groupBy }) };
          const kept = wanted.filter(({ timestamp }) => timestamp >= store.oldest);
          expect(await answerOf(store, question, pageBatches)).toEqual(counted(kept, question));
        },
      ),
      { numRuns: 600 },
    );
  });

  it("opens no body for level, category, type and whole minutes, and otherwise only those of partial minutes", async () => {
    const store = new TestStore();
    for (let at = 0; at < 20; at++) {
      store.add(
        "proj_00000000000a",
        Array.from({ length: 30 }, (_, n) => simple(START + (at * 30 + n) * 10_000)),
      );
      if (at === 9) store.flush("proj_00000000000a", 10);
    }
    const reads: number[] = [];
    const source = store.stats(100);
    const spied = {
      ...source,
      recent: (...args: Parameters<typeof source.recent>) => {
        reads.push(1);
        return source.recent(...args);
      },
    };
    const ask = (filters: object) =>
      runStats(spied, HistogramBody.parse({ filters, interval: "1m", groupBy: "level" }));
    const minutes = { from: START + 60_000, to: START + 50 * 60_000 };
    expect(await ask({ ...minutes, level: "info", category: "custom", type: "log" })).toMatchObject({
      ok: true,
      answer: { total: 49 * 6 },
    });
    expect(reads).toHaveLength(0);
    expect(await ask({ from: minutes.from + 5000, to: minutes.to + 5000 })).toMatchObject({
      answer: { total: 49 * 6 },
    });
    expect(reads).toHaveLength(2);
  });

  it("reports that a budget ended it, and refuses more buckets than a response may have", async () => {
    const store = new TestStore();
    for (let at = 0; at < 3; at++) store.add("proj_00000000000a", [simple(START + at * 60_000)]);
    const question = HistogramBody.parse({ filters: { search: "m" }, interval: "1m" });
    const result = await runStats(store.stats(5), question, { ...QUERY_BUDGET, work: 100 });
    expect(result).toMatchObject({ ok: true, answer: { total: 1, complete: false } });
    for (let at = 0; at < STATS_LIMITS.buckets; at++) store.add("proj_00000000000a", [simple(START - at * 60_000)]);
    expect(await runStats(store.stats(5000), HistogramBody.parse({ interval: "1m" }))).toEqual({
      ok: false,
      reason: "too_many",
    });
    expect(await answerOf(store, { interval: "1h" }, 5000)).toMatchObject({ total: STATS_LIMITS.buckets + 3 });
  });

  it.each(SEGMENT_KINDS)("counts by service and host what a filter on them finds, in segments of %s", async (kind) => {
    const store = new TestStore();
    const entries = [
      { ...simple(START), service: "checkout", host: "web-1" },
      {
        ...simple(START + 1),
        service: "checkout",
        data: { service: "other", host: { ip: "10.0.0.1", name: "web-2" } },
      },
      { ...simple(START + 2), data: { "service.name": "search", host: ["web-1", "web-3", "web-1", 5, null] } },
      { ...simple(START + 3), data: { service: 5, "service.name": "search", host: null } },
      { ...simple(START + 4), data: { service: { version: 1 }, "service.name": "checkout" } },
      simple(START + 5),
    ];
    const answers = async () => {
      const services = await answerOf(store, { interval: "1d", groupBy: "service" });
      const hosts = await answerOf(store, { interval: "1d", groupBy: "host" });
      return [services, hosts].map(({ total, buckets }) => ({ total, groups: buckets[0]?.groups }));
    };
    store.add("proj_00000000000a", entries);
    const expected = [
      { total: 6, groups: { checkout: 3, search: 1 } },
      { total: 6, groups: { "web-1": 2, "web-2": 1, "web-3": 1 } },
    ];
    expect(await answers()).toEqual(expected);
    store.flush("proj_00000000000a", 1, kind);
    expect(await answers()).toEqual(expected);
    for (const [name, count] of Object.entries({ checkout: 3, search: 1 })) {
      expect((await answerOf(store, { interval: "1d", filters: { service: name } })).total).toBe(count);
    }
  });

  it("counts groups of any name", async () => {
    const store = new TestStore();
    store.add("proj_00000000000a", [{ ...simple(START), category: "__proto__", type: "constructor" }]);
    const { buckets } = await answerOf(store, { interval: "1d", groupBy: "category" });
    expect(Object.entries(buckets[0]?.groups ?? {})).toEqual([["__proto__", 1]]);
    expect(JSON.stringify(buckets)).toContain('"groups":{"__proto__":1}');
  });
});

function wellNamed(entry: TestEntry): TestEntry {
  return { ...entry, category: entry.category.toWellFormed(), type: entry.type.toWellFormed() };
}

function simple(timestamp: number): TestEntry {
  return { timestamp, level: LEVELS[3], category: "custom", type: "log", message: "m" };
}
