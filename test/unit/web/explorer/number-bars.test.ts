import { describe, expect, it } from "vitest";
import { barsOf } from "../../../../web/src/pages/explorer/fields/number-bars.ts";

describe("the histogram of a number", () => {
  it("shows two peaks that percentiles hide, and counts each number once", () => {
    const points = { min: 0, p50: 10, p90: 90, p99: 95, max: 100 };
    const rows = [
      ...Array.from({ length: 11 }, (_, at) => [at, 5]),
      ...Array.from({ length: 11 }, (_, at) => [90 + at, 4]),
    ];
    const bars = barsOf([...rows, [null, 7], ["text", 7]], points);
    expect(bars).toHaveLength(20);
    expect(bars.reduce((sum, count) => sum + count, 0)).toBe(99);
    expect(bars.flatMap((count, at) => (count === 0 ? [] : [at]))).toEqual([0, 1, 2, 18, 19]);
  });

  it("has orders of magnitude if the greatest is far from the middle, and one bar for one number", () => {
    const wide = { min: 0, p50: 3, p90: 20, p99: 900, max: 100_000 };
    expect(
      barsOf(
        [
          [3, 1],
          [30, 1],
          [300, 1],
        ],
        wide,
      ).flatMap((count, at) => (count === 0 ? [] : [at])),
    ).toEqual([2, 5, 9]);
    expect(barsOf([[7, 3]], { min: 7, p50: 7, p90: 7, p99: 7, max: 7 }).at(-1)).toBe(3);
    // A live view may find numbers beyond the ends that were asked for before.
    expect(
      barsOf(
        [
          [-5, 1],
          [2e6, 2],
        ],
        wide,
      ),
    ).toMatchObject({ 0: 1, 19: 2 });
  });
});
