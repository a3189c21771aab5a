import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLogql } from "../../../src/logql/parse.ts";
import { aggregateSeries, compute, evaluate, printValue, type Series } from "../../../src/logql/series.ts";
import { RANGE_FUNCTIONS, type RangeAggregation, type RangeFunction } from "../../../src/logql/syntax.ts";
import { quantileOf, RangeWindows, type Steps } from "../../../src/logql/windows.ts";

const UNWRAPPED = new Set<RangeFunction>([
  ...(["sum_over_time", "avg_over_time", "min_over_time", "max_over_time"] as const),
  ...(["first_over_time", "last_over_time", "quantile_over_time"] as const),
]);

function aggregation(fn: RangeFunction, range: number, offset: number): RangeAggregation {
  const parameter = fn === "quantile_over_time" ? "0.9, " : "";
  const unwrap = UNWRAPPED.has(fn) ? "| unwrap x" : "";
  const parsed = parseLogql(`${fn}(${parameter}{a="b"} ${unwrap} [${range}ms] offset ${offset}ms)`);
  if (parsed.kind !== "range") throw new Error("It is a range aggregation.");
  return parsed;
}

interface Sample {
  time: number;
  value: number;
}

/** The reference: samples of each window, in the order of time. */
function expected(fn: RangeFunction, samples: readonly Sample[], seconds: number): number | null {
  const values = samples.map(({ value }) => value);
  const sum = values.reduce((all, value) => all + value, 0);
  if (fn === "absent_over_time") return values.length === 0 ? 1 : null;
  if (values.length === 0) return null;
  switch (fn) {
    case "count_over_time":
      return values.length;
    case "rate":
      return values.length / seconds;
    case "bytes_rate":
      return sum / seconds;
    case "bytes_over_time":
    case "sum_over_time":
      return sum;
    case "avg_over_time":
      return sum / values.length;
    case "min_over_time":
      return Math.min(...values);
    case "max_over_time":
      return Math.max(...values);
    case "first_over_time":
      return values[0] ?? null;
    case "last_over_time":
      return values.at(-1) ?? null;
    case "quantile_over_time":
      return quantileOf(values, 0.9);
  }
}

