import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { barsOf } from "../../../../web/src/pages/explorer/histogram/bars.ts";
import { intervalFor, intervalMs } from "../../../../web/src/pages/explorer/histogram/buckets.ts";

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
      counts: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 1000 }))),
    });
    fc.assert(
      fc.property(cases, ({ start, length, most, counts }) => {
        const interval = intervalFor(length);
        const width = intervalMs(interval);
        const times = counts.map(
          ([place, count]) => [Math.floor((start + place * length) / width) * width, count] as const,
        );
        const buckets = times
          .sort(([a], [b]) => a - b)
          .map(([at, count]) => ({ start: new Date(at).toISOString(), count, groups: { error: count } }));
        const total = counts.reduce((sum, [, count]) => sum + count, 0);
        const bars = barsOf({ buckets, total, complete: true }, interval, start, start + length, most);
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
    const bars = barsOf({ buckets: [], total: 0, complete: true }, "1d", -8.64e15, 8.64e15, 100);
    expect(bars.length).toBeLessThanOrEqual(101);
  });
});
