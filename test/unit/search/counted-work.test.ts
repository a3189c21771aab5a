import { describe, expect, it, vi } from "vitest";
import { UNIT_NS, WorkMeter } from "../../../src/logs/query/budget.ts";
import { completionAt } from "../../../src/logs/search/completion.ts";
import { FacetCounts } from "../../../src/logs/search/facet-counts.ts";
import { runSearch } from "../../../src/logs/search/run-search.ts";
import { runSuggest } from "../../../src/logs/search/run-suggest.ts";
import type { SearchSource } from "../../../src/logs/search/search-query.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { type SegmentKind, type TestEntry, TestStore } from "../query/store.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const PROJECT = "proj_00000000000a";
const TIERS: readonly ("recent" | SegmentKind)[] = ["recent", "lines", "bucket"];

function entry(at: number, message: string, data?: Record<string, unknown>): TestEntry {
  const own = { level: "info", category: "custom", type: "log" } as const;
  return { timestamp: NOW - 1000 + at, ...own, message, ...(data === undefined ? {} : { data }) };
}

function storeOf(entries: TestEntry[], tier: (typeof TIERS)[number]): TestStore {
  const store = new TestStore();
  store.add(PROJECT, entries);
  if (tier !== "recent") store.flush(PROJECT, 1, tier);
  return store;
}

/** Returns the nanoseconds that a search counts. */
async function countedNs(store: TestStore, text: string): Promise<number> {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message}`);
  const source = store.stats(3);
  const { workspaceId, report, cold } = source;
  const search: SearchSource = {
    ...source,
    bySeq: (projectId) => ({ scope: { workspaceId, projectId, report }, recent: store.bySeq(projectId, 2), cold }),
  };
  const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: null, limit: 100, cursor: null };
  const result = await runSearch(search, { ...wanted, query: parsed.query });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.work * UNIT_NS;
}

describe("the counted work of facets", () => {
  const workOf = (data: Record<string, unknown>) => {
    const meter = new WorkMeter();
    const counts = new FacetCounts(() => true, meter);
    counts.begin();
    counts.addAll(data, []);
    return meter.done;
  };

  it("has each item of an array, also null and nested ones", () => {
    for (const item of [null, [], 1, "x"]) {
      expect(workOf({ a: Array.from({ length: 1000 }, () => item) }), JSON.stringify(item)).toBeGreaterThan(100_000);
    }
  });

  it("has the name of a field for each member, and once for the items of an array", () => {
    const name = "n".repeat(10_000);
    const few = workOf({ [name]: [1] });
    expect(few).toBeGreaterThan(name.length);
    expect(workOf({ [name]: Array.from({ length: 100 }, () => 1) })).toBeLessThan(2 * few);
    const members = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${name}${at}`, 1]));
    expect(workOf(members)).toBeGreaterThan(50 * few);
  });
});

describe.each(TIERS)("the counted work of patterns in %s", (tier) => {
  const store = storeOf(
    Array.from({ length: 40 }, (_, at) => entry(at, `${at}'"x `.repeat(200))),
    tier,
  );

  it("has each quote of each message that a filter tests", async () => {
    // At least 200 ns of each quote.
    expect(await countedNs(store, "pattern:*qqq*zzz")).toBeGreaterThan(40 * 400 * 200);
  });

  it("has each pattern once if a filter has many tests of it", async () => {
    const many = Array.from({ length: 15 }, (_, at) => `pattern:*qqq${at}*zzz`).join(" OR ");
    expect(await countedNs(store, many)).toBeLessThan(5 * (await countedNs(store, "pattern:*qqq*zzz")));
  });
});

