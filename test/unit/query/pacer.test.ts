import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ScanPacer, untilIdle } from "../../../src/logs/query/budget.ts";

const MIB = 1024 * 1024;

describe("pauses of a long scan", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The number of pauses in a scan of the given number of bytes; `meanwhile` runs in each of them. */
  async function pausesOf(bytes: number, pacer: ScanPacer, meanwhile: () => void = () => undefined): Promise<number> {
    let pauses = 0;
    for (let left = bytes; left > 0; left -= 64 * 1024) {
      let isOver = false;
      const pause = pacer.pause(64 * 1024).then(() => {
        isOver = true;
      });
      await Promise.resolve();
      await Promise.resolve();
      if (!isOver) {
        pauses++;
        meanwhile();
        vi.runAllTimers();
      }
      await pause;
    }
    return pauses;
  }

  it("are rare while no other request arrives", async () => {
    const pauses = await pausesOf(24 * MIB, new ScanPacer(() => 1));
    expect(pauses).toBeGreaterThan(2);
    expect(pauses).toBeLessThan(16);
  });

  it("are frequent while other requests arrive, and rare again a quarter of a second after the last one", async () => {
    let begun = 1;
    const pacer = new ScanPacer(() => begun);
    const crowded = await pausesOf(24 * MIB, pacer, () => begun++);
    expect(crowded).toBeGreaterThan(15);
    vi.advanceTimersByTime(250);
    expect(await pausesOf(24 * MIB, pacer)).toBeLessThan(16);
  });

  it("of work without a deadline are longer the later timers are, up to a bound", async () => {
    const waits: number[] = [];
    for (const late of [0, 1, 3, 40]) {
      const clock = vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValueOnce(late);
      const begunAt = Date.now();
      const pause = untilIdle();
      await vi.runAllTimersAsync();
      await pause;
      waits.push(Date.now() - begunAt);
      clock.mockRestore();
    }
    expect(waits).toEqual([0, 0, 9, 10]);
  });
});
