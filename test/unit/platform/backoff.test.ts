import { expect, it } from "vitest";
import { delayOf, jittered } from "../../../src/platform/backoff.ts";

it("doubles the delay of a backoff up to its maximum, without overflow", () => {
  const backoff = { firstMs: 30_000, maxMs: 900_000 };
  const delays = [0, 1, 2, 3, 4, 5, 6, 5000].map((retries) => delayOf(backoff, retries));
  expect(delays).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000, 900_000]);
});

it("shortens a delay by half of it at most", () => {
  expect([0, 0.5, 1].map((random) => jittered(200, () => random))).toEqual([100, 150, 200]);
});
