import { expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { chartsOf } from "../../../../web/src/charts/chart-data.ts";
import type { Layout } from "../../../../web/src/charts/image/layout.ts";
import { timePart } from "../../../../web/src/charts/image/parts.ts";
import { shapeOf } from "../../../../web/src/charts/table-shape.ts";
import { zone } from "../../../../web/src/lib/zone.ts";

zone.value = "UTC";

const START = Date.UTC(2026, 10, 27, 14);
const MINUTE = 60_000;

it("19: an image says what a bar is, and what the releases changed", () => {
  const table = {
    columns: [
      { name: "time", type: "time" },
      { name: "count", type: "number" },
    ],
    rows: [0, 5].map((minute) => [new Date(START + minute * MINUTE).toISOString(), 3]),
  };
  const [chart] = chartsOf(table, shapeOf(parse("* | count by bin(5m)")), { from: START, to: START + 10 * MINUTE });
  if (chart?.kind !== "time") throw new Error("No chart over time.");
  const texts: string[] = [];
  const context = {
    measureText: (text: string) => ({ width: 6 * text.length }),
    fillText: (text: string) => void texts.push(text),
    fillRect: () => undefined,
  };
  // SAFETY: texts below the drawing need no other members.
  const layout: Layout = { context: context as never, colour: () => "", parts: [], y: 0 };
  const release = (version: string, minute: number, change: string) => ({
    ...{ service: "payments", version, at: START + minute * MINUTE, previous: null, change },
  });
  timePart(layout, chart, "bars", [release("5.7.9", 1, ""), release("5.8.0", 6, "timeoutMs.nordpay 3000 \u2192 300")]);
  const [, ...below] = layout.parts;
  for (const draw of below) draw();
  expect(texts).toEqual([
    ...["per 5 minutes", "count"],
    expect.stringMatching(/^\u25cf payments 5\.7\.9 .*14:01$/),
    expect.stringMatching(/^\u25c6 payments 5\.8\.0 .*14:06 timeoutMs\.nordpay 3000 \u2192 300$/),
  ]);
});