describe.each(TIERS)("the counted work of order and fields in %s", (tier) => {
  const quotes = storeOf(
    Array.from({ length: 40 }, (_, at) => entry(at, `${at}'"x `.repeat(200))),
    tier,
  );
  const items = storeOf(
    Array.from({ length: 4 }, (_, at) => entry(at, "m", { a: Array.from({ length: 5000 }, (__, item) => item % 10) })),
    tier,
  );

  it.each(["sort", "limit 40 | sort", "fields"])("has patterns and the items of lists: %s", async (pipe) => {
    // At least 200 ns of each quote, and 50 ns of each item.
    expect(await countedNs(quotes, `* | ${pipe} pattern`)).toBeGreaterThan(40 * 400 * 200);
    expect(await countedNs(items, `* | ${pipe} a`)).toBeGreaterThan(4 * 5000 * 50);
  });
});

describe.each(TIERS)("the counted work of tests in %s", (tier) => {
  const lists = storeOf(
    Array.from({ length: 4 }, (_, at) =>
      entry(at, "m", {
        n: Array.from({ length: 5000 }, (__, item) => item % 10),
        t: Array.from({ length: 5000 }, (__, item) => `\u00fc${item % 1000}`),
      }),
    ),
    tier,
  );
  const wide = storeOf(
    Array.from({ length: 4 }, (_, at) =>
      entry(at, "m", Object.fromEntries(Array.from({ length: 2000 }, (__, item) => [`k${at}_${item}`, item]))),
    ),
    tier,
  );
  const some = (count: number, test: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => test(at)).join(" OR ");

  it.skipIf(tier === "bucket")("has each item of long lists for each test", async () => {
    // At least 50 ns of each item.
    expect(
      await countedNs(
        lists,
        some(4, (at) => `n:*x${at}*y`),
      ),
    ).toBeGreaterThan(4 * 4 * 5000 * 50);
    expect(
      await countedNs(
        lists,
        some(9, (at) => `n:*x${at}*y`),
      ),
    ).toBeGreaterThan(9 * 4 * 5000 * 50);
    expect(
      await countedNs(
        lists,
        some(4, (at) => `t:xyzw\u00e4${at}`),
      ),
    ).toBeGreaterThan(4 * 4 * 5000 * 50);
  });

  it.skipIf(tier === "bucket")("has each member of wide entries for each text", async () => {
    // At least 250 ns of each member.
    expect(
      await countedNs(
        wide,
        some(4, (at) => `zz${at}*q`),
      ),
    ).toBeGreaterThan(4 * 4 * 2000 * 250);
    expect(
      await countedNs(
        wide,
        some(9, (at) => `zz${at}*q`),
      ),
    ).toBeGreaterThan(9 * 4 * 2000 * 250);
  });

  it.skipIf(tier === "bucket")("has the members of lines that are parsed whole", async () => {
    // At least 300 ns of each member of a wide object.
    expect(
      await countedNs(
        wide,
        some(200, (at) => `x${at}:y`),
      ),
    ).toBeGreaterThan(4 * 2000 * 300);
  });

  it.skipIf(tier === "bucket")("has new names more than repeated ones, also of small objects", async () => {
    const narrow = (name: (at: number, item: number) => string) =>
      storeOf(
        Array.from({ length: 4 }, (_, at) =>
          entry(at, "m", { list: Array.from({ length: 2000 }, (__, item) => ({ [name(at, item)]: item })) }),
        ),
        tier,
      );
    const fresh = narrow((at, item) => `k${at}${10_000 + item}`);
    const known = narrow(() => "k000000");
    for (const query of ["z*q", "-list.x:1", "* | facets", "* | where z*q"]) {
      const more = (await countedNs(fresh, query)) - (await countedNs(known, query));
      // At least 700 ns of each of them.
      expect(more, query).toBeGreaterThan(4 * 2000 * 700);
    }
  });

  it("has each member of wide entries for facets", async () => {
    expect(await countedNs(wide, "* | facets")).toBeGreaterThan(4 * 2000 * 700);
  });
});

