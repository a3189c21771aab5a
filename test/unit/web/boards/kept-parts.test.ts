import { expect, it } from "vitest";
import { fixedRange, fixedTimes, partsOf, spansWithRows } from "../../../../web/src/pages/boards/kept-parts.ts";

const MINUTE = 60_000;
const CHART = { start: 0, end: 100 * MINUTE };
const at = (start: number, end: number) => ({ start: start * MINUTE, end: end * MINUTE });

it("19: a panel can keep the selected part of a chart, and that with entries where they fill little of it", () => {
  expect(partsOf(CHART, [at(72, 73), at(70, 71), at(75, 80)], at(70, 72))).toEqual({
    selected: at(70, 72),
    entries: at(60, 90),
  });
  // The first and the last bar begin before and end after the chart.
  expect(partsOf(CHART, [at(-5, 5)], at(95, 105))).toEqual({ selected: at(95, 100), entries: at(0, 15) });
  // The whole is offered in any case.
  expect(partsOf(CHART, [at(30, 31), at(46, 47)], at(-5, 105))).toEqual({});
  expect(partsOf(CHART, [at(30, 31), at(45, 46)], null)).toEqual({ entries: at(14, 62) });
  expect(partsOf(CHART, [], null)).toEqual({});
  expect(fixedTimes(fixedRange(at(70, 80)))).toEqual(at(70, 80));
  expect([fixedTimes(null), fixedTimes({ last: "24h" }), fixedTimes({ from: null, to: null })]).toEqual([
    null,
    null,
    null,
  ]);
});

it("19: the rows of a table over time are spans of its bins", () => {
  const table = {
    columns: [
      { name: "route", type: "string" },
      { name: "time", type: "time" },
      { name: "count", type: "number" },
    ],
    rows: [["/a", new Date(70 * MINUTE).toISOString(), 1]],
  };
  expect(spansWithRows(table, "* | count by route, bin(5m)")).toEqual([at(70, 75)]);
  expect(spansWithRows(table, "* | count by route")).toEqual([]);
});
