import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GENES, type Genome } from "../../../bench/worst-query-genes.ts";
import { encodeBody, type RecentBatch } from "../../../src/logs/batch.ts";
import { parseStoredLine } from "../../../src/logs/entry.ts";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { QUERY_BUDGET, UNIT_NS, WorkMeter } from "../../../src/logs/query/budget.ts";
import { matchesFilter } from "../../../src/logs/query/filter.ts";
import { piecesOf } from "../../../src/logs/query/lines.ts";
import { LeasedMemory, UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import type { RecentScan } from "../../../src/logs/query/recent-feed.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { queryMemory } from "../../../src/platform/isolate-memory.ts";
import { entryAt, time } from "./arbitraries.ts";
import { answered, copied, lineOf, TestStore } from "./store.ts";

const PROJECT = "proj_00000000000a";
const TWO_SECONDS = 2e9 / UNIT_NS;
const HEAD = '{"timestamp":"2026-11-20T14:00:00.000Z","level":"info","category":"http","type":"request"';

const NOW = "2026-11-20T14:00:00.000Z";

/**
 * Batches of the same lines, each a millisecond older than the one before. @param isTimed whether the lines are, too
 */
function sourceOf(raw: Buffer, batches: number, isTimed = false) {
  const count = raw.toString("latin1").split("\n").length;
  const body = encodeBody(raw);
  const batch = (at: number): RecentBatch => {
    const timestamp = Date.parse(NOW) - at;
    const lines = () =>
      Buffer.from(raw.toString("latin1").replaceAll(NOW, new Date(timestamp).toISOString()), "latin1");
    const place = { commit: batches - at, projectId: PROJECT, firstSeq: (batches - at - 1) * count + 1, count };
    return {
      ...place,
      minTimestamp: timestamp,
      maxTimestamp: timestamp,
      receivedAt: timestamp,
      ...(isTimed ? encodeBody(lines()) : body),
    };
  };
  const all = Array.from({ length: batches }, (_, at) => batch(at));
  const unused = (): never => expect.fail("All is in the recent tier.");
  return {
    workspaceId: "ws_000000000001",
    recent: async ({ order, from, to, levelMask, position }: RecentScan) => {
      const ordered = order === "desc" ? all : all.toReversed();
      const begin = position === null ? 0 : ordered.findIndex(({ commit }) => commit === position.commit);
      const found = ordered
        .slice(begin)
        .filter(({ minTimestamp, maxTimestamp }) => maxTimestamp >= (from ?? 0) && minTimestamp < (to ?? Infinity))
        .filter(() => levelMask !== 0);
      return {
        ...{ asOf: batches, lastCommit: batches, scope: PROJECT, flushed: [], oldest: 0 },
        ...{ batches: found.map(copied), next: null },
      };
    },
    cold: { findSegments: unused, readBodies: unused, readFiles: unused, segmentsBySeq: unused },
    report: unused,
  };
}

/** A body with as many entries as fit, each a list of small objects. */
function listBody(items: number): Buffer {
  const line = `${HEAD},"message":"m","data":{"a":[${'{"a":"ab"},'.repeat(items).slice(0, -1)}]}}`;
  return Buffer.from(new Array(20).fill(line).join("\n"));
}

function inTests(paths: number): Record<string, unknown> {
  const values = Array.from({ length: 1000 }, (_, index) => `v${index}`);
  return Object.fromEntries(Array.from({ length: paths }, (_, at) => [`a.${at}.a`, { in: values }]));
}

describe("A2: a query", () => {
  it.each([18_000, 9_000])(
    "of a thousand values on ten paths over lists of %i objects does at most 2 s of counted work",
    async (items) => {
      const raw = listBody(items);
      const source = sourceOf(raw, 20);
      for (const paths of [1, 10, 100]) {
        const query = QueryBody.parse({ filters: { data: inTests(paths) } });
        const result = await runQuery(source, query, () => 0);
        if (!result.ok) throw new Error(result.reason);
        expect(result.work).toBeLessThan(TWO_SECONDS);
        // Linear in the bytes, whatever the number of values and paths.
        expect(result.work / (result.page.stats.scanned / 20) / raw.length).toBeLessThan(20);
      }
    },
  );

  it("ends in the middle of a batch if its work is used up, and its cursor advances", async () => {
    const raw = listBody(9_000);
    const source = sourceOf(raw, 6, true);
    // Less than the work of one batch.
    const budget = { ...QUERY_BUDGET, work: 3_000_000 };
    const body = { filters: { data: { "a.0.a": "ab" } } };
    const seen: number[] = [];
    let pages = 0;
    for (let cursor: string | undefined; ; pages++) {
      const query = QueryBody.parse({
        ...body,
        pagination: cursor === undefined ? { limit: 1000 } : { cursor, limit: 1000 },
      });
      const result = await runQuery(source, query, () => 0, budget);
      if (!result.ok) throw new Error(result.reason);
      const { logs, pagination } = answered(result.page);
      seen.push(...logs.map(({ seq }) => seq));
      if (pagination.nextCursor === null) break;
      expect(result.page.complete).toBe(false);
      cursor = pagination.nextCursor;
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => 120 - index));
    expect(pages).toBeGreaterThan(3);
    expect(pages).toBeLessThan(12);
  });

  it("pauses within a batch, at most one line after its stretch", () => {
    const stretch = 1_000_000;
    for (const raw of [listBody(18_000), ...WORST.map((genome) => GENES.bodyOf(genome, 2_000_000))]) {
      const longest = Math.max(
        ...raw
          .toString("latin1")
          .split("\n")
          .map(({ length }) => length),
      );
      for (const filters of [
        { data: inTests(4) },
        { search: "x" },
        ...WORST.map((genome) => GENES.filtersOf(genome)),
      ]) {
        const meter = new WorkMeter(stretch);
        const matcher = new BatchMatcher(QueryBody.parse({ filters }).filter, meter);
        let before = 0;
        const nothing = () => undefined;
        for (const _ of matcher.steps(piecesOf(raw), () => true, nothing, nothing)) {
          expect(meter.done - before).toBeLessThan(stretch + 40 * (longest + 64 * 1024) + 200_000);
          before = meter.done;
          meter.paused(stretch);
        }
      }
    }
  });

  it("does bounded work on the worst known input, as a page, with a total, and as a histogram", async () => {
    for (const genome of WORST) {
      const source = sourceOf(GENES.bodyOf(genome, 4 * 1024 * 1024), 40);
      const filters = GENES.filtersOf(genome);
      for (const order of ["asc", "desc"]) {
        const pagination = { limit: 1000, offset: 10_000, includeTotal: order === "asc" };
        const result = await runQuery(source, QueryBody.parse({ filters, order, pagination }), () => 0);
        expect(result.ok && result.work).toBeLessThan(TWO_SECONDS);
      }
      const none = { read: async () => ({ segments: [], next: null }), max: 1 };
      const stats = { ...source, recentCounts: () => expect.fail(), levels: none, summaries: none };
      const counted = await runStats(stats, HistogramBody.parse({ filters, interval: "1m", groupBy: "type" }));
      expect(counted.ok).toBe(true);
    }
  }, 120_000);
});

