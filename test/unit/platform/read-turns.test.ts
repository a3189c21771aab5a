import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ReadScheduler } from "../../../src/platform/turns.ts";

describe("turns of an isolate's reads", () => {
  let readTurns: ReadScheduler;
  beforeEach(() => {
    vi.useFakeTimers();
    readTurns = new ReadScheduler();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The times at which five reads got their turns, in milliseconds from now; `take` waits for a turn. */
  async function timesOf(take: () => Promise<void>): Promise<number[]> {
    const startedAt = Date.now();
    const times: number[] = [];
    for (let read = 0; read < 5; read++) void take().then(() => times.push(Date.now() - startedAt));
    await vi.advanceTimersByTimeAsync(1000);
    return times;
  }

  it("26: follow one after the other, with any number of reads", async () => {
    expect(await timesOf(() => readTurns.take(6))).toEqual([0, 6, 12, 18, 24]);
  });

  it("26: the first read does not wait for a timer", async () => {
    let isBegun = false;
    void readTurns.begin(6).then(() => {
      isBegun = true;
    });
    await Promise.resolve();
    expect(isBegun).toBe(true);
    expect(await timesOf(() => readTurns.begin(6))).toEqual([6, 12, 18, 24, 30]);
  });

  it("26: reads that follow one another do not wait", async () => {
    let reads = 0;
    void (async () => {
      for (; reads < 5; reads++) {
        await readTurns.begin(6);
        readTurns.end();
      }
    })();
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    expect(reads).toBe(5);
  });

  it("26: a read that ends early does not let waiting reads continue together", async () => {
    await readTurns.begin(6);
    const times = timesOf(() => readTurns.take(6));
    readTurns.end();
    expect(await times).toEqual([6, 12, 18, 24, 30]);
  });

  it("26: only one read continues if a busy thread made several turns due", async () => {
    const startedAt = Date.now();
    const times: number[] = [];
    for (let read = 0; read < 3; read++) void readTurns.take(6).then(() => times.push(Date.now() - startedAt));
    // The thread was blocked until then, so all three timers are due.
    vi.setSystemTime(startedAt + 100);
    await vi.advanceTimersByTimeAsync(1000);
    expect(times[1]).toBeGreaterThanOrEqual((times[0] ?? 0) + 6);
    expect(times[2]).toBeGreaterThanOrEqual((times[1] ?? 0) + 6);
  });

  it("26: no read waits for a clock that was set back", async () => {
    await readTurns.begin(6);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(await timesOf(() => readTurns.begin(6))).toEqual([0, 6, 12, 18, 24]);
  });

  it("a read that begins waits for the turn in progress alone, however many scans wait", async () => {
    await readTurns.begin(2);
    const scans = timesOf(() => readTurns.take(2));
    const startedAt = Date.now();
    let waited = -1;
    void readTurns.begin(5).then(() => {
      waited = Date.now() - startedAt;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(waited).toBe(2);
    expect(await scans).toHaveLength(5);
  });
});
