import { expect, it } from "vitest";
import { zone } from "../../../../web/src/lib/zone.ts";
import {
  boundsOf,
  fittingKind,
  kindsOf,
  offeredRanges,
  ownTimeText,
  panelName,
  spansOf,
} from "../../../../web/src/pages/boards/board-query.ts";
import { chartPipes, MOST_WIDE_BINS } from "../../../../web/src/pages/explorer/fields/field-groups.ts";

zone.value = "UTC";

const NOW = Date.UTC(2026, 10, 27, 20);
const HOUR = 3_600_000;

it("19: a panel's own time is called fixed only if it has two times", () => {
  const [relative, fixed] = offeredRanges({ kind: "last", preset: "24h" }, NOW);
  expect(relative).toEqual({ last: "24h" });
  expect(fixed).toEqual({ from: new Date(NOW - 24 * HOUR).toISOString(), to: new Date(NOW).toISOString() });
  expect(ownTimeText(relative ?? null, NOW)).toBe("Always: last 24 hours");
  expect(ownTimeText(fixed ?? null, NOW)).toMatch(/^Fixed: .*26.* \u2013 .*27/);
  expect(ownTimeText(null, NOW)).toBe("Always: all time");
  expect(ownTimeText({ from: new Date(NOW).toISOString(), to: null }, NOW)).toMatch(/^Always: since /);
  const between = { from: new Date(NOW - HOUR).toISOString(), to: new Date(NOW).toISOString() };
  expect(offeredRanges({ kind: "between", ...between }, NOW)).toEqual([between]);
});

it("19: a panel's own duration begins in 1970 at the earliest, because the service refuses earlier times and then the whole board", () => {
  expect(boundsOf({ last: "2d" }, NOW)).toEqual({ from: new Date(NOW - 48 * HOUR).toISOString() });
  expect(boundsOf({ last: "9999w" }, NOW)).toEqual({ from: "1970-01-01T00:00:00.000Z" });
});

it("19: a panel whose title is empty or white space has the name of its query", () => {
  expect(["", "  ", "Errors"].map((title) => panelName({ title, query: "* | count" }))).toEqual([
    ...["* | count", "* | count", "Errors"],
  ]);
});

it("19: the saved histogram has the bins of the explorer's bars", () => {
  const binsOf = (hours: number) => {
    // A relative range begins at a whole minute.
    const query = `* ${chartPipes("level", "string", { start: NOW - hours * HOUR - 59_000, end: NOW }, MOST_WIDE_BINS)}`;
    return [/bin\((.*)\)/.exec(query)?.[1], spansOf(query, { kind: "last", preset: `${hours}h` }, NOW)];
  };
  expect([1, 4, 24, 168].map(binsOf)).toEqual([
    ["1m", 60],
    ["1m", 240],
    ["5m", 288],
    ["1h", 168],
  ]);
  expect(spansOf("* | count by level", { kind: "all" }, NOW)).toBe(0);
});

it("19: bars and areas are offered where a value of groups can be added", () => {
  const p95 = "* | stats p95(ms) by route, bin(5m)";
  expect(kindsOf(p95)).toEqual(["line", "number", "table"]);
  expect((["bars", "area", "number", "table"] as const).map((kind) => fittingKind(p95, kind))).toEqual([
    ...["line", "line", "number", "table"],
  ]);
  for (const query of [
    "* | stats p95(ms) by bin(5m)",
    "* | stats p95(ms), count() as n by route, bin(5m)",
    "* | count by route, bin(5m)",
  ]) {
    expect([kindsOf(query)[0], fittingKind(query, "area")], query).toEqual(["bars", "area"]);
  }
  expect(fittingKind("* | top 5 by route", "bars")).toBe("bars");
});
