import { expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { chartsOf } from "../../../../web/src/charts/chart-data.ts";
import { shapeOf } from "../../../../web/src/charts/table-shape.ts";
import { barsOf, edgesOf } from "../../../../web/src/pages/explorer/histogram/bars.ts";
import { pictureOf } from "../../../../web/src/pages/explorer/histogram/picture.ts";

const START = Date.UTC(2026, 10, 27, 14);
const MINUTE = 60_000;

it("19: the image of the histogram has its bars", () => {
  const bucket = (minute: number, groups: Record<string, number>) => ({
    ...{ start: new Date(START + minute * MINUTE).toISOString(), groups },
    count: Object.values(groups).reduce((a, b) => a + b, 0),
  });
  const stats = { buckets: [bucket(0, { info: 4 }), bucket(5, { info: 2, error: 3 })], total: 9, complete: true };
  const [start, end] = [START + MINUTE, START + 19 * MINUTE];
  const bars = barsOf(stats, 5 * MINUTE, start, end, 100);
  const times = { from: new Date(start).toISOString(), to: new Date(end).toISOString(), start, end };
  const { title, table, query, range } = pictureOf("level:>=info checkout", bars, edgesOf(bars, times), []);
  expect([title, query]).toEqual([
    "Entries by level: level:>=info checkout",
    "level:>=info checkout | count by level, bin(5m)",
  ]);
  const [chart] = chartsOf(table, shapeOf(parse(query)), range);
  expect(chart).toMatchObject({ kind: "time", from: START, binMs: 5 * MINUTE, spans: bars.length });
  expect(chart?.kind === "time" && chart.series.map(({ name, values }) => [name, values])).toEqual([
    ["error", [0, 3, 0, 0]],
    ["info", [4, 2, 0, 0]],
  ]);
});
