import { describe, expect, it } from "vitest";
import { FlushSchedule } from "../../../src/workspace/flush/schedule.ts";

const BOUNDS = { maxAgeMs: 60_000, fullRangeAgeMs: 5000, maxBytes: 1000 };
const T = 1_000_000;
const FULL = 10_000;
const [ONE, OTHER] = [1, 2];

function loaded(bytes: number, oldestAt: number | null, entries: [number, number][] = []): FlushSchedule {
  const schedule = new FlushSchedule(BOUNDS);
  schedule.load({ bytes, oldestAt, entries: new Map(entries) });
  return schedule;
}

const batchOf = (bytes: number, count = 1, project = ONE) => ({ project, count, bytes });

describe("a flush is due", () => {
  it("never without unflushed batches", () => {
    expect(loaded(0, null).dueAt(false)).toBeNull();
    expect(new FlushSchedule(BOUNDS).dueAt(false)).toBeNull();
  });

  it("when the oldest batch reaches the maximum age, whatever follows it", () => {
    const schedule = loaded(0, null);
    schedule.add(batchOf(10), T);
    schedule.add(batchOf(10), T + 5000);
    expect(schedule.dueAt(false)).toBe(T + 60_000);
  });

  it("immediately above the byte bound, until half of it is moved", () => {
    const schedule = loaded(1000, T);
    expect(schedule.dueAt(false)).toBe(T + 60_000);
    schedule.add(batchOf(1), T + 1);
    expect(schedule.dueAt(false)).toBe(0);
    schedule.load({ bytes: 501, oldestAt: T, entries: new Map() });
    expect(schedule.dueAt(false)).toBe(0);
    schedule.load({ bytes: 500, oldestAt: T, entries: new Map() });
    expect(schedule.dueAt(false)).toBe(T + 60_000);
    // Between half and the whole bound, it matters from which side the fill level came.
    schedule.add(batchOf(499), T + 2);
    expect(schedule.dueAt(false)).toBe(T + 60_000);
  });

  it("soon while entries of a full range of one project wait, and then for this project", () => {
    const schedule = loaded(0, null);
    schedule.add(batchOf(10, FULL - 1), T);
    schedule.add(batchOf(10, FULL - 1, OTHER), T + 1);
    expect([schedule.dueAt(false), schedule.fullProject(T)]).toEqual([T + 60_000, null]);
    schedule.add(batchOf(10, 2, OTHER), T + 2);
    expect([schedule.dueAt(false), schedule.fullProject(T + 5000)]).toEqual([T + 5000, OTHER]);
    schedule.add(batchOf(10, 3), T + 3);
    expect(schedule.fullProject(T + 5000)).toBe(ONE);
    schedule.load({
      bytes: 40,
      oldestAt: T,
      entries: new Map([
        [ONE, 2],
        [OTHER, FULL + 1],
      ]),
    });
    expect([schedule.dueAt(false), schedule.fullProject(T + 5000)]).toEqual([T + 5000, OTHER]);
    schedule.load({ bytes: 20, oldestAt: T, entries: new Map([[ONE, 2]]) });
    expect([schedule.dueAt(false), schedule.fullProject(T + 5000)]).toEqual([T + 60_000, null]);
  });

  it("for the oldest batch, if that is too old or the buffer is too large, whatever else is full", () => {
    const full: [number, number][] = [[OTHER, FULL]];
    expect(loaded(10, T, full).fullProject(T + 59_999)).toBe(OTHER);
    expect(loaded(10, T, full).fullProject(T + 60_000)).toBeNull();
    expect(loaded(1001, T, full).fullProject(T)).toBeNull();
  });

  it("immediately if a flush intent exists, also without other batches", () => {
    expect(loaded(0, null).dueAt(true)).toBe(0);
  });

  it("with delays after failures that grow to a minute, however full the buffer is", () => {
    const schedule = loaded(5000, T);
    const delays = Array.from({ length: 9 }, () => schedule.failed(T));
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    schedule.add(batchOf(500), T + 1);
    expect([schedule.dueAt(true), schedule.dueAt(false)]).toEqual([T + 60_000, T + 60_000]);
    schedule.succeeded();
    expect(schedule.dueAt(false)).toBe(0);
    expect(schedule.failed(T)).toBe(1000);
  });
});