describe("windows of range aggregations", () => {
  const cases = fc.record({
    fn: fc.constantFrom(...RANGE_FUNCTIONS),
    range: fc.integer({ min: 1, max: 50 }),
    offset: fc.integer({ min: 0, max: 20 }),
    step: fc.integer({ min: 1, max: 30 }),
    count: fc.integer({ min: 1, max: 12 }),
    samples: fc.array(fc.record({ time: fc.integer({ min: 0, max: 200 }), value: fc.integer({ min: -50, max: 50 }) })),
    seed: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
  });

  test("each has the samples after t - range up to t, in any order of adding", () => {
    fc.assert(
      fc.property(cases, ({ fn, range, offset, step, count, samples, seed }) => {
        const steps: Steps = { first: 60, step, count };
        const ordered = samples
          .map((sample, seq) => ({ ...sample, seq }))
          .sort((a, b) => a.time - b.time || a.seq - b.seq);
        const windows = new RangeWindows(aggregation(fn, range, offset), steps);
        const shuffled = ordered.toSorted(
          (a, b) => ((seed[a.seq % seed.length] ?? 0) % 7) - ((seed[b.seq % seed.length] ?? 0) % 7),
        );
        for (const { time, value, seq } of shuffled) windows.add(new Map(), value, { timestamp: time, seq });
        const [series] = windows.finish(new Map());
        for (let at = 0; at < count; at++) {
          const end = steps.first + at * step - offset;
          const inside = ordered.filter(({ time }) => time > end - range && time <= end);
          const wanted = expected(fn, inside, range / 1000);
          const found = series?.has[at] === 1 ? (series.values[at] ?? null) : null;
          if (wanted === null || found === null) expect(found).toBe(wanted);
          else expect(found).toBeCloseTo(wanted, 8);
        }
        const { from, to } = windows.span;
        const used = ordered.filter(({ time }) => time >= from && time < to);
        if (series !== undefined && fn === "count_over_time") expect(used.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe("aggregations over series", () => {
  const series = (name: string, ...values: (number | null)[]): Series => ({
    labels: new Map([
      ["a", name],
      ["b", name === "z" ? "2" : "1"],
    ]),
    values: Float64Array.from(values, (value) => value ?? 0),
    has: Uint8Array.from(values, (value) => (value === null ? 0 : 1)),
  });
  const all = [series("x", 1, null), series("y", 3, 4), series("z", 5, null)];
  const by = { isWithout: false, labels: ["b"] };
  const shown = (result: readonly Series[]) =>
    result.map(({ labels, values, has }) => [
      Object.fromEntries(labels),
      ...[...values].map((value, at) => (has[at] === 1 ? value : null)),
    ]);

  test.for<["sum" | "avg" | "min" | "max" | "count", (number | null)[][]]>([
    [
      "sum",
      [
        [4, 4],
        [5, null],
      ],
    ],
    [
      "avg",
      [
        [2, 4],
        [5, null],
      ],
    ],
    [
      "min",
      [
        [1, 4],
        [5, null],
      ],
    ],
    [
      "max",
      [
        [3, 4],
        [5, null],
      ],
    ],
    [
      "count",
      [
        [2, 1],
        [1, null],
      ],
    ],
  ])("%s by a label", ([fn, values]) => {
    expect(shown(aggregateSeries(all, fn, null, by, 2)).map(([, ...rest]) => rest)).toEqual(values);
  });

  test("topk and bottomk keep whole label sets, by step", () => {
    expect(shown(aggregateSeries(all, "topk", 1, null, 2))).toEqual([
      [{ a: "y", b: "1" }, null, 4],
      [{ a: "z", b: "2" }, 5, null],
    ]);
    expect(shown(aggregateSeries(all, "bottomk", 1, { isWithout: true, labels: ["a"] }, 2)).length).toBe(3);
  });

  test("numbers and comparisons", () => {
    const value = (query: string) => {
      const parsed = parseLogql(query);
      if (parsed.kind === "logs") throw new Error("It is a metric.");
      return evaluate(parsed, 2, () => all);
    };
    expect(value("1 + 2 * 3 ^ 2")).toEqual({ kind: "number", value: 19 });
    expect(value("vector(1)+vector(1)")).toMatchObject({ series: [{ values: Float64Array.of(2, 2) }] });
    const filtered = value('count_over_time({a="b"}[1m]) > 2');
    expect(filtered.kind === "series" && shown(filtered.series)).toEqual([
      [{ a: "y", b: "1" }, 3, 4],
      [{ a: "z", b: "2" }, 5, null],
    ]);
    const bool = value('2 < bool count_over_time({a="b"}[1m])');
    expect(bool.kind === "series" && shown(bool.series)[0]).toEqual([{ a: "x", b: "1" }, 0, null]);
    expect(compute("/", 1, 0)).toBeNaN();
  });

  test.for([
    ["/", [[{ a: "y", b: "1" }, 3 / 2, null]]],
    [">", [[{ a: "y", b: "1" }, 3, null]]],
    ["<= bool", [[{ a: "y", b: "1" }, 0, null]]],
    ["and", [[{ a: "y", b: "1" }, 3, null]]],
    [
      "unless",
      [
        [{ a: "x", b: "1" }, 1, null],
        [{ a: "y", b: "1" }, null, 4],
        [{ a: "z", b: "2" }, 5, null],
      ],
    ],
    [
      "or",
      [
        [{ a: "x", b: "1" }, 1, null],
        [{ a: "y", b: "1" }, 3, 4],
        [{ a: "z", b: "2" }, 5, null],
        [{ a: "new" }, null, 7],
      ],
    ],
  ])("%s between vectors pairs series of the same labels, by step", ([operator, expected]) => {
    const others = [series("y", 2, null), { ...series("new", null, 7), labels: new Map([["a", "new"]]) }];
    const parsed = parseLogql(`rate({a="b"}[1m]) ${operator} count_over_time({a="b"}[1m])`);
    if (parsed.kind === "logs") throw new Error("It is a metric.");
    const value = evaluate(parsed, 2, ({ fn }) => (fn === "rate" ? all : others));
    expect(value.kind === "series" && shown(value.series)).toEqual(expected);
  });

  test("values have no exponent", () => {
    expect([1e21, 1.5e-7, -2e25, Number.NaN, Infinity, 0.1].map(printValue)).toEqual([
      "1000000000000000000000",
      "0.00000015",
      "-20000000000000000000000000",
      "NaN",
      "+Inf",
      "0.1",
    ]);
  });
});
