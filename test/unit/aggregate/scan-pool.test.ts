import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QUERY_BUDGET } from "../../../src/logs/query/budget.ts";
import { UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { compileFilter } from "../../../src/logs/search/compile-filter.ts";
import type { ScanPool } from "../../../src/logs/stats/count-parts.ts";
import { runTable, type TableAnswer } from "../../../src/logs/stats/run-table.ts";
import { type PartCall, type PartOutcome, scanPart } from "../../../src/logs/stats/scan-part.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { entryAt, fewFilters, time } from "../query/arbitraries.ts";
import { passes } from "../query/reference.ts";
import { SEGMENT_KINDS, type TestEntry, TestStore } from "../query/store.ts";
import { aggregation, bodyOf, key } from "./plans.ts";
import { tableRows } from "./reference.ts";

const PROJECT = "proj_00000000000a";
const START = 1_795_183_200_000;

/** How a scan object answers: as it should; by an error; by a refusal; with a state of a later version. */
type Behavior = "right" | "lost" | "refused" | "newer";

interface TestPool extends ScanPool {
  calls: PartCall[];
  /** Most parts that were read at the same time. */
  mostOpen: number;
}

/** Scan objects that get copies of calls and return copies of states, as an RPC makes them. */
function poolOf(store: TestStore, behaviors: readonly Behavior[], slots: number, part: number): TestPool {
  const busy = new Set<number>();
  const pool: TestPool = {
    slots,
    sizes: { splitFrom: 0, part },
    calls: [],
    mostOpen: 0,
    async scan(slot, call) {
      expect(busy.has(slot)).toBe(false);
      busy.add(slot);
      pool.mostOpen = Math.max(pool.mostOpen, busy.size);
      const behavior = behaviors[pool.calls.push(call) - 1] ?? "right";
      await Promise.resolve();
      const outcome = await scanPart(store.logs(1), structuredClone(call), UNBOUNDED_MEMORY);
      busy.delete(slot);
      if (behavior === "lost") throw new Error("The object was reset.");
      return behavior === "refused" ? { outcome: "refused" } : copyOf(outcome, behavior === "newer" ? 2 : 1);
    },
  };
  return pool;
}

function copyOf(outcome: PartOutcome, version: number): PartOutcome {
  const copy = structuredClone(outcome);
  if ("partial" in copy) Object.assign(copy.partial, { version });
  return copy;
}

async function answerOf(store: TestStore, body: unknown, scanners?: ScanPool, budget = QUERY_BUDGET) {
  const result = await runTable({ ...store.stats(2), scanners }, TableBody.parse(body), budget);
  if (!result.ok) throw new Error(result.reason);
  return result.answer;
}

function rowsOf({ rows }: TableAnswer): unknown[] {
  return rows.map((row) => JSON.parse(Buffer.from(row, "latin1").toString("utf8")));
}

function storeOf(batches: number, entriesOfBatch: number): TestStore {
  const store = new TestStore();
  for (let batch = 0; batch < batches; batch++) {
    const entries = Array.from({ length: entriesOfBatch }, (_, at): TestEntry => {
      const n = batch * entriesOfBatch + at;
      const data = { n, user: `usr_${n % 7}` };
      return { timestamp: START + n * 1000, level: "info", category: "custom", type: "log", message: "m", data };
    });
    store.add(PROJECT, entries);
  }
  return store;
}

const SUMS = {
  aggregations: [
    { fn: "count" },
    { fn: "sum", field: "n" },
    { fn: "p50", field: "n" },
    { fn: "count_distinct", field: "user" },
  ],
};

describe("scan objects", () => {
  it("4: give the table of a plain evaluator, whichever parts are lost, refused or of another version", async () => {
    const behavior = fc.constantFrom<Behavior>("right", "right", "right", "lost", "refused", "newer");
    const flush = fc.record({ count: fc.integer({ min: 1, max: 3 }), kind: fc.constantFrom(...SEGMENT_KINDS) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(entryAt(time).map(wellFormed), { minLength: 1, maxLength: 5 }), { maxLength: 8 }),
        fc.oneof(fc.constant({}), fewFilters),
        fc.uniqueArray(key, { maxLength: 2, selector: (each) => ("bin" in each ? "time" : each.text) }),
        fc.array(aggregation, { minLength: 1, maxLength: 3 }),
        fc.record({
          flushed: fc.array(flush, { maxLength: 4 }),
          moves: fc.array(fc.option(flush), { maxLength: 4 }),
          behaviors: fc.array(behavior, { maxLength: 4 }),
          slots: fc.integer({ min: 1, max: 3 }),
          part: fc.integer({ min: 1, max: 8 }),
        }),
        async (batches, filters, keys, aggregations, { flushed, moves, behaviors, slots, part }) => {
          // A bin and the field `time` would be two columns of one name.
          fc.pre(!(keys.some((each) => "bin" in each) && keys.some((each) => "text" in each && each.text === "time")));
          const store = new TestStore();
          for (const entries of batches) store.add(PROJECT, entries);
          for (const { count, kind } of flushed) store.flush(PROJECT, count, kind);
          const waiting = [...moves];
          store.beforePage = () => {
            const move = waiting.shift();
            if (move) store.flush(PROJECT, move.count, move.kind);
          };
          const wanted = store.rows.filter((row) => passes(row.entry, filters, []));
          const pool = poolOf(store, behaviors, slots, part);
          const answer = await answerOf(store, bodyOf(keys, aggregations, { filters }), pool);
          expect(rowsOf(answer)).toEqual(tableRows(wanted, keys, aggregations));
          expect(answer).toMatchObject({ matched: wanted.length, complete: true, exact: true });
          expect(pool.mostOpen).toBeLessThanOrEqual(slots);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("4: read the cold tier in parts of whole segments, as many at once as there are slots", async () => {
    const store = storeOf(9, 4);
    for (let segment = 0; segment < 8; segment++) store.flush(PROJECT, 1, "bucket");
    const pool = poolOf(store, [], 3, 8);
    expect(rowsOf(await answerOf(store, SUMS, pool))).toEqual([[36, 630, 17, 7]]);
    expect(pool.calls.map(({ segments }) => segments.length)).toEqual([2, 2, 2, 2]);
    expect(pool.mostOpen).toBe(3);
    expect(await answerOf(store, SUMS)).toEqual(await answerOf(store, SUMS, pool));
  });

  it("4: are not asked for few entries, nor again in a request in which one refused", async () => {
    const store = storeOf(9, 4);
    for (let segment = 0; segment < 8; segment++) store.flush(PROJECT, 1, "bucket");
    const small = { ...poolOf(store, [], 3, 8), sizes: { splitFrom: 100, part: 8 } };
    expect(rowsOf(await answerOf(store, SUMS, small))).toEqual([[36, 630, 17, 7]]);
    expect(small.calls).toEqual([]);
    const refusing = poolOf(store, ["refused"], 1, 8);
    expect(rowsOf(await answerOf(store, SUMS, refusing))).toEqual([[36, 630, 17, 7]]);
    expect(refusing.calls).toHaveLength(1);
  });

  it("4: share the work of one request, so that only older entries are missing at its end", async () => {
    const store = storeOf(40, 25);
    for (let segment = 0; segment < 40; segment++) store.flush(PROJECT, 1, "bucket");
    const body = {
      aggregations: [
        { fn: "sum", field: "n" },
        { fn: "max", field: "n" },
        { fn: "min", field: "n" },
      ],
    };
    const alone = await answerOf(store, body, undefined, { ...QUERY_BUDGET, work: 60_000_000 });
    expect(alone).toMatchObject({ complete: true, matched: 1000 });
    for (const work of [4_000_000, 10_000_000, 20_000_000]) {
      const pool = poolOf(store, [], 3, 50);
      const result = await runTable({ ...store.stats(2), scanners: pool }, TableBody.parse(body), {
        ...QUERY_BUDGET,
        work,
      });
      if (!result.ok) throw new Error(result.reason);
      const { matched, complete, rows } = result.answer;
      expect(complete).toBe(false);
      expect(matched).toBeLessThan(1000);
      // The newest entries, and all of them.
      const sum = ((1000 - matched + 999) * matched) / 2;
      if (matched > 0) expect(rows).toEqual([`[${sum},999,${1000 - matched}]`]);
      expect(result.work).toBeLessThan(1.5 * work + 5_000_000);
    }
  });

  it("4: share the work among the parts that there are, not among slots without one", async () => {
    const store = storeOf(40, 25);
    for (let segment = 0; segment < 40; segment++) store.flush(PROJECT, 1, "bucket");
    const alone = await runTable(store.stats(2), TableBody.parse(SUMS));
    const budget = { ...QUERY_BUDGET, work: 2 * (alone.ok ? alone.work : 0) };
    const pool = poolOf(store, [], 8, 500);
    expect(await answerOf(store, SUMS, pool, budget)).toMatchObject({ complete: true, matched: 1000 });
    expect(pool.calls.length).toBeLessThan(8);
  });

  it("4: refuse calls that they do not understand, and states that would be too large", async () => {
    const store = storeOf(2, 30);
    store.flush(PROJECT, 2, "bucket");
    const pool = poolOf(store, [], 1, 100);
    await answerOf(store, { ...SUMS, groupBy: ["n"] }, pool);
    const [call] = pool.calls;
    if (call === undefined) throw new Error("There was no call.");
    const outcomeOf = async (changed: object) =>
      (await scanPart(store.logs(1), { ...structuredClone(call), ...changed }, UNBOUNDED_MEMORY)).outcome;
    expect(await outcomeOf({})).toBe("done");
    expect(await outcomeOf({ version: 1 })).toBe("refused");
    expect(await outcomeOf({ filter: { ...call.filter, tenant: "a" } })).toBe("refused");
    expect(await outcomeOf({ filter: { ...call.filter, data: [{ path: ["n"], op: "near", value: 1 }] } })).toBe(
      "refused",
    );
    expect(await outcomeOf({ plan: { ...call.plan, maxValues: 3 } })).toBe("refused");
    const [field] = call.plan.fields;
    for (const changed of [
      { ...field, own: "tenant" },
      { ...field, item: 1 },
    ]) {
      expect(await outcomeOf({ plan: { ...call.plan, fields: [changed] } })).toBe("refused");
    }
    expect(await outcomeOf({ stateBytes: 1000 })).toBe("refused");
  });

  it("17: test filters of the query language, and refuse those that they would read in another way", async () => {
    const store = storeOf(4, 4);
    for (let segment = 0; segment < 4; segment++) store.flush(PROJECT, 1, "bucket");
    const parsed = parse("n:>=3 -user:usr_5 OR user:/usr_[34]/");
    if (!parsed.ok || parsed.query.filter === null) throw new Error("The query is valid.");
    const filter = compileFilter(parsed.query.filter, START);
    expect(filter.rest).not.toBeNull();
    const pool = poolOf(store, [], 2, 4);
    const wanted = { ...TableBody.parse(SUMS), filter };
    const [shared, alone] = [
      await runTable({ ...store.stats(2), scanners: pool }, wanted),
      await runTable(store.stats(2), wanted),
    ];
    expect(shared).toMatchObject({ ok: true, answer: alone.ok ? alone.answer : {} });
    const [call] = pool.calls;
    if (call?.filter.rest == null) throw new Error("There was no call with a filter.");
    const other = { ...call, filter: { ...call.filter, rest: { ...call.filter.rest, text: "n:>=4" } } };
    expect((await scanPart(store.logs(1), call, UNBOUNDED_MEMORY)).outcome).toBe("done");
    expect((await scanPart(store.logs(1), other, UNBOUNDED_MEMORY)).outcome).toBe("refused");
  });

  it("4: report what they cannot read", async () => {
    const store = storeOf(4, 4);
    for (let segment = 0; segment < 4; segment++) store.flush(PROJECT, 1, "bucket");
    const [file] = store.files.keys();
    if (file === undefined) throw new Error("There is no file.");
    store.files.delete(file);
    const faults: number[] = [];
    const report = (_: Error, entries: number) => void faults.push(entries);
    const source = { ...store.stats(2), scanners: poolOf(store, [], 2, 4), report };
    const result = await runTable(source, TableBody.parse(SUMS));
    expect(result).toMatchObject({ ok: true, answer: { matched: 12, complete: true } });
    // Each of its two row groups.
    expect(faults).toEqual([2, 2]);
  });
});

function wellFormed(value: TestEntry): TestEntry {
  const text = JSON.stringify(value, (_, member) => (typeof member === "string" ? member.toWellFormed() : member));
  return JSON.parse(text);
}
