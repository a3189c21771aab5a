import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QUERY_BUDGET } from "../../../src/logs/query/budget.ts";
import { UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { runTable, type TableAnswer, tableText } from "../../../src/logs/stats/run-table.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { anyFilters, entryAt, time } from "../query/arbitraries.ts";
import { passes } from "../query/reference.ts";
import { SEGMENT_KINDS, type TestEntry, TestStore } from "../query/store.ts";
import { aggregation, bodyOf, key, own } from "./plans.ts";
import { type TestKey, tableRows } from "./reference.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];
const START = 1_795_183_200_000;
const [ONE = ""] = PROJECTS;

async function answerOf(store: TestStore, body: unknown, pageBatches = 3, budget = QUERY_BUDGET): Promise<TableAnswer> {
  const result = await runTable(store.stats(pageBatches), TableBody.parse(body), budget);
  if (!result.ok) throw new Error(result.reason);
  return result.answer;
}

function rowsOf({ rows }: TableAnswer): unknown[] {
  return rows.map((row) => JSON.parse(Buffer.from(row, "latin1").toString("utf8")));
}

const entry = (at: number, data?: Record<string, unknown>): TestEntry => ({
  timestamp: START + at,
  level: "info",
  category: "custom",
  type: "log",
  message: "m",
  ...(data === undefined ? {} : { data }),
});

describe("runTable", () => {
  it("4: gives the table of a plain evaluator, whatever the fields, filters and keys, and whatever moves meanwhile", async () => {
    const batch = fc.record({
      project: fc.constantFrom(...PROJECTS),
      // Ingest takes no text with a lone surrogate.
      entries: fc.array(entryAt(time).map(wellFormed), { minLength: 1, maxLength: 5 }),
    });
    const flush = fc.record({
      project: fc.constantFrom(...PROJECTS),
      count: fc.integer({ min: 1, max: 4 }),
      kind: fc.constantFrom(...SEGMENT_KINDS),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 8 }),
        fc.oneof(fc.constant({}), anyFilters),
        fc.uniqueArray(key, { maxLength: 3, selector: (each) => ("bin" in each ? "time" : each.text) }),
        fc.array(aggregation, { minLength: 1, maxLength: 4 }),
        fc.record({
          pageBatches: fc.integer({ min: 1, max: 4 }),
          flushed: fc.array(flush, { maxLength: 4 }),
          moves: fc.array(fc.option(flush), { maxLength: 6 }),
        }),
        async (batches, filters, keys, aggregations, { pageBatches, flushed, moves }) => {
          // A bin and the field `time` would be two columns of one name.
          fc.pre(!(keys.some((each) => "bin" in each) && keys.some((each) => "text" in each && each.text === "time")));
          const store = new TestStore();
          for (const { project, entries } of batches) store.add(project, entries);
          for (const { project, count, kind } of flushed) store.flush(project, count, kind);
          const waiting = [...moves];
          store.beforePage = () => {
            const move = waiting.shift();
            if (move) store.flush(move.project, move.count, move.kind);
          };
          const wanted = store.rows.filter((row) => passes(row.entry, filters, []));
          const answer = await answerOf(store, bodyOf(keys, aggregations, { filters }), pageBatches);
          expect(rowsOf(answer)).toEqual(tableRows(wanted, keys, aggregations));
          expect(answer).toMatchObject({ matched: wanted.length, complete: true, exact: true });
          expect(answer.scanned).toBeGreaterThanOrEqual(wanted.length);
        },
      ),
      { numRuns: 700 },
    );
  });

  it("uses stored counts for counts by level, category, type and minutes, and gives the same table from lines", async () => {
    const store = new TestStore();
    for (let at = 0; at < 12; at++) {
      const entries = Array.from(
        { length: 20 },
        (_, n) => ({ ...entry((at * 20 + n) * 7000), level: n % 3 ? "info" : "error" }) as TestEntry,
      );
      store.add(ONE, entries);
    }
    store.flush(ONE, 6);
    const keys: TestKey[] = [own("level"), { bin: "5m", ms: 300_000 }];
    const filters = { from: START + 61_000, to: START + 1_200_500 };
    const body = bodyOf(keys, [{ fn: "count" }], { filters });
    const wanted = store.rows.filter(({ entry: each }) => passes(each, filters, []));
    store.calls = [];
    const counted = await answerOf(store, body, 100);
    // Two calls for the partial minutes; the third scans all.
    expect(store.calls).toHaveLength(2);
    const scanned = await answerOf(store, { ...body, asOf: counted.asOf }, 100);
    expect(store.calls).toHaveLength(3);
    expect(rowsOf(counted)).toEqual(tableRows(wanted, keys, [{ fn: "count" }]));
    expect(rowsOf(scanned)).toEqual(rowsOf(counted));
    expect(counted).toMatchObject({
      matched: wanted.length,
      columns: [
        { name: "level", type: "string" },
        { name: "time", type: "time" },
        { name: "c0", type: "number" },
      ],
    });
  });

  it("reads the snapshot of `asOf`, and refuses one that is in the future", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0)]);
    const { asOf, rows } = await answerOf(store, { aggregations: [{ fn: "count" }] });
    store.add(ONE, [entry(1), entry(2)]);
    expect(rows).toEqual(["[1]"]);
    expect((await answerOf(store, { aggregations: [{ fn: "count" }], asOf })).rows).toEqual(["[1]"]);
    store.flush(ONE, 2);
    expect((await answerOf(store, { aggregations: [{ fn: "count" }], asOf })).rows).toEqual(["[1]"]);
    expect((await answerOf(store, { aggregations: [{ fn: "count" }] })).rows).toEqual(["[3]"]);
    expect(await runTable(store.stats(3), TableBody.parse({ aggregations: [{ fn: "count" }], asOf: "zz" }))).toEqual({
      ok: false,
      reason: "future_snapshot",
    });
  });

  it("names fields with values of several types, and adds up only their numbers", async () => {
    const store = new TestStore();
    store.add(ONE, [
      entry(0, { n: 1 }),
      entry(1, { n: "2" }),
      entry(2, { n: 4, only: "x" }),
      entry(3, { n: null }),
      entry(4, { n: "500" }),
    ]);
    const answer = await answerOf(store, {
      aggregations: [
        { fn: "sum", field: "n" },
        { fn: "max", field: "n" },
        { fn: "avg", field: "only" },
        { fn: "count", field: "n" },
      ],
    });
    expect(answer.rows).toEqual(["[5,4,null,5]"]);
    expect(answer.columns.map(({ name }) => name)).toEqual(["sum(n)", "max(n)", "avg(only)", "count(n)"]);
    expect(answer.notes).toEqual([
      "`n` has mixed types: numbers, strings; only its numbers are added up.",
      "`only` has no numbers, but strings.",
    ]);
    const byType = await answerOf(store, { aggregations: [{ fn: "count" }], groupBy: ["n"] });
    expect(byType.rows).toEqual(["[1,1]", "[4,1]", '["2",1]', '["500",1]', "[null,1]"]);
    expect(byType.columns).toEqual([
      { name: "n", type: "mixed" },
      { name: "count()", type: "number" },
    ]);
  });

  it("17: says that different whole objects are counted, in both tiers", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0, { user: { id: 1, at: 1 } }), entry(1, { user: { id: 1, at: 2 } }), entry(2, { id: 1 })]);
    const aggregations = [{ fn: "count_distinct" as const, field: "user" }];
    const note =
      "`user` holds objects, and distinct whole objects are counted. To count a member, name its path: `user.member`.";
    for (const isFlushed of [false, true]) {
      if (isFlushed) store.flush(ONE, 1);
      expect(await answerOf(store, { aggregations })).toMatchObject({ rows: ["[2]"], notes: [note] });
      const byMember = await answerOf(store, { aggregations: [{ fn: "count_distinct", field: "user.id" }] });
      expect(byMember).toMatchObject({ rows: ["[1]"], notes: [] });
    }
  });

  it("counts an entry in the group of each item of an array, and in at most 100 groups", async () => {
    const store = new TestStore();
    const many = Array.from({ length: 30 }, (_, at) => at);
    store.add(ONE, [
      entry(0, { tags: ["a", "b", "a"] }),
      entry(1, { tags: ["b"] }),
      entry(2, { tags: [] }),
      entry(3, { x: many, y: many }),
    ]);
    const byTag = await answerOf(store, { aggregations: [{ fn: "count" }], groupBy: ["tags"] });
    expect(byTag.rows).toEqual(['["a",1]', '["b",2]', "[null,2]"]);
    expect(byTag.notes).toEqual(["`tags` has arrays: an entry counts in the group of each item."]);
    const pairs = await answerOf(store, { aggregations: [{ fn: "count" }], groupBy: ["x", "y"] });
    expect(pairs.rows).toHaveLength(30 * 3 + 1);
    expect(pairs.matched).toBe(4);
    expect(pairs.notes[0]).toBe("Entries with longer arrays count in their first 100 groups only.");
  });

  it("finds nothing: one row without keys, none with keys", async () => {
    const store = new TestStore();
    const aggregations = ["count_distinct", "sum", "avg", "min", "p99", "first", "values"].map((fn) => ({
      fn,
      field: "n",
    }));
    const empty = await answerOf(store, { aggregations: [{ fn: "count" }, ...aggregations] });
    expect(empty.rows).toEqual(["[0,0,null,null,null,null,null,[]]"]);
    expect(empty).toMatchObject({ matched: 0, scanned: 0, complete: true, exact: true, notes: [] });
    expect((await answerOf(store, { aggregations, groupBy: ["level"] })).rows).toEqual([]);
  });

  it("sorts by a column with ties by the keys, cuts rows, and says so", async () => {
    const store = new TestStore();
    const data = [
      ["c", 5],
      ["a", 5],
      ["b", 9],
      ["d", null],
      ["e", 1],
    ].map(([user, n]) => ({ user, n }));
    store.add(
      ONE,
      data.map((each, at) => entry(at, each)),
    );
    const ask = async (more: object) =>
      answerOf(store, {
        aggregations: [
          { fn: "sum", field: "n", as: "s" },
          { fn: "last", field: "user", as: "l" },
        ],
        groupBy: ["user"],
        ...more,
      });
    const users = ({ rows }: TableAnswer) => rows.map((row) => JSON.parse(row)[0]).join("");
    expect(users(await ask({}))).toBe("abcde");
    expect(users(await ask({ sort: { by: "s" } }))).toBe("baced");
    expect(users(await ask({ sort: { by: "s", order: "asc" } }))).toBe("eacbd");
    expect(users(await ask({ sort: { by: "user" } }))).toBe("edcba");
    expect(users(await ask({ sort: { by: "l", order: "desc" } }))).toBe("edcba");
    const top = await ask({ sort: { by: "s" }, limit: 2 });
    expect([users(top), top.notes[0]]).toEqual(["ba", "The table has the first 2 of 5 rows."]);
  });

  it("4: has at most 10,000 rows of 10,001 groups", async () => {
    const store = new TestStore();
    for (let batch = 0; batch < 11; batch++) {
      const count = batch === 10 ? 1 : 1000;
      store.add(
        ONE,
        Array.from({ length: count }, (_, at) => entry(0, { n: batch * 1000 + at })),
      );
    }
    const answer = await answerOf(store, { aggregations: [{ fn: "count" }], groupBy: ["n"] }, 20);
    expect(answer.rows).toHaveLength(10_000);
    expect(answer.rows.at(-1)).toBe("[9999,1]");
    expect(answer).toMatchObject({
      complete: true,
      exact: true,
      matched: 10_001,
      notes: ["The table has the first 10,000 of 10,001 rows."],
    });
  });

  it("writes the answer as JSON of bytes", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0, { ж: "é\n" })]);
    const answer = await answerOf(store, { aggregations: [{ fn: "first", field: "ж" }], groupBy: ["ж"] });
    const text = Buffer.from([...tableText(answer)].join(""), "latin1").toString("utf8");
    expect(JSON.parse(text)).toEqual({
      kind: "table",
      columns: [
        { name: "ж", type: "string" },
        { name: "first(ж)", type: "string" },
      ],
      rows: [["é\n", "é\n"]],
      matched: 1,
      scanned: 1,
      complete: true,
      exact: true,
      asOf: answer.asOf,
      notes: [],
    });
  });

  it("divides a rate by the bin or the time range", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0), entry(1), entry(90_000)]);
    const aggregations = [{ fn: "rate", as: "r" }];
    expect(
      (await answerOf(store, { aggregations, groupBy: [{ bin: "1m" }] })).rows.map((row) => JSON.parse(row)[1]),
    ).toEqual([2 / 60, 1 / 60]);
    expect((await answerOf(store, { aggregations, filters: { from: START, to: START + 120_000 } })).rows).toEqual([
      "[0.025]",
    ]);
  });

  it("ends at its budget with what it has counted, and says so", async () => {
    const store = new TestStore();
    for (let at = 0; at < 3; at++) store.add(ONE, [entry(at, { n: at })]);
    const answer = await answerOf(store, { aggregations: [{ fn: "sum", field: "n" }] }, 5, {
      ...QUERY_BUDGET,
      work: 100,
    });
    expect(answer).toMatchObject({ complete: false, matched: 1, rows: ["[2]"] });
    expect(answer.notes[0]).toContain("limit of work");
  });

  it("ends if there is no memory for its states, and says so", async () => {
    const store = new TestStore();
    for (let at = 0; at < 40; at++) store.add(ONE, [entry(at, { n: `${at}`.repeat(5000) })]);
    const memory = { ...UNBOUNDED_MEMORY, canHoldState: (bytes: number) => bytes < 100_000 };
    const wanted = TableBody.parse({ aggregations: [{ fn: "count" }], groupBy: ["n"] });
    const result = await runTable(store.stats(50), wanted, QUERY_BUDGET, memory);
    if (!result.ok) throw new Error(result.reason);
    const { answer } = result;
    expect(answer.complete).toBe(false);
    expect(answer.matched).toBe(answer.rows.length);
    expect(answer.matched).toBeLessThan(15);
    expect(answer.notes[0]).toContain("limit of memory");
  });
});

function wellFormed(value: TestEntry): TestEntry {
  const text = JSON.stringify(value, (_, member) => (typeof member === "string" ? member.toWellFormed() : member));
  return JSON.parse(text);
}