describe("a line read in its bytes", () => {
  const verdict = (line: string, filters: object) => {
    const { filter } = QueryBody.parse({ filters });
    let result = "fails";
    new BatchMatcher(filter).forEachMatch(
      Buffer.from(line, "latin1"),
      () => true,
      () => {
        result = "passes";
      },
      () => {
        result = "damaged";
      },
    );
    return result;
  };

  it("gets the verdict of JSON.parse, whichever byte is changed", () => {
    // Tests that no part of a line alone can decide.
    const filters = fc.constantFrom({ data: { a: { ne: 1 } } }, { data: { "a.b": { exists: false } } });
    fc.assert(
      fc.property(entryAt(time), filters, fc.nat(), fc.integer({ min: 32, max: 126 }), (entry, wanted, at, byte) => {
        const bytes = Buffer.from(lineOf(entry));
        bytes[at % bytes.length] = byte;
        const entryRead = parseStoredLine(bytes.toString("utf8"));
        const { filter } = QueryBody.parse({ filters: wanted });
        const expected = entryRead === null ? "damaged" : matchesFilter(filter, entryRead, 0) ? "passes" : "fails";
        const found = verdict(bytes.toString("latin1"), wanted);
        // The reader checks the line's head for time and level first, so both may find damage in different places.
        if (found !== "damaged" || expected !== "damaged") expect(found).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });

  it("uses the last of two members with one name, like JSON.parse", () => {
    const line = (data: string) => `${HEAD},"message":"m","data":${data}}`;
    expect(verdict(line('{"a":1,"a":2}'), { data: { a: 2 } })).toBe("passes");
    expect(verdict(line('{"a":2,"a":1}'), { data: { a: 2 } })).toBe("fails");
    expect(verdict(line('{"a":{"b":2},"a":{"c":1}}'), { data: { "a.b": 2 } })).toBe("fails");
    expect(verdict(line('{"a":{"b":2},"a":{"b":2}}'), { data: { "a.b": 2 } })).toBe("passes");
  });
});

describe("A3: the memory of reads", () => {
  it("ends a page if no memory is left for more rows, and the next page continues", async () => {
    const store = new TestStore();
    for (let batch = 0; batch < 10; batch++) {
      store.add(
        PROJECT,
        Array.from({ length: 20 }, (_, index) => ({
          timestamp: GENES.time + batch * 20 + index,
          level: "info" as const,
          category: "http",
          type: "request",
          message: "m".repeat(100),
        })),
      );
    }
    const memory = { ...UNBOUNDED_MEMORY, canHoldRows: (bytes: number) => bytes <= 5000 };
    const seen: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const pagination = { limit: 1000, ...(cursor === undefined ? { offset: 15 } : { cursor }) };
      const result = await runQuery(store.logs(5), QueryBody.parse({ pagination }), () => 0, QUERY_BUDGET, memory);
      if (!result.ok) throw new Error(result.reason);
      const page = answered(result.page);
      seen.push(...page.logs.map(({ seq }) => seq));
      if (page.pagination.nextCursor === null) break;
      expect(page.complete).toBe(false);
      cursor = page.pagination.nextCursor;
    }
    expect(seen).toEqual(Array.from({ length: 185 }, (_, index) => 185 - index));
  });

  it("is shared: a read waits for it, grows only if memory is free, and releases it", async () => {
    const full = queryMemory.tryTake(queryMemory.capacity);
    let isBegun = false;
    const waiting = LeasedMemory.take(1000).then((memory) => {
      isBegun = true;
      return memory;
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(isBegun).toBe(false);
    full?.release();
    const memory = await waiting;
    if (memory === null) throw new Error("There is room.");
    expect(memory.canHoldRows(1_000_000)).toBe(true);
    expect(memory.canHoldRows(queryMemory.capacity)).toBe(false);
    expect(memory.grantInput(2_000_000, 500_000)).toBe(500_000);
    memory.keep(300_000);
    expect(queryMemory.held).toBe(300_000);
    memory.release();
    expect(queryMemory.held).toBe(0);
  });
});

/** The costliest queries that `bench/worst-query.ts` found with several seeds. */
const WORST: readonly Genome[] = [
  {
    ...{ message: { atom: '"', times: 70, tail: "" }, shape: "text", name: "aaaaaaaa", items: 47, session: true },
    ...{ text: { atom: "İ", times: 85, tail: "ab" }, search: { atom: "İ", times: 2, tail: "A" }, wantsSession: true },
    ...{ names: 1000, includeTotal: true },
    tests: [{ path: "aaaaaaaa", op: "ne", value: { atom: " ", times: 9, tail: "" }, count: 10 }],
  },
  {
    ...{ message: { atom: "ß", times: 1, tail: " " }, shape: "numbers", name: 'q"', items: 1, session: false },
    ...{ text: { atom: "ß", times: 2778, tail: "" }, search: null, wantsSession: false, names: 20, includeTotal: true },
    tests: [
      { path: "1", op: "eq", value: { atom: "\ud800", times: 9, tail: "\n" }, count: 1 },
      { path: "0", op: "ne", value: { atom: "é", times: 1, tail: "Σ" }, count: 1 },
    ],
  },
  {
    ...{ message: { atom: "k", times: 200, tail: "b" }, shape: "strings", name: "a", items: 9000, session: false },
    ...{
      text: { atom: "K", times: 22, tail: "\u212a" },
      search: { atom: "k", times: 200, tail: "x" },
      wantsSession: false,
    },
    ...{ names: 0, includeTotal: true },
    tests: [{ path: "a", op: "absent", value: { atom: "a", times: 60, tail: "" }, count: 100 }],
  },
  {
    ...{ message: { atom: "a", times: 1, tail: "" }, shape: "deep", name: "a", items: 5000, session: false },
    ...{
      text: { atom: "\u0001", times: 3, tail: "" },
      search: { atom: "\u0001", times: 3, tail: "x" },
      wantsSession: false,
    },
    ...{ names: 0, includeTotal: false },
    tests: [{ path: "a", op: "in", value: { atom: "\u0001", times: 20, tail: "" }, count: 100 }],
  },
];

describe("A2: a query's body", () => {
  const issues = (filters: object) => {
    const result = QueryBody.safeParse({ filters });
    return result.success ? [] : result.error.issues.map(({ path, message }) => [path.join("."), message]);
  };

  it("is refused at its first bad value of a list, within bounded time", () => {
    const data = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`p${at}`, { in: new Array(1000).fill({}) }]),
    );
    expect(issues({ data })).toHaveLength(100);
    expect(issues({ data: { a: { in: [1, "x", null, true, []] } } })).toEqual([
      ["filters.data.a.in.4", "Must be a string, a number, a boolean or null."],
    ]);
    for (const list of [[], new Array(1001).fill(1), "x", { 0: 1 }]) {
      expect(issues({ data: { a: { in: list } } })).toEqual([
        ["filters.data.a.in", "Must be a non-empty list of at most 1000 values."],
      ]);
    }
  });

  it("is refused for too many paths before parsing them, and for a path deeper than any data", () => {
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, {}]));
    expect(issues({ data })).toEqual([["filters.data", "Must name at most 100 paths."]]);
    expect(issues({ data: { [new Array(65).fill("a").join(".")]: 1 } })).toHaveLength(1);
    expect(issues({ data: { [new Array(64).fill("a").join(".")]: 1 } })).toEqual([]);
  });
});
