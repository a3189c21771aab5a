import { describe, expect, it } from "vitest";
import { FlushSchedule } from "../../../src/workspace/flush/schedule.ts";

const BOUNDS = { maxAgeMs: 60_000, maxBytes: 1000 };
const T = 1_000_000;

function loaded(bytes: number, oldestAt: number | null): FlushSchedule {
  const schedule = new FlushSchedule(BOUNDS);
  schedule.load({ bytes, oldestAt });
  return schedule;
}

describe("a flush is due", () => {
  it("never without unflushed batches", () => {
    expect(loaded(0, null).dueAt(false)).toBeNull();
    expect(new FlushSchedule(BOUNDS).dueAt(false)).toBeNull();
  });

  it("when the oldest batch reaches the maximum age, whatever follows it", () => {
    const schedule = loaded(0, null);
    schedule.add(10, T);
    schedule.add(10, T + 5000);
    expect(schedule.dueAt(false)).toBe(T + 60_000);
  });

  it("immediately above the byte bound, until half of it is moved", () => {
    const schedule = loaded(1000, T);
    expect(schedule.dueAt(false)).toBe(T + 60_000);
    schedule.add(1, T + 1);
    expect(schedule.dueAt(false)).toBe(0);
    schedule.load({ bytes: 501, oldestAt: T });
    expect(schedule.dueAt(false)).toBe(0);
    schedule.load({ bytes: 500, oldestAt: T });
    expect(schedule.dueAt(false)).toBe(T + 60_000);
    // Between half and the whole bound, it matters from which side the fill level came.
    schedule.add(499, T + 2);
    expect(schedule.dueAt(false)).toBe(T + 60_000);
  });

  it("immediately if a flush intent exists, also without other batches", () => {
    expect(loaded(0, null).dueAt(true)).toBe(0);
  });

  it("with delays after failures that grow to a minute, however full the buffer is", () => {
    const schedule = loaded(5000, T);
    const delays = Array.from({ length: 9 }, () => schedule.failed(T));
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    schedule.add(500, T + 1);
    expect([schedule.dueAt(true), schedule.dueAt(false)]).toEqual([T + 60_000, T + 60_000]);
    schedule.succeeded();
    expect(schedule.dueAt(false)).toBe(0);
    expect(schedule.failed(T)).toBe(1000);
  });
});
