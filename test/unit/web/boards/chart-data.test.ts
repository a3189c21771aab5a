import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import {
  answeredRange,
  chartsOf,
  numberOf,
  panelChart,
  rowsOfGroups,
  type Table,
} from "../../../../web/src/charts/chart-data.ts";
import {
  barTops,
  chosenOf,
  cutOf,
  drawnOf,
  isCutDrawn,
  onlyOf,
  stackedOf,
  topOf,
} from "../../../../web/src/charts/drawn.ts";
import { spanOf } from "../../../../web/src/charts/selection.ts";
import { groupWithout, nullName, shapeOf } from "../../../../web/src/charts/table-shape.ts";
import { axisLabels, ticksOf } from "../../../../web/src/charts/ticks.ts";
import { evenCeiling, niceCeiling } from "../../../../web/src/lib/bar-heights.ts";
import { scaleMark } from "../../../../web/src/lib/scale-mark.ts";
import { threadMs } from "../../../support/thread-time.ts";

const OPEN = { from: null, to: null };
const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 10, minute)).toISOString();
const columns = (...names: string[]) =>
  names.map((name) => ({
    name,
    type: name === "time" ? "time" : /^[a-z]+$/.test(name) && name !== "n" ? "string" : "number",
  }));
const shape = (query: string) => shapeOf(parse(query));

