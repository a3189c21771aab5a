import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Aggregator } from "../../../src/logs/aggregate/aggregator.ts";
import { EntryAggregator } from "../../../src/logs/aggregate/entry-aggregator.ts";
import type { AggregatePlan } from "../../../src/logs/aggregate/plan.ts";
import { tableOf } from "../../../src/logs/aggregate/table.ts";
import type { DecodedBatch } from "../../../src/logs/cold/format/lines.ts";
import { LEVELS } from "../../../src/logs/entry.ts";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import type { LineSource } from "../../../src/logs/query/feed.ts";
import { OPEN_FILTER } from "../../../src/logs/query/filter.ts";
import { ColumnAggregator } from "../../../src/logs/segments/scan/column-aggregator.ts";
import { ColumnCounter, type CountAdder } from "../../../src/logs/segments/scan/column-counter.ts";
import { LineNames } from "../../../src/logs/stats/histogram.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { aggregation, bodyOf, key } from "../aggregate/plans.ts";
import { inOneStep } from "../aggregate/steps.ts";
import { anyLines } from "./any-lines.ts";
import { batchesOf, bytesOf, encode, line, open, PROJECT } from "./support.ts";

type Lines = readonly (string | Uint8Array)[];

function planOf(body: unknown): AggregatePlan {
  return TableBody.parse(body).plan;
}

/** Adds entries of a batch from their lines. @param isWanted by position in all lines */
function addLines(to: EntryAggregator, batch: DecodedBatch, isWanted: (at: number) => boolean): void {
  const { firstSeq, receivedAt, body } = batch;
  const source: LineSource = {
    projectId: PROJECT,
    pieces: () => [body],
    seqAt: (index) => firstSeq + index,
    receivedAtOf: () => receivedAt,
    isVisible: () => true,
  };
  new BatchMatcher(OPEN_FILTER).forEachMatch(
    body,
    (_, index) => isWanted(firstSeq - 1 + index),
    (match) => to.add(match, source),
    () => undefined,
  );
}

/** Returns the state in which the order of entries makes no difference. */
function stateOf(aggregator: Aggregator) {
  const { types, total } = aggregator;
  const counted = [...aggregator.entries.copy(aggregator.groups.count)].reduce((sum, count) => sum + count, 0);
  const table = inOneStep(tableOf(aggregator, { sort: null, limit: 10_000, bytes: 1e9 }));
  return { ...table, types: [...types], isExceeded: total.isExceeded, counted };
}

function fromLines(plan: AggregatePlan, lines: Lines, perBatch: number, isWanted: (at: number) => boolean) {
  const aggregator = new Aggregator(plan);
  const entries = new EntryAggregator(aggregator, new WorkMeter());
  for (const batch of batchesOf(lines, perBatch)) addLines(entries, batch, isWanted);
  return stateOf(aggregator);
}

/** @returns the state, and the number of rows that were left to their lines */
function fromColumns(
  plan: AggregatePlan,
  lines: Lines,
  options: { perBatch: number; groupRows: number; exactShapes?: number },
  isWanted: (at: number) => boolean,
) {
  const { reader, chunk } = open(bytesOf(encode(lines, options)));
  const aggregator = new Aggregator(plan);
  const meter = new WorkMeter();
  const columns = new ColumnAggregator(aggregator, meter);
  const left = new Set<number>();
  let first = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const chosen = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => isWanted(first + row));
    const announced = columns.columnsOf(reader, group);
    const steps = columns.add(reader, group, chosen, (column) => {
      if (!announced.includes(column)) throw new Error(`The column ${column} was not announced.`);
      return chunk(group, column);
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value.added + step.value.left.length).toBe(chosen.length);
    expect(step.value.isFull).toBe(false);
    for (const row of step.value.left) left.add(first + row);
    first += rows;
  }
  const entries = new EntryAggregator(aggregator, meter);
  for (const batch of batchesOf(lines, options.perBatch)) addLines(entries, batch, (at) => left.has(at));
  return { state: stateOf(aggregator), left: left.size };
}

const options = fc.record({
  perBatch: fc.integer({ min: 1, max: 9 }),
  groupRows: fc.constantFrom(1, 3, 16, 100),
  exactShapes: fc.constantFrom(0, 3, 256),
});

