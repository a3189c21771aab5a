import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Aggregator, type PartialTable } from "../../../src/logs/aggregate/aggregator.ts";
import { fieldOf } from "../../../src/logs/aggregate/fields.ts";
import { type Aggregation, FIELD_FUNCTIONS, type GroupKey, planOf } from "../../../src/logs/aggregate/plan.ts";
import { MAX_ROWS, type Table, tableOf } from "../../../src/logs/aggregate/table.ts";
import { inOneStep } from "./steps.ts";

/** One entry: its group, its number and its text. */
type Item = readonly [group: string, number: number | null, text: string];

function field(name: string) {
  const known = fieldOf(name);
  if (known === null) throw new Error(name);
  return known;
}

const KEYS: GroupKey[] = [{ name: "g", field: field("g") }];
const AGGREGATIONS: Aggregation[] = [
  { fn: "count", field: null, name: "count" },
  ...FIELD_FUNCTIONS.map((fn): Aggregation => {
    const on = ["count_distinct", "first", "last", "values"].includes(fn) ? "t" : "n";
    return { fn, field: field(on), name: fn };
  }),
];
const PLAN = planOf(KEYS, AGGREGATIONS, null);

function aggregated(items: readonly Item[], first = 0): Aggregator {
  const aggregator = new Aggregator(PLAN);
  for (const [at, [group, number, text]] of items.entries()) {
    const of = aggregator.groups.groupOf([aggregator.groups.keys[0]?.idOf(JSON.stringify(group), (same) => same) ?? 0]);
    aggregator.entries.add(of, 1);
    const position = { timestamp: 1, seq: first + at, projectId: "proj_00000000000a" };
    for (const measure of aggregator.measures) {
      if (number !== null) aggregator.addNumber(measure, of, number);
      aggregator.addText(measure, of, JSON.stringify(text), (same) => same);
      aggregator.addWhole(measure, of, position, () => JSON.stringify(text));
    }
  }
  return aggregator;
}

function table(aggregator: Aggregator): Table {
  return inOneStep(tableOf(aggregator, { sort: null, limit: MAX_ROWS, bytes: 1e9 }));
}

/** As if the states came from other objects. */
function merged(partials: readonly PartialTable[]): Aggregator {
  const whole = new Aggregator(PLAN);
  for (const partial of partials) expect(inOneStep(whole.merge(structuredClone(partial)))).toBe(true);
  return whole;
}

const number = fc.oneof(
  fc.constantFrom(0, -0, 1, 0.1, 0.2, 1e308, -1e308, 5e-324, 1e16, 1, -1e16, 2 ** 53, 1.7976931348623157e308),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 0, max: 1000 }),
);
const item: fc.Arbitrary<Item> = fc.tuple(
  fc.constantFrom("a", "b", "c"),
  fc.option<number, null>(number, { nil: null, freq: 6 }),
  fc.constantFrom("x", "y", "z", "ж"),
);

describe("a partial table", () => {
  it("4: gives the same table however the entries were split and in whatever order their states are merged", () => {
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 60 }),
        fc.array(fc.nat({ max: 60 }), { maxLength: 4 }),
        fc.array(fc.nat(), { minLength: 5, maxLength: 5 }),
        (items, cuts, order) => {
          const bounds = [0, ...cuts.sort((a, b) => a - b), items.length];
          const parts = bounds.slice(1).map((end, at) => {
            const start = Math.min(bounds[at] ?? 0, items.length);
            return { rank: order[at] ?? 0, state: aggregated(items.slice(start, end), start).partial() };
          });
          const states = parts.sort((a, b) => a.rank - b.rank).map(({ state }) => state);
          expect(table(merged(states))).toEqual(table(aggregated(items)));
          const [head, ...tail] = states;
          // States of merged states, too.
          expect(table(merged([merged(tail).partial(), ...(head ? [head] : [])]))).toEqual(table(aggregated(items)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("does not fit into an aggregator that would have too many groups", () => {
    const items = Array.from({ length: 60_000 }, (_, at): Item => [`${at}`, null, ""]);
    const others = items.map(([group]): Item => [`other ${group}`, null, ""]);
    const whole = aggregated(items);
    expect(inOneStep(whole.merge(aggregated(others).partial()))).toBe(false);
  });
});