describe.each(["recent", "lines"] as const)("the counted work of a histogram by an own member in %s", (tier) => {
  async function countedBy(values: readonly unknown[]): Promise<number> {
    const store = storeOf(
      Array.from({ length: 4 }, (_, at) => entry(at, "m", { service: values })),
      tier,
    );
    const added = vi.spyOn(WorkMeter.prototype, "add");
    await runStats(store.stats(3), HistogramBody.parse({ interval: "1d", groupBy: "service" }));
    const units = added.mock.calls.reduce((sum, [each]) => sum + each, 0);
    added.mockRestore();
    return units * UNIT_NS;
  }

  it("has each item of a list, and each character of a text outside ASCII", async () => {
    const few = await countedBy(["x"]);
    // At least 100 ns of each item, and 5 ns of each character.
    expect((await countedBy(Array.from({ length: 5000 }, () => 1))) - few).toBeGreaterThan(4 * 5000 * 100);
    expect((await countedBy(["\u00fc".repeat(50_000)])) - few).toBeGreaterThan(4 * 50_000 * 5);
  });
});

describe("the steps of searches", () => {
  /** Returns the work units of the longest stretch between two pauses. */
  async function longestStep(run: () => Promise<unknown>): Promise<number> {
    const last = new Map<WorkMeter, number>();
    let longest = 0;
    const { paused } = WorkMeter.prototype;
    const spy = vi.spyOn(WorkMeter.prototype, "paused").mockImplementation(function (this: WorkMeter, stretch: number) {
      longest = Math.max(longest, this.done - (last.get(this) ?? 0));
      last.set(this, this.done);
      paused.call(this, stretch);
    });
    try {
      await run();
    } finally {
      spy.mockRestore();
    }
    return longest;
  }
  /** 30 ms. */
  const MOST = 20_000_000;

  it("have at most 30 ms while rows are put in order", async () => {
    const prefix = "p".repeat(550);
    const rows = storeOf(
      Array.from({ length: 4000 }, (_, at) => entry(at, "m", { a: `${prefix}${(at * 7919) % 4001}` })),
      "recent",
    );
    for (const query of ["* | limit 4000 | sort a", "* | sort a | limit 4000"]) {
      const ns = await countedNs(rows, query);
      // At least ten comparisons of each row, of 50 ns each.
      expect(ns, query).toBeGreaterThan(4000 * 10 * 50);
      const longest = await longestStep(() => countedNs(rows, query));
      expect(longest, query).toBeGreaterThan(0);
      expect(longest, query).toBeLessThan(MOST);
    }
  });

  it.each(TIERS)("have at most 30 ms for many tests of wide entries in %s", async (tier) => {
    const wide = storeOf(
      Array.from({ length: 5 }, (_, at) =>
        entry(at, "m", Object.fromEntries(Array.from({ length: 9000 }, (__, item) => [`k${at}_${item}`, item]))),
      ),
      tier,
    );
    const queries = [
      Array.from({ length: 100 }, (_, at) => `x${at}:y`).join(" OR "),
      Array.from({ length: 6 }, (_, at) => `-a.b.c.d.e.f${at}:*`).join(" "),
    ];
    for (const query of queries) expect(await longestStep(() => countedNs(wide, query)), query).toBeLessThan(MOST);
  });

  it("have at most 30 ms while values of entries with thousands are suggested", async () => {
    const wide = Array.from({ length: 12 }, (_, at) =>
      entry(at, "m", Object.fromEntries(Array.from({ length: 9000 }, (__, item) => [`k${at}_${item}`, item]))),
    );
    const source = storeOf(wide, "recent").stats(3);
    const wanted = { projectId: null, from: null, to: null, now: NOW };
    for (const text of ["", "k0_1:"]) {
      const completion = completionAt(text, text.length);
      const longest = await longestStep(async () => {
        const { basis } = await runSuggest(source, { completion, ...wanted });
        // Two of them have 18,000 values.
        expect(basis).toMatchObject({ kind: "sample", entries: 2, complete: false });
      });
      expect(longest, text).toBeGreaterThan(0);
      expect(longest, text).toBeLessThan(MOST);
    }
  });
});
