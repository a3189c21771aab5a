import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLogId } from "../../../src/logs/entry-view.ts";
import { QUERY_BUDGET, type QueryBudget } from "../../../src/logs/query/budget.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { anyFilters, entryAt, type TestFilters, time } from "./arbitraries.ts";
import { inOrder, passes } from "./reference.ts";
import {
  type AnsweredPage,
  answered,
  lineOf,
  SEGMENT_KINDS,
  type SegmentKind,
  type TestEntry,
  type TestRow,
  TestStore,
} from "./store.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b", "proj_00000000000c"];

type Added = { project: number; entries: TestEntry[] };

/** A batch with one time, a few close ones, or times far apart. */
const batch: fc.Arbitrary<Added> = fc.record({
  project: fc.nat({ max: PROJECTS.length - 1 }),
  entries: fc.array(entryAt(time), { minLength: 1, maxLength: 5 }),
});

function addAll(store: TestStore, batches: readonly Added[]): void {
  for (const { project, entries } of batches) store.add(PROJECTS[project] ?? "", entries);
}

function idOf({ projectId, seq }: { projectId: string; seq: number }): string {
  return `${projectId}:${seq}`;
}

interface Request {
  filters?: TestFilters | { data: Record<string, unknown> };
  order?: "asc" | "desc";
  pagination?: { offset?: number; limit?: number; cursor?: string; includeTotal?: boolean };
  asOf?: string;
}

async function ask(store: TestStore, body: Request, budget: QueryBudget = QUERY_BUDGET, pageBatches = 3) {
  return runQuery(store.logs(pageBatches), QueryBody.parse(body), () => 0, budget);
}

/** Moves of batches to the cold tier: a project, and the number of its oldest batches. */
const flush = fc.record({
  project: fc.nat({ max: PROJECTS.length - 1 }),
  count: fc.integer({ min: 1, max: 4 }),
  kind: fc.constantFrom(...SEGMENT_KINDS),
});
type Flush = { project: number; count: number; kind: SegmentKind };

function flushAll(store: TestStore, flushes: readonly Flush[]): void {
  for (const { project, count, kind } of flushes) store.flush(PROJECTS[project] ?? "", count, kind);
}

/** Applies these moves one by one, each before a page of recent batches; `null` moves nothing. */
function flushDuring(store: TestStore, moves: readonly (Flush | null)[]): void {
  const waiting = [...moves];
  store.beforePage = () => {
    const move = waiting.shift();
    if (move) flushAll(store, [move]);
  };
}

async function pageOf(...args: Parameters<typeof ask>): Promise<AnsweredPage> {
  const result = await ask(...args);
  if (!result.ok) throw new Error(result.reason);
  return answered(result.page);
}

function matching(store: TestStore, filters: TestFilters, order: "asc" | "desc"): TestRow[] {
  const rows = store.rows.filter(({ entry }) => passes(entry, filters, []));
  return inOrder(rows, order);
}

const size = (...tiny: number[]) => fc.oneof(fc.constantFrom(...tiny), fc.constant(Number.MAX_SAFE_INTEGER));
const anyBudget: fc.Arbitrary<QueryBudget> = fc.record({
  work: size(0, 1, 7000, 20_000),
  heldBytes: size(1, 800, 2500),
  answerBytes: size(1, 500),
  resumableRows: fc.integer({ min: 1, max: 6 }),
});

