import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { FakeIsolate } from "./support.ts";

const MB = 1_000_000;
/** Three quarters are shared. */
const isolate = () => new FakeIsolate(16 * MB);

describe("A3: shares of tails in an isolate", () => {
  it("stop one holder while others have room, and allow each less the more holders there are", () => {
    const { shares } = isolate();
    const filled: number[] = [];
    const owners = [{}, {}, {}, {}];
    for (const [at, owner] of owners.entries()) {
      const share = shares.join(`o${at}`, owner);
      const room = share.room(0, 4);
      share.hold(room);
      filled.push(room);
      // This holder has no room left, and another one still has.
      expect(share.room(room, 4)).toBeLessThan(1);
      expect(shares.join("new", {}).room(0, 4)).toBeGreaterThan(0);
    }
    expect(filled[0]).toBeCloseTo(0.8 * 12 * MB, -1);
    for (const [at, bytes] of filled.slice(1).entries()) expect(bytes).toBeCloseTo((filled[at] ?? 0) / 5, -1);
  });

  it("keep room for two backlog steps, whatever tails hold", () => {
    const { shares, pool } = isolate();
    const share = shares.join("o", {});
    share.hold(13 * MB);
    const steps = [share.step(), share.step()];
    expect(steps).not.toContain(null);
    expect(share.step()).toBeNull();
    expect(pool.held).toBeLessThanOrEqual(16 * MB);
    // The room of a frame is the same during a step; otherwise a frame that did not fit would be retried endlessly.
    share.hold(5 * MB);
    const beside = share.room(0, 4);
    for (const step of steps) if (step) share.endStep(step);
    expect(share.room(0, 4)).toBe(beside);
    expect(share.step()).not.toBeNull();
  });

  it("give a tail a smaller floor the more tails there are, and never more than is free", () => {
    const { shares } = isolate();
    const owner = {};
    const share = shares.join("o", owner);
    share.tails = 10;
    expect(share.floor()).toBe(16 * 1024);
    share.tails = 1000;
    expect(share.floor()).toBeCloseTo(MB / 1001);
    share.hold(16 * MB);
    expect(share.floor()).toBe(0);
  });

  it("end when the object restarts, when it ends, or a minute after it left memory", () => {
    const world = isolate();
    const { shares, pool } = world;
    const owner = {};
    shares.join("o", owner).hold(MB);
    const next = shares.join("o", owner);
    expect(pool.held).toBe(0);
    next.hold(MB);
    next.step();
    next.leave();
    next.hold(MB);
    expect(pool.held).toBe(0);
    setFlagsFromString("--expose-gc");
    const gc: () => void = runInNewContext("gc");
    const lost = () => shares.join("lost", {}).hold(12 * MB);
    lost();
    const kept = shares.join("kept", owner);
    kept.hold(1000);
    return new Promise<void>((resolve) => setTimeout(resolve, 10)).then(() => {
      gc();
      world.now = 30_000;
      expect(kept.room(0, 4)).toBe(0);
      world.now = 62_000;
      expect(kept.room(0, 4)).toBeGreaterThan(9 * MB);
      expect(pool.held).toBe(1000);
      // Keeps `owner` referenced until here.
      expect(owner).toEqual({});
    });
  });
});
