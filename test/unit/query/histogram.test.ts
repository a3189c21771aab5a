import fc from "fast-check";
import { expect, test } from "vitest";
import { Histogram, INTERVALS } from "../../../src/logs/stats/histogram.ts";

test("a bucket's start is formatted like a date, in any year", () => {
  const timestamp = fc.integer({ min: -62_198_755_200_000, max: 253_402_300_799_999 });
  fc.assert(
    fc.property(
      fc.array(timestamp, { maxLength: 20 }),
      fc.constantFrom(...Object.values(INTERVALS)),
      (times, interval) => {
        const histogram = new Histogram(interval, null);
        for (const time of times) histogram.addLevel(time, 3, 1);
        const starts = [...new Set(times.map((time) => Math.floor(time / interval) * interval))].sort((a, b) => a - b);
        expect(histogram.buckets().map(({ start }) => start)).toEqual(
          starts.map((start) => new Date(start).toISOString()),
        );
      },
    ),
  );
});