describe("aggregations from columns", () => {
  test("4: columns give the table that lines give, whatever the entries, fields and keys", () => {
    const keys = fc.uniqueArray(key, { maxLength: 3, selector: (each) => ("bin" in each ? "time" : each.text) });
    const query = fc.record({ keys, aggregations: fc.array(aggregation, { minLength: 1, maxLength: 4 }) });
    const queries = fc.array(query, { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(anyLines, options, queries, fc.constantFrom(1, 2, 5), (lines, own, each, share) => {
        for (const { keys: by, aggregations } of each) {
          if (by.some((one) => "bin" in one) && by.some((one) => "text" in one && one.text === "time")) continue;
          const plan = planOf(bodyOf(by, aggregations));
          const isWanted = (at: number) => at % share === 0;
          expect(fromColumns(plan, lines, own, isWanted).state).toEqual(fromLines(plan, lines, own.perBatch, isWanted));
        }
      }),
      { numRuns: 60 },
    );
  });

  test("4: no row of regular entries is left to its line", () => {
    const lines = Array.from({ length: 200 }, (_, at) =>
      line({ n: at % 7, ms: at * 3, route: `/r${at % 5}`, user: { id: `u${at}` }, ok: at % 2 === 0 }, {}, at * 1000),
    );
    const plan = planOf({
      aggregations: [
        { fn: "count" },
        { fn: "p99", field: "ms" },
        { fn: "sum", field: "n" },
        { fn: "count_distinct", field: "user.id" },
        { fn: "first", field: "none" },
        { fn: "last", field: "ok" },
      ],
      groupBy: ["route", "level", { bin: "1h" }],
    });
    const { state, left } = fromColumns(plan, lines, { perBatch: 20, groupRows: 50 }, () => true);
    expect(left).toBe(0);
    expect(state.counted).toBe(200);
    expect(state).toEqual(fromLines(plan, lines, 20, () => true));
  });
});

test("4: an object of a joined shape is the value of entries that have no member of it", () => {
  const lines = Array.from({ length: 60 }, (_, at) =>
    line({ n: at, host: at % 3 === 0 ? {} : at % 3 === 1 ? { name: "a" } : { other: at } }, {}, at),
  );
  const plan = planOf({
    aggregations: [{ fn: "count" }, { fn: "count", field: "n.m" }, { fn: "last", field: "host" }],
    groupBy: ["host"],
  });
  const { state, left } = fromColumns(plan, lines, { perBatch: 20, groupRows: 60, exactShapes: 0 }, () => true);
  expect(state).toEqual(fromLines(plan, lines, 20, () => true));
  expect(state.rows).toContain('["a",20,0,"a"]');
  expect(state.rows).toContain("[{},20,0,{}]");
  // Entries with a value in the column of `host.name` need no line.
  expect(left).toBe(40);
});

test("4: ids of two projects are different values", () => {
  const lines = Array.from({ length: 20 }, (_, at) => line({ n: at }, {}, at));
  const plan = planOf({ aggregations: [{ fn: "count_distinct", field: "id" }], groupBy: ["id"] });
  const aggregator = new Aggregator(plan);
  const columns = new ColumnAggregator(aggregator, new WorkMeter());
  const rows = Int32Array.from(lines.keys());
  for (const projectId of ["proj_00000000000a", "proj_00000000000b"]) {
    const { reader, chunk } = open(bytesOf(encode(lines, { projectId })));
    for (const _ of columns.add(reader, 0, rows, (column) => chunk(0, column)));
  }
  expect(stateOf(aggregator).rows).toHaveLength(40);
});

describe("histograms from columns", () => {
  test("2: columns give the counts by bucket and name that lines give", () => {
    const name = fc.constantFrom("level" as const, "category" as const, "type" as const, null);
    const bucketMs = fc.constantFrom(60_000, 300_000, 3_600_000, 86_400_000);
    fc.assert(
      fc.property(anyLines, options, name, bucketMs, (lines, own, groupBy, interval) => {
        const [byLine, byColumn] = [new Map<string, number>(), new Map<string, number>()];
        const addTo = (counts: Map<string, number>) => (start: number, text: string | null, count: number) => {
          const at = JSON.stringify([start, text]);
          counts.set(at, (counts.get(at) ?? 0) + count);
        };
        const byRow = (batch: DecodedBatch, add: CountAdder, isWanted: (at: number) => boolean) => {
          const names = new LineNames();
          new BatchMatcher(OPEN_FILTER).forEachMatch(
            batch.body,
            (_, index) => isWanted(batch.firstSeq - 1 + index),
            (match) => {
              const start = Math.floor(match.timestamp / interval) * interval;
              const counted = names.of(match);
              const text = groupBy === "level" ? LEVELS[counted.level] : groupBy && counted[groupBy];
              add(start, text ?? null, 1);
            },
            () => undefined,
          );
        };
        const batches = batchesOf(lines, own.perBatch);
        for (const batch of batches) byRow(batch, addTo(byLine), () => true);
        const { reader, chunk } = open(bytesOf(encode(lines, own)));
        const counter = new ColumnCounter(interval, groupBy, new WorkMeter());
        let first = 0;
        for (const [group, { rows }] of reader.rowGroups.entries()) {
          const all = Int32Array.from({ length: rows }, (_, row) => row);
          const announced = counter.columnsOf(reader, group);
          const source = (column: number) => chunk(group, announced.includes(column) ? column : -1);
          const steps = counter.count(reader, group, all, source, addTo(byColumn));
          let step = steps.next();
          while (step.done !== true) step = steps.next();
          const left = new Set([...step.value].map((row) => first + row));
          for (const batch of batches) byRow(batch, addTo(byColumn), (at) => left.has(at));
          first += rows;
        }
        expect(byColumn).toEqual(byLine);
      }),
      { numRuns: 60 },
    );
  });
});
