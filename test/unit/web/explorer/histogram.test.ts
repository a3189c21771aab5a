import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { barsOf, bucketsOf, edgesOf, highest } from "../../../../web/src/pages/explorer/histogram/bars.ts";
import { fineMs, intervalFor, intervalMs } from "../../../../web/src/pages/explorer/histogram/buckets.ts";
import { endsWithin, layersOf } from "../../../../web/src/pages/explorer/histogram/layers.ts";

const DAY = 86_400_000;
/** Largest number of buckets in a response of the API. */
const MAX_BUCKETS = 2000;
const LONGEST_RETENTION_DAYS = 365;

describe("the histogram", () => {
  it("never requests more buckets than the API returns", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: LONGEST_RETENTION_DAYS * DAY }), (ms) => {
        // Entries may be a day ahead, and the first bucket starts before the range.
        expect((ms + DAY) / intervalMs(intervalFor(ms)) + 1).toBeLessThanOrEqual(MAX_BUCKETS);
      }),
    );
  });

  it("counts every entry once, in consecutive bars that fit the width", () => {
    const cases = fc.record({
      start: fc.integer({ min: 1.7e12, max: 1.8e12 }),
      length: fc.integer({ min: 60_000, max: 60 * DAY }),
      most: fc.integer({ min: 12, max: 400 }),
      isFixed: fc.boolean(),
      counts: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 1000 }))),
    });
    fc.assert(
      fc.property(cases, ({ start, length, most, isFixed, counts }) => {
        // Only a range with two fixed ends has bars of seconds.
        const width = (isFixed ? fineMs(length) : null) ?? intervalMs(intervalFor(length));
        const times = counts.map(
          ([place, count]) => [Math.floor((start + place * length) / width) * width, count] as const,
        );
        const buckets = times
          .sort(([a], [b]) => a - b)
          .map(([at, count]) => ({ start: new Date(at).toISOString(), count, groups: { error: count } }));
        const total = counts.reduce((sum, [, count]) => sum + count, 0);
        const bars = barsOf({ buckets, total, complete: true }, width, start, start + length, most);
        expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(total);
        expect(bars.reduce((sum, { levels }) => sum + levels.error, 0)).toBe(total);
        expect(bars.length).toBeLessThanOrEqual(Math.max(most + 1, 62));
        expect(bars[0]?.start).toBeLessThanOrEqual(start);
        expect(bars.at(-1)?.end).toBeGreaterThanOrEqual(start + length);
        for (const [index, bar] of bars.entries()) if (index > 0) expect(bar.start).toBe(bars[index - 1]?.end);
      }),
    );
  });

  it("has no more bars than fit, even for the longest range that a link can have", () => {
    const bars = barsOf({ buckets: [], total: 0, complete: true }, DAY, -8.64e15, 8.64e15, 100);
    expect(bars.length).toBeLessThanOrEqual(101);
  });

  it("ends where a range with two ends ends, in bars of seconds if it is short", () => {
    const minute = 60_000;
    const range = { start: 37 * minute + 500, end: 39 * minute };
    const bars = barsOf(
      { buckets: [], total: 0, complete: true },
      fineMs(2 * minute) ?? 0,
      range.start,
      range.end,
      300,
    );
    expect([bars.length, bars[0]?.start]).toEqual([120, 37 * minute]);
    const fixed = { ...range, from: "a", to: "b" };
    expect(edgesOf(bars, fixed)).toEqual({ from: range.start, to: range.end });
    expect(edgesOf(bars, { ...range, from: "a" })).toEqual({ from: 37 * minute, to: 39 * minute });
    // Bars of another range.
    expect(edgesOf(bars, { ...fixed, start: 50 * minute, end: 60 * minute })).toEqual({
      from: 37 * minute,
      to: 39 * minute,
    });
    expect([fineMs(5 * minute), fineMs(30 * minute), fineMs(31 * minute)]).toEqual([1000, 5000, null]);
  });

  it("has a scale up to the highest bar, also if that begins before the drawing", () => {
    const minute = 60_000;
    const [start, end] = [21 * minute + 3605, 81 * minute];
    const bucket = (at: number, count: number) => ({
      start: new Date(at).toISOString(),
      count,
      groups: { info: count },
    });
    const buckets = [bucket(21 * minute, 6), bucket(50 * minute, 2)];
    const bars = barsOf({ buckets, total: 8, complete: true }, minute, start, end, 300);
    expect(bars[0]?.start).toBeLessThan(edgesOf(bars, { from: "a", to: "b", start, end }).from);
    expect(highest(bars)).toBe(6);
    expect(highest([])).toBe(1);
  });

  it("reads the counts of seconds by time, whatever the order of the rows", () => {
    const columns = ["level", "time", "count"].map((name) => ({ name, type: "string" }));
    const [first, second] = ["2026-11-27T11:17:30.000Z", "2026-11-27T11:17:35.000Z"];
    const rows = [
      ["error", second, 2],
      ["info", first, 5],
      ["error", first, 1],
    ];
    expect(bucketsOf({ columns, rows })).toEqual({
      total: 8,
      buckets: [
        { start: first, count: 6, groups: { info: 5, error: 1 } },
        { start: second, count: 2, groups: { error: 2 } },
      ],
    });
  });

  it("draws errors among many entries two pixels high, a bar at least one, and everything else as high as it is", () => {
    const none = { trace: 0, debug: 0, log: 0, info: 0, warn: 0, error: 0, fatal: 0 };
    const bar = (levels: Partial<typeof none>) => ({ start: 0, end: 1, count: 0, levels: { ...none, ...levels } });
    const bars = [
      bar({ info: 9000, error: 1 }),
      bar({ info: 9000, error: 900, fatal: 1 }),
      bar({ info: 3 }),
      bar({ info: 50, error: 1 }),
      bar({}),
      bar({ info: 5000, error: 700 }),
    ];
    // A pixel is 100 entries.
    expect(layersOf(bars, ["fatal", "error", "info"], 100)).toEqual([
      [null, 200, null, null, null, null],
      [200, 901, null, 200, null, 700],
      [9001, 9901, 100, 200, null, 5700],
    ]);
  });
});

it("19: a text over the bars hides where a bar or one of its levels ends, or nothing", () => {
  const none = { trace: 0, debug: 0, log: 0, info: 0, warn: 0, error: 0, fatal: 0 };
  const bars = [
    { start: 0, end: 50, count: 10, levels: { ...none, info: 5, error: 5 } },
    { start: 50, end: 100, count: 0, levels: none },
  ];
  // A drawing of 100 pixels below 8, and of 100 beside 44: the bar ends at 8, its errors at 58.
  const within = (start: number, end: number, top: number, bottom: number) =>
    endsWithin(
      bars,
      { from: 0, to: 100 },
      { width: 172, height: 130 },
      { start: 44 + start, end: 44 + end, top, bottom },
    );
  expect(within(40, 60, 1, 15)).toBe(true);
  expect(within(40, 60, 18, 32)).toBe(false);
  expect(within(40, 60, 50, 64)).toBe(true);
  expect(within(50, 100, 1, 64)).toBe(false);
});