describe("charts of a table over time", () => {
  const table: Table = {
    columns: [
      { name: "route", type: "string" },
      { name: "time", type: "time" },
      { name: "n", type: "number" },
    ],
    rows: [
      ["/a", at(0), 4],
      ["/b", at(10), 9],
      [null, at(5), 1],
    ],
  };
  const byRoute = shape("* | stats max(ms) as n by route, bin(5m)");

  it("17.6: of thousands of groups over thousands of spans take as long as the rows, not as their product", () => {
    const minutes = 2000;
    const rows = Array.from({ length: 5000 }, (_, n) => [`user ${n}`, at(n % minutes), 1]);
    const before = threadMs();
    const [chart] = chartsOf({ columns: table.columns, rows }, shape("* | stats count() as n by route, bin(1m)"), OPEN);
    expect(threadMs() - before).toBeLessThan(200);
    if (chart?.kind !== "time") throw new Error("Nothing is drawn over time.");
    expect([chart.spans, chart.hidden.length, chart.series[0]?.values.length]).toEqual([minutes, 4993, minutes]);
    expect([chart.totals?.[0], chart.totals?.at(-1), chart.rest?.values[0]]).toEqual([3, 2, 2]);
  });

  it("17.6: have a series for each group, the highest first, at the places of its spans", () => {
    const [chart, ...others] = chartsOf(table, byRoute, OPEN);
    expect(others).toEqual([]);
    expect(chart).toMatchObject({
      ...{ kind: "time", measure: "n", from: Date.parse(at(0)), spans: 3, hidden: [], isCount: false },
      series: [
        { name: "/b", values: [null, null, 9], peak: 9 },
        { name: "/a", values: [4, null, null], peak: 4 },
        { name: "no route", values: [null, 1, null], peak: 1 },
      ],
    });
  });

  it("end when the answer was made if the question has no end", () => {
    const now = Date.parse(at(30));
    expect(answeredRange({ from: at(0), to: null }, now)).toEqual({ from: Date.parse(at(0)), to: now });
    expect(answeredRange({ from: at(0), to: at(20) }, now)).toEqual({
      from: Date.parse(at(0)),
      to: Date.parse(at(20)),
    });
    expect(answeredRange({ from: null, to: null }, now)).toEqual({ from: null, to: null });
    expect(chartsOf(table, byRoute, answeredRange({ from: at(-30), to: null }, now))[0]).toMatchObject({
      ...{ from: Date.parse(at(-30)), spans: 12 },
    });
  });

  it("cover the times of the question, and count 0 where a span has no row", () => {
    const counted = {
      ...table,
      columns: table.columns.map((each) => (each.name === "n" ? { ...each, name: "count()" } : each)),
    };
    const range = { from: Date.parse(at(-7)), to: Date.parse(at(16)) };
    const [chart] = chartsOf(counted, shape("* | stats count() by route, bin(5m)"), range);
    expect(chart).toMatchObject({ from: Date.parse(at(-10)), spans: 6, isCount: true });
    expect(chart?.kind === "time" && chart.series[0]?.values).toEqual([0, 0, 0, 0, 9, 0]);
  });

  it("17: have a chart for each value, and none for a key that is a number", () => {
    const made = {
      columns: columns("status1", "time", "n", "p99(ms)", "name"),
      rows: [
        [200, at(0), 4, 80.5, "x"],
        [500, at(0), 1, 900, "x"],
      ],
    };
    const charts = chartsOf(made, { ...byRoute, keys: ["status1", "time"] }, OPEN);
    expect(
      charts.map((each) => each.kind === "time" && [each.measure, each.series.map(({ name, peak }) => [name, peak])]),
    ).toEqual([
      [
        "n",
        [
          ["200 · x", 4],
          ["500 · x", 1],
        ],
      ],
      [
        "p99(ms)",
        [
          ["500 · x", 900],
          ["200 · x", 80.5],
        ],
      ],
    ]);
    // Groups of several values are not drawn into each other.
    expect(panelChart(charts, true)).toBe(charts[0]);
  });

  it("draw values without groups as lines of one chart", () => {
    const made = {
      columns: columns("time", "p50(ms)", "p99(ms)"),
      rows: [
        [at(0), 10, 90],
        [at(5), 12, 80],
      ],
    };
    const chart = panelChart(chartsOf(made, shape("* | stats p50(ms), p99(ms) by bin(5m)"), OPEN), true);
    expect(chart).toMatchObject({
      series: [
        { name: "p50(ms)", values: [10, 12] },
        { name: "p99(ms)", values: [90, 80] },
      ],
    });
  });

  it("stack the sum of all groups: those without a colour of their own are one neutral series", () => {
    const counted = (query: string, name: string) =>
      chartsOf(
        {
          columns: columns("host", "time", name),
          rows: Array.from({ length: 9 }, (_, n) => [`h${n}`, at(n % 2 === 0 ? 0 : 5), 10 - n]),
        },
        shape(query),
        OPEN,
      )[0];
    const chart = counted("* | stats count() by host, bin(5m)", "count()");
    if (chart?.kind !== "time") throw new Error("No chart over time.");
    const bars = drawnOf(chart, false, null);
    expect(bars.all.map(({ name }) => name)).toEqual(["h0", "h1", "h2", "h3", "h4", "h5", "3 more"]);
    expect([bars.hidden, bars.summed]).toEqual([[], ["h6", "h7", "h8"]]);
    expect([bars.stacked?.at(-1)?.to, bars.most]).toEqual([[30, 24], 30]);
    const alone = drawnOf(chart, false, bars.all[2]?.key ?? null);
    expect([alone.all.length, alone.stacked, alone.most]).toEqual([
      7,
      [{ name: "h2", level: null, from: [0, 0], to: [8, 0] }],
      8,
    ]);
    expect(alone.shown).toMatchObject([{ index: 2 }]);
    // A series that is gone hides no other.
    expect(drawnOf(chart, false, "0 h9").shown.length).toBe(7);
    const lines = drawnOf(chart, true, null);
    expect([lines.all.at(-1)?.name, lines.stacked, lines.hidden]).toEqual(["h6", null, ["h7", "h8"]]);
    expect(lines.summed).toEqual([]);
    const renamed = counted("* | stats sum(ms) as n by host, bin(5m)", "n");
    expect(renamed?.kind === "time" && renamed.rest?.values).toEqual([6, 3]);
    const highest = counted("* | stats max(ms) as n by host, bin(5m)", "n");
    expect(highest?.kind === "time" && drawnOf(highest, false, null)).toMatchObject({
      stacked: null,
      hidden: ["h7", "h8"],
    });
  });

  it("name the groups without a value, which no text is", () => {
    const rows = [null, "no route"].map((route) => [route, at(0), 1]);
    const [chart] = chartsOf({ ...table, rows }, byRoute, OPEN);
    expect(chart?.kind === "time" && chart.series.map(({ values }) => values)).toEqual([[1], [1]]);
    if (chart?.kind !== "time") throw new Error("No chart over time.");
    // One of two series with the same name can be drawn alone.
    const { all } = drawnOf(chart, true, null);
    expect(all.map(({ name }) => name)).toEqual(["no route", "no route"]);
    expect(all.map(({ key }) => drawnOf(chart, true, key).shown.map(({ index }) => index))).toEqual([[0], [1]]);
    const patterns = shape("* | patterns 10");
    expect(nullName(patterns, "pattern")).toBe("All other patterns");
    expect([groupWithout(patterns, "pattern"), groupWithout(patterns, "count")]).toEqual(["All other patterns", null]);
    expect([groupWithout(byRoute, "route"), groupWithout(byRoute, "n")]).toEqual(["no route", null]);
  });

  it("say which rows a series of the legend has, as the table below follows it", () => {
    const rows = Array.from({ length: 9 }, (_, n) => [n === 8 ? null : `h${n}`, at(0), 10 - n, n]);
    const counted = {
      columns: columns("host", "time", "count()", "max(ms)"),
      rows: [...rows, ["no host", at(0), 9, 0]],
    };
    const by = shape("* | stats count(), max(ms) by host, bin(5m)");
    const charts = chartsOf(counted, by, OPEN);
    const hostsOf = (measure: string, key: string, isLines = false) => {
      const chosen = chosenOf(charts, isLines, { measure, key });
      return chosen && [chosen.name, ...rowsOfGroups(counted, by, chosen.groups).map(([host]) => host)];
    };
    expect(hostsOf("count()", "0 h0")).toEqual(["h0", "h0"]);
    expect(hostsOf("count()", "rest")).toEqual(["4 more", "h5", "h6", "h7", null]);
    expect(hostsOf("count()", "0 no host")).toEqual(["no host", "no host"]);
    // The highest of the other value is the group without one.
    expect(hostsOf("max(ms)", "0 no host")).toEqual(["no host", null]);
    expect([hostsOf("count()", "rest", true), hostsOf("count()", "0 h9"), hostsOf("n", "0 h0")]).toEqual([
      null,
      null,
      null,
    ]);
    // The rest of one value is not that of another.
    const choices = ["0 h1", "rest"].map((key) => ({ measure: "count()", key }));
    expect(choices.map((each) => onlyOf(each, "max(ms)"))).toEqual(["0 h1", null]);
    expect(choices.map((each) => onlyOf(each, "count()"))).toEqual(["0 h1", "rest"]);
  });

  it("keep the place at which a drag began when a refresh moves the spans", () => {
    const [from, binMs, spans] = [600_000, 60_000, 10];
    const begun = from + 4 * binMs;
    const anchors = [from, from + 3 * binMs, from + 7 * binMs].map((now) => spanOf(begun, now, binMs, spans));
    expect(anchors).toEqual([4, 1, 0]);
    expect(spanOf(begun, from, 5 * binMs, 2)).toBe(0);
    expect(spanOf(begun, from - 9 * binMs, binMs, spans)).toBe(9);
  });

  it("say which spans the range cuts, and how far these reach", () => {
    const cut = (from: number | null, to: number | null, isJoined = false) => {
      const range = { from: from === null ? null : Date.parse(at(from)), to: to === null ? null : Date.parse(at(to)) };
      const [chart] = chartsOf(table, byRoute, range);
      return chart?.kind === "time" ? cutOf(chart, isJoined) : null;
    };
    expect(cut(null, null)).toEqual({ start: 0, end: 0 });
    expect(cut(0, 15)).toEqual({ start: 0, end: 0 });
    expect(cut(-4, 15)).toEqual({ start: 1 / 4, end: 0 });
    expect(cut(-5, 19)).toEqual({ start: 0, end: 1 / 5 });
    // Joined values meet in the middle of the next span.
    expect(cut(-4, 14, true)).toEqual({ start: 1.5 / 4, end: 1.5 / 4 });
  });

  it("say that a span is cut only if something is drawn in it", () => {
    const one = (values: (number | null)[]) => ({
      shown: [{ name: "", level: null, values, peak: 9, index: 0, colour: 0, key: "", groups: [] }],
    });
    expect(isCutDrawn(one([0, 9, null]), { start: 0.3, end: 0.3 })).toBe(false);
    expect(isCutDrawn(one([0, 9, 2]), { start: 0.3, end: 0.3 })).toBe(true);
    expect(isCutDrawn(one([2, 9, 0]), { start: 0.3, end: 0.3 })).toBe(true);
    expect(isCutDrawn(one([2, 9, 2]), { start: 0, end: 0 })).toBe(false);
  });

  it("have levels in the order of their severity, and with their names", () => {
    const made = {
      columns: columns("level", "time", "n"),
      rows: [
        ["info", at(0), 90],
        ["fatal", at(0), 1],
        ["warn", at(0), 5],
      ],
    };
    const [chart] = chartsOf(made, shape("* | count by level, bin(5m)"), OPEN);
    expect(chart?.kind === "time" && chart.series.map(({ level }) => level)).toEqual(["fatal", "warn", "info"]);
  });

  it("are absent without numbers or rows, and of times that lie too far apart", () => {
    expect(chartsOf({ ...table, rows: [] }, byRoute, OPEN)).toEqual([]);
    expect(chartsOf({ ...table, columns: table.columns.slice(0, 2) }, byRoute, OPEN)).toEqual([]);
    expect(
      chartsOf(
        {
          ...table,
          rows: [
            ["a", "2020-01-01T00:00:00Z", 1],
            ["a", at(0), 1],
          ],
        },
        byRoute,
        OPEN,
      ),
    ).toEqual([]);
  });
});