describe("runQuery", () => {
  it("26: pages through exactly the rows of its snapshot, whatever the budgets, whatever arrives and whatever moves meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 8 }),
        fc.array(batch, { maxLength: 3 }),
        anyFilters,
        fc.constantFrom("asc" as const, "desc" as const),
        fc.record({
          offset: fc.oneof(fc.constant(0), fc.nat({ max: 12 })),
          limits: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
          includeTotal: fc.boolean(),
          pageBatches: fc.integer({ min: 1, max: 4 }),
          flushed: fc.array(flush, { maxLength: 4 }),
          moves: fc.array(fc.option(flush), { maxLength: 8 }),
          oldest: fc.option(time),
        }),
        anyBudget,
        async (before, meanwhile, filters, order, options, budget) => {
          const { offset, limits, includeTotal, pageBatches, oldest } = options;
          const store = new TestStore();
          addAll(store, before);
          flushAll(store, options.flushed);
          flushDuring(store, options.moves);
          store.oldest = oldest ?? 0;
          const rows = matching(store, filters, order).filter(({ entry }) => entry.timestamp >= store.oldest);
          const seen: string[] = [];
          let cursor: string | null = null;
          let asOf: string | null = null;
          let number = 0;
          do {
            const limit = limits[number % limits.length] ?? 1;
            const place: Request["pagination"] = cursor === null ? { offset } : { cursor };
            const body: Request = { filters, order, pagination: { ...place, limit, includeTotal } };
            const page = await pageOf(store, body, budget, pageBatches);
            expect(page.logs.length).toBeLessThanOrEqual(limit);
            expect(page.asOf).toBe(asOf ?? page.asOf);
            expect(page.pagination.hasMore).toBe(page.pagination.nextCursor !== null);
            expect(page.pagination.total).toBe(page.complete && includeTotal ? rows.length : undefined);
            if (page.complete && page.pagination.hasMore) expect(page.logs.length).toBe(limit);
            if (!page.complete && !includeTotal) expect(page.pagination.hasMore).toBe(true);
            seen.push(...page.logs.map(idOf));
            ({ asOf } = page);
            cursor = page.pagination.nextCursor;
            if (number++ === 0) addAll(store, meanwhile);
            // Every page advances by a row, by a stored time, or by a batch or block of a row.
            expect(number).toBeLessThan((2 * store.rows.length + 4) * (before.length + 4));
          } while (cursor !== null);
          expect(seen).toEqual(rows.slice(offset).map(idOf));
        },
      ),
      { numRuns: 700 },
    );
  });

  it("returns full, complete pages while no budget ends it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 8 }),
        anyFilters,
        fc.constantFrom("asc" as const, "desc" as const),
        fc.nat({ max: 12 }),
        fc.integer({ min: 1, max: 9 }),
        async (batches, filters, order, offset, limit) => {
          const store = new TestStore();
          addAll(store, batches);
          const rows = matching(store, filters, order);
          const page = await pageOf(store, { filters, order, pagination: { offset, limit } });
          expect(page.logs.map(idOf)).toEqual(rows.slice(offset, offset + limit).map(idOf));
          expect(page.complete).toBe(true);
          expect(page.pagination.hasMore).toBe(rows.length > offset + limit);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("advances less on its budget the more it tests of every entry, but always advances", async () => {
    const store = new TestStore();
    const data = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`m${index}`, index]));
    for (let at = 0; at < 10; at++) store.add("proj_00000000000a", [{ ...simple(at), data }]);
    const asking = (tests: number) => {
      const some = Object.fromEntries(
        Object.keys(data)
          .map((name) => [name, { gte: 0 }])
          .slice(0, tests),
      );
      return { filters: { data: { ...some, m99: { ne: 99 } } } };
    };
    const budget = { ...QUERY_BUDGET, work: 130_000 };
    const few = await pageOf(store, asking(2), budget);
    expect([few.complete, few.stats.scanned]).toEqual([true, 10]);
    const many = await pageOf(store, asking(98), budget);
    expect(many.complete).toBe(false);
    expect(many.stats.scanned).toBeLessThan(9);
    expect(many.pagination.nextCursor).not.toBeNull();
  });

  it("returns whole entries with id, seq, project and time of receipt", async () => {
    await fc.assert(
      fc.asyncProperty(entryAt(time), async (entry) => {
        const store = new TestStore();
        store.add("proj_00000000000a", [entry]);
        const { logs } = await pageOf(store, {});
        const [{ id, seq, projectId, receivedAt, ...rest } = fail()] = logs;
        expect(JSON.stringify(rest)).toBe(lineOf(entry));
        expect(parseLogId(id)).toEqual({ projectId, seq });
        expect({ seq, projectId, receivedAt }).toEqual({
          seq: 1,
          projectId: "proj_00000000000a",
          receivedAt: new Date(1_800_000_000_001).toISOString(),
        });
      }),
    );
  });

  it("decodes only the batches of the newest rows", async () => {
    const store = new TestStore();
    for (let at = 0; at < 50; at++) {
      store.add(
        "proj_00000000000a",
        Array.from({ length: 10 }, (_, n) => simple(at * 10 + n, n === 0 ? "error" : "info")),
      );
    }
    const page = await pageOf(store, { filters: { level: "error" }, pagination: { limit: 3 } });
    expect(page.logs.map(({ seq }) => seq)).toEqual([491, 481, 471]);
    expect(page.stats).toMatchObject({ scanned: 40, recent: 3, stored: 0 });
  });

  it("13: frees the bodies of both tiers once their lines were read", async () => {
    const store = new TestStore();
    for (let at = 0; at < 20; at++) {
      store.add(
        "proj_00000000000a",
        Array.from({ length: 10 }, (_, n) => simple(at * 10 + n)),
      );
    }
    store.flush("proj_00000000000a", 10);
    const { recent, cold, ...source } = store.logs(3);
    const given: Uint8Array[] = [];
    const observed = {
      ...source,
      recent: async (scan: Parameters<typeof recent>[0]) => {
        const page = await recent(scan);
        given.push(...page.batches.map(({ body }) => body));
        return page;
      },
      cold: {
        ...cold,
        readBodies: async (...args: Parameters<typeof cold.readBodies>) => {
          const bodies = await cold.readBodies(...args);
          given.push(...bodies.flatMap((body) => body?.bytes ?? []));
          return bodies;
        },
      },
    };
    const result = await runQuery(observed, QueryBody.parse({ filters: { search: "nowhere" } }), () => 0);
    expect(result).toMatchObject({ ok: true });
    expect(given.length).toBeGreaterThan(10);
    expect(given.map(({ byteLength }) => byteLength)).toEqual(given.map(() => 0));
  });

  it("counts all entries without reading lines if every entry passes", async () => {
    const store = new TestStore();
    for (let at = 0; at < 50; at++)
      store.add(
        "proj_00000000000a",
        Array.from({ length: 10 }, (_, n) => simple(at * 10 + n)),
      );
    const page = await pageOf(store, { pagination: { limit: 3, includeTotal: true } });
    expect(page.pagination.total).toBe(500);
    expect(page.stats.scanned).toBe(10);
  });

  it("reads an earlier snapshot by its asOf", async () => {
    const store = new TestStore();
    store.add("proj_00000000000a", [simple(1)]);
    const { asOf } = await pageOf(store, {});
    store.add("proj_00000000000a", [simple(0), simple(2)]);
    expect((await pageOf(store, { asOf })).logs.map(({ seq }) => seq)).toEqual([1]);
    expect((await pageOf(store, {})).logs).toHaveLength(3);
  });

  it("refuses a snapshot from the future, and a cursor of other filters or another scope", async () => {
    const store = new TestStore();
    store.add("proj_00000000000a", [simple(1), simple(2)]);
    expect(await ask(store, { asOf: "z" })).toEqual({ ok: false, reason: "future_snapshot" });
    const { pagination } = await pageOf(store, { filters: { level: ["info", "warn"] }, pagination: { limit: 1 } });
    const cursor = pagination.nextCursor ?? "";
    const foreign = { ok: false, reason: "foreign_cursor" };
    expect(await ask(store, { pagination: { cursor } })).toEqual(foreign);
    expect(await ask(store, { filters: { level: "info" }, pagination: { cursor } })).toEqual(foreign);
    for (const filters of OTHER_FILTERS) {
      const { pagination: page } = await pageOf(store, { filters: {}, pagination: { limit: 1 } });
      expect(await ask(store, { filters, pagination: { cursor: page.nextCursor ?? "" } })).toEqual(foreign);
    }
    const other = new TestStore("proj_00000000000a");
    addAll(other, [{ project: 0, entries: [simple(1)] }]);
    expect(await ask(other, { filters: { level: ["info", "warn"] }, pagination: { cursor } })).toEqual(foreign);
    const same = await pageOf(store, { filters: { level: ["warn", "info", "info"] }, pagination: { cursor } });
    expect(same.logs.map(({ seq }) => seq)).toEqual([1]);
  });
});

const OTHER_FILTERS = [
  { level: "info" },
  { category: "http" },
  { type: "log" },
  { session: "s" },
  { traceId: "s" },
  { from: 1 },
  { to: 1_900_000_000_000 },
  { search: "m" },
  { data: { a: 1 } },
];

function simple(timestamp: number, level: TestEntry["level"] = "info"): TestEntry {
  return { timestamp: 1_795_183_200_000 + timestamp, level, category: "custom", type: "log", message: "m" };
}

function fail(): never {
  throw new Error("There is no row.");
}
