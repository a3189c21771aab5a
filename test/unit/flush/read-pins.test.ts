import { describe, expect, it } from "vitest";
import { ReadPins } from "../../../src/objects/workspace/flush.ts";

const STEP_MS = 100;
const MINUTES_MS = 10 * 60_000;

/** The share of ten minutes in which a flush may run if it always has something to move. */
function freeShare(isRead: (at: number) => boolean): number {
  const pins = new ReadPins();
  let free = 0;
  for (let at = 1; at <= MINUTES_MS; at += STEP_MS) {
    if (isRead(at)) pins.renew(at);
    if (pins.blockedUntil(at) !== null) continue;
    pins.released(at);
    free++;
  }
  return (free * STEP_MS) / MINUTES_MS;
}

const T = 1_800_000_000_000;

describe("read pins", () => {
  it("delay a flush for five seconds from the reader's last page, and for half a minute at a stretch", () => {
    const pins = new ReadPins();
    expect(pins.blockedUntil(T)).toBeNull();
    pins.renew(T);
    expect(pins.blockedUntil(T + 1000)).toBe(T + 5000);
    expect(pins.blockedUntil(T + 5000)).toBeNull();
    for (let at = T + 5000; at < T + 31_000; at += 1000) {
      pins.renew(at);
      expect(pins.blockedUntil(at)).toBe(Math.min(at + 5000, T + 31_000));
    }
    pins.renew(T + 31_000);
    expect(pins.blockedUntil(T + 31_000)).toBeNull();
    pins.released(T + 31_000);
    pins.renew(T + 45_999);
    expect(pins.blockedUntil(T + 45_999)).toBeNull();
    expect(pins.blockedUntil(T + 46_000)).toBe(T + 50_999);
  });

  it("delay a flush for at most two thirds of the time, however often they are renewed", () => {
    const share = freeShare(() => true);
    expect(share).toBeGreaterThan(0.32);
    expect(share).toBeLessThan(0.4);
  });

  it("give an occasional reader its five seconds", () => {
    const pins = new ReadPins();
    pins.renew(1000);
    expect(pins.blockedUntil(1001)).toBe(6000);
    expect(pins.blockedUntil(6000)).toBeNull();
    pins.released(6000);
    pins.renew(60_000);
    expect(pins.blockedUntil(60_001)).toBe(65_000);
  });

  it("delay nothing without a reader", () => {
    expect(freeShare(() => false)).toBe(1);
  });
});