describe("charts of groups, and numbers", () => {
  const top = {
    columns: columns("level", "type", "n"),
    rows: [
      ["error", "request", 7],
      ["warn", null, 3],
    ],
  };

  it("have a bar for each row", () => {
    expect(chartsOf(top, shape("* | top 10 by level, type"), OPEN)).toEqual([
      {
        ...{ kind: "groups", measure: "n", hidden: [] },
        groups: [
          { name: "error · request", level: null, value: 7 },
          { name: "warn · no type", level: null, value: 3 },
        ],
      },
    ]);
  });

  it("show a count, the first group, or the last span", () => {
    const numbers = (table: Table, query: string) => numberOf(chartsOf(table, shape(query), OPEN));
    expect(numbers({ columns: columns("n"), rows: [[12]] }, "* | count")).toEqual({
      measure: "n",
      value: 12,
      values: [],
      of: null,
    });
    expect(numbers(top, "* | top 10 by level, type")).toMatchObject({ value: 7, of: "error · request" });
    const over = {
      columns: columns("time", "n"),
      rows: [
        [at(0), 3],
        [at(5), 8],
      ],
    };
    expect(numbers(over, "* | count by bin(5m)")).toMatchObject({
      ...{ value: 8, values: [3, 8], of: "last bin" },
    });
    const groups = (name: string) => ({
      columns: columns("host", "time", name),
      rows: [
        ["a", at(0), 3],
        ["b", at(0), 9],
        ["a", at(5), 4],
      ],
    });
    expect(numbers(groups("count()"), "* | stats count() by host, bin(5m)")).toEqual({
      ...{ measure: "count()", value: 16, values: [12, 4], of: "total" },
    });
    expect(numbers(groups("p95(ms)"), "* | stats p95(ms) by host, bin(5m)")).toMatchObject({
      ...{ value: 9, of: "last bin of b" },
    });
    // Rates of different spans cannot be added.
    expect(numbers(groups("rate()"), "* | stats rate() by host, bin(5m)")).toMatchObject({ of: "last bin of b" });
    expect(numbers({ columns: columns("level"), rows: [["info"]] }, "* | fields level")).toBeNull();
  });
});

