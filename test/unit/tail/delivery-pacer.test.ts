import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeliveryPacer } from "../../../src/tail/live.ts";
import { entry, FakeObject } from "./support.ts";

/** Pauses of one delivery to the given number of tails. */
async function pausesOf(tails: number, bytes: number, elapsed = 0): Promise<number[]> {
  const pauses: number[] = [];
  let now = 1_800_000_000_000;
  const pacer = new DeliveryPacer({
    now: () => now,
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
    },
  });
  pacer.begin({ messages: tails, sentBytes: tails * bytes, scannedBytes: bytes });
  await pacer.scanned(bytes);
  for (let tail = 0; tail < tails; tail++) await pacer.sent(1, bytes);
  now += elapsed;
  await pacer.end();
  return pauses;
}

describe("a delivery to many tails", () => {
  it("has the same number of pauses if it is larger, until parts have their maximum size", async () => {
    for (const kibibytes of [10, 50, 80, 100]) {
      expect((await pausesOf(100, kibibytes * 1024, 1000)).length).toBeLessThanOrEqual(12);
    }
    expect((await pausesOf(100, 500 * 1024, 1000)).length).toBeLessThanOrEqual(25);
  });

  it("yields after some of the tails, and takes at least the minimum time for its messages", async () => {
    expect((await pausesOf(100, 20 * 1024)).length).toBeGreaterThanOrEqual(8);
    expect((await pausesOf(100, 20 * 1024)).at(-1)).toBe(20);
    expect((await pausesOf(100, 20 * 1024, 15)).at(-1)).toBe(5);
    expect((await pausesOf(100, 20 * 1024, 20)).at(-1)).toBe(1);
    expect(await pausesOf(10, 1024)).toEqual([1, 3]);
    expect(await pausesOf(1, 1024)).toEqual([]);
  });

  it("never waits longer than the minimum time, whatever the clock does", async () => {
    const shift = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 500 }), fc.nat({ max: 1_000_000 }), shift, async (tails, bytes, elapsed) => {
        for (const pause of await pausesOf(tails, bytes, elapsed)) expect(pause).toBeLessThanOrEqual(20);
      }),
    );
  });

  it("is cut by its total work", async () => {
    const object = new FakeObject();
    const tails = Array.from({ length: 100 }, () => object.open());
    await object.settle();
    object.paused.length = 0;
    object.commit(
      1,
      Array.from({ length: 250 }, () => entry("m".repeat(100))),
    );
    await object.settle();
    for (const { socket } of tails) expect(socket.frames.at(-1)?.entries).toHaveLength(250);
    // Plus the pause that extends the delivery to the minimum time for its messages.
    expect(object.paused.length).toBeGreaterThanOrEqual(8);
    expect(object.paused.length).toBeLessThanOrEqual(14);
  });
});
