import fc from "fast-check";
import { expect, test } from "vitest";
import { Aggregator } from "../../../src/logs/aggregate/aggregator.ts";
import { orderGroups } from "../../../src/logs/aggregate/order.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { inOneStep } from "./steps.ts";

test("4: the first groups of a large table are those of the whole order", () => {
  const { plan } = TableBody.parse({ aggregations: [{ fn: "count" }], groupBy: ["level", "a"] });
  const text = fc.constantFrom('"b"', "1", "true", "null", '"a"', "12", "{}", '"info"', '"error"');
  const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(Number.NaN));
  const group = fc.tuple(fc.constantFrom('"info"', '"error"', "null"), text, fc.nat({ max: 20 }), value);
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 1, maxLength: 150 }),
      fc.nat({ max: 6 }),
      fc.constantFrom("asc" as const, "desc" as const),
      (groups, limit, order) => {
        const aggregator = new Aggregator(plan);
        const values: number[] = [];
        for (const [level, a, more, own] of groups) {
          const id = (key: number, json: string) => aggregator.groups.keys[key]?.idOf(json, (same) => same) ?? 0;
          values[aggregator.groups.groupOf([id(0, level), id(1, more === 0 ? a : `"${a.length}${more}"`)])] ??= own;
        }
        const numberOf = (at: number) => values[at] ?? Number.NaN;
        const all = inOneStep(orderGroups(aggregator, numberOf, order, Number.POSITIVE_INFINITY));
        const first = inOneStep(orderGroups(aggregator, numberOf, order, limit));
        expect([...first.subarray(0, limit)]).toEqual([...all.subarray(0, limit)]);
      },
    ),
    { numRuns: 500 },
  );
});