describe("drawing", () => {
  it("stacks series on each other: the last top is the sum of all", () => {
    const values = fc.array(fc.option(fc.nat({ max: 1000 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 5 }), (all) => {
        const length = Math.min(...all.map((each) => each.length));
        const series = all.map((each, index) => ({
          name: `${index}`,
          groups: [`${index}`],
          level: null,
          values: each.slice(0, length),
          peak: 0,
        }));
        const stacked = stackedOf(series);
        for (const [index, { from }] of stacked.entries()) {
          if (index > 0) expect(from).toEqual(stacked[index - 1]?.to);
        }
        const sums = Array.from({ length }, (_, span) =>
          series.reduce((sum, each) => sum + (each.values[span] ?? 0), 0),
        );
        expect(stacked.at(-1)?.to).toEqual(sums);
      }),
    );
  });

  it("draws few errors among many entries two pixels high, and no bar higher for it", () => {
    const of = (level: "error" | "info" | null, values: (number | null)[]) => ({ level, values });
    // A pixel is 100 entries.
    const series = [of("error", [1, 700, null, 0]), of("info", [9000, 9000, 50, null])];
    expect(barTops(series, 100)).toEqual([
      { from: [0, 0, 0, 0], to: [200, 700, 0, 0] },
      { from: [200, 700, 0, 0], to: [9001, 9700, 100, 0] },
    ]);
    const parts = fc.array(fc.nat({ max: 100_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 1000 }), (values, perPixel) => {
        const levels = ["fatal", "error", "warn", "info", "debug"] as const;
        const tops = barTops(
          values.map((value, at) => ({ level: levels[at] ?? null, values: [value] })),
          perPixel,
        );
        const sum = values.reduce((all, each) => all + each, 0);
        const severe = values.slice(0, 2).filter((value) => value > 0).length;
        const room = values.slice(2).reduce((all, each) => all + each, 0);
        const total = tops.at(-1)?.to[0] ?? 0;
        // The levels above give the pixels, as far as they have them.
        if (room >= 2 * severe * perPixel && sum >= perPixel) expect(total).toBe(sum);
        expect(total).toBeGreaterThanOrEqual(sum);
        expect(total).toBeLessThanOrEqual(sum + Math.max(1, 2 * severe) * perPixel);
      }),
    );
  });

  it("ends an axis at a round number that is not below the highest value, nor far above it", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (value) => {
        expect(niceCeiling(value)).toBeGreaterThanOrEqual(value * (1 - 1e-9));
        expect(niceCeiling(value)).toBeLessThanOrEqual(value * 2.5);
      }),
    );
    expect([0, 1, 3, 9, 11, 240].map(niceCeiling)).toEqual([1, 1, 3, 10, 12, 250]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), (value) => {
        const top = evenCeiling(value);
        expect(top).toBeGreaterThanOrEqual(value);
        expect(top).toBeLessThanOrEqual(value * 2.5);
        expect(Number.isInteger(top / 2)).toBe(true);
      }),
    );
    expect([0, 1, 3, 5, 13, 22, 150, 240].map(evenCeiling)).toEqual([2, 2, 4, 6, 16, 30, 150, 250]);
  });

  it("has whole times of the zone below it, at most 7, inside the range", () => {
    const zone = fc.integer({ min: -48, max: 56 }).map((quarters) => quarters * 900_000);
    const from = fc.integer({ min: 0, max: 2e12 });
    fc.assert(
      fc.property(from, fc.integer({ min: 1000, max: 365 * 86_400_000 }), zone, (start, length, offset) => {
        const { times, stepMs } = ticksOf(start, start + length, offset);
        expect(times.length).toBeLessThanOrEqual(8);
        for (const time of times) {
          expect(time).toBeGreaterThanOrEqual(start);
          expect(time).toBeLessThan(start + length);
          expect(Math.abs(Math.round((time + offset) / stepMs) * stepMs - (time + offset))).toBeLessThan(1);
        }
      }),
    );
    const noon = Date.UTC(2026, 10, 22, 12);
    const { times } = ticksOf(noon - 86_400_000 + 60_000, noon, 3_600_000);
    expect(times.map((time) => new Date(time).getUTCHours())).toEqual([15, 19, 23, 3, 7, 11]);
  });

  it("has no time below it that reaches beyond it or touches another", () => {
    const from = fc.integer({ min: 0, max: 2e12 });
    const width = fc.integer({ min: 0, max: 2000 });
    fc.assert(
      fc.property(from, fc.integer({ min: 1000, max: 365 * 86_400_000 }), width, (start, length, width) => {
        let before = 0;
        for (const { time, text, edge } of axisLabels(start, start + length, 0, width)) {
          const [place, size] = [((time - start) / length) * width, 6.2 * text.length];
          const left = place - (edge === undefined ? size / 2 : edge === "start" ? 0 : size);
          expect(left).toBeGreaterThanOrEqual(before);
          before = left + size;
          expect(before).toBeLessThanOrEqual(width);
        }
      }),
    );
  });

  it("has those times below it that have room, also one that is close to the end", () => {
    const minute = 60_000;
    const from = Date.UTC(2026, 10, 28, 6, 40);
    const labels = (width: number, minutes = 270, end = "") =>
      axisLabels(from, from + minutes * minute, 0, width, end).map(({ time, edge }) => [
        new Date(time).getUTCHours(),
        edge,
      ]);
    // The last of them is 10 minutes before the end.
    const inside = [7, 8, 9, 10].map((hour) => [hour, undefined]);
    expect(labels(620)).toEqual([...inside, [11, undefined]]);
    expect(labels(400)).toEqual([...inside, [11, "end"]]);
    expect(labels(400, 270, "now")).toEqual(inside);
    expect(labels(620, 260, "now")).toEqual(inside);
    // In little room, there is every second one; before the drawing is measured, there is none.
    expect(labels(140).map(([hour]) => hour)).toEqual([7, 9, 11]);
    expect(labels(0)).toEqual([]);
  });
});

it("the marks of whole values are whole, and those of other values as close as before", () => {
  const top = (...values: (number | null)[]) => {
    const most = Math.max(...values.map((each) => each ?? 0));
    return topOf({
      all: [{ name: "", groups: [], level: null, values, peak: most, index: 0, key: "", colour: 0 }],
      most,
    });
  };
  expect([top(0, 1), top(25, null, 3), top(25, 2.5), top(0.4)]).toEqual([2, 30, 25, 0.4]);
});

it("the middle of a scale is half of its peak, not rounded to another number", () => {
  const peaks = [1, 2, 2.5, 5].flatMap((step) => [1, 10, 1000, 1e6].map((unit) => step * unit));
  const read = (text: string): number =>
    Number.parseFloat(text) * (text.endsWith("K") ? 1000 : text.endsWith("M") ? 1e6 : 1);
  expect(peaks.map((peak) => read(scaleMark(peak / 2)))).toEqual(peaks.map((peak) => peak / 2));
});
