import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ExportMemory } from "../../../src/logs/export/memory.ts";
import { exportStream } from "../../../src/logs/export/stream.ts";
import { UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { queryMemory } from "../../../src/platform/isolate-memory.ts";

const KIB = 1024;
const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An export of some chunks that continues where a run was ended, as `Export` does. */
function exportOf(count: number, chunksAtOnce: number) {
  const left = Array.from({ length: count }, (_, index) => new Uint8Array(64 * KIB).fill(index + 1));
  const held = { runs: 0, open: 0 };
  const ready: Uint8Array[] = [];
  return {
    held,
    heldBytes: 1000,
    get isWritten() {
      return left.length === 0;
    },
    takeReady: () => ready.shift(),
    async *bytes() {
      held.runs++;
      held.open++;
      try {
        for (;;) {
          if (ready.length === 0) ready.push(...left.splice(0, chunksAtOnce));
          const chunk = ready.shift();
          if (chunk === undefined) return;
          yield chunk;
        }
      } finally {
        held.open--;
      }
    },
  };
}

function memoryOf(resume: () => Promise<boolean> = async () => true) {
  const calls: string[] = [];
  return {
    ...UNBOUNDED_MEMORY,
    calls,
    suspend: (bytes: number) => void calls.push(`suspend ${bytes}`),
    resume: () => {
      calls.push("resume");
      return resume();
    },
    release: () => void calls.push("release"),
  };
}

async function opened(chunks: number, resume?: () => Promise<boolean>, chunksAtOnce = 1) {
  const running = exportOf(chunks, chunksAtOnce);
  const memory = memoryOf(resume);
  const ends: [string, number][] = [];
  const stream = await exportStream(running, memory, (outcome, bytes) => void ends.push([outcome, bytes]));
  return { reader: stream.getReader(), held: running.held, calls: memory.calls, ends };
}

describe("the response of an export", () => {
  test("is whole for a client that reads once in two minutes, and holds no memory in between", async () => {
    const { reader, held, calls, ends } = await opened(20);
    const read: number[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      read.push(next.value[0] ?? 0);
      expect(next.value.length).toBe(64 * KIB);
      await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
      expect(held.open).toBe(0);
      expect(calls.at(-1)).toBe(`suspend ${1000 + 64 * KIB}`);
    }
    expect(read).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    // The last one needs no memory: only the end is left.
    expect(calls.filter((call) => call === "resume")).toHaveLength(19);
    expect([held.open, ends]).toEqual([0, [["ok", 20 * 64 * KIB]]]);
    expect(calls.at(-1)).toBe("release");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends for a slow client without memory if nothing is left to read, and sends what is ready without it", async () => {
    const { reader, calls, ends } = await opened(6, async () => false, 6);
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
    }
    expect(ends).toEqual([["ok", 6 * 64 * KIB]]);
    expect(calls).toEqual([`suspend ${1000 + 64 * KIB}`, "release"]);
    const { reader: second, ends: secondEnds } = await opened(7, async () => false, 6);
    for (let at = 0; at < 6; at++) {
      await second.read();
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
    }
    await expect(second.read()).rejects.toThrow("failed");
    expect(secondEnds).toEqual([["failed", 6 * 64 * KIB]]);
  });

  test("is not suspended while its client reads, and is one run then", async () => {
    const { reader, held, calls, ends } = await opened(20);
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      await vi.advanceTimersByTimeAsync(4_000);
    }
    expect([held.runs, calls, ends]).toEqual([1, ["release"], [["ok", 20 * 64 * KIB]]]);
  });

  test("ends for a client that reads nothing for ten minutes, whatever it has read before", async () => {
    const { reader, held, calls, ends } = await opened(20);
    await reader.read();
    await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
    await reader.read();
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual([["stalled", 2 * 64 * KIB]]);
    expect([held.open, calls.at(-1), vi.getTimerCount()]).toEqual([0, "release", 0]);
    await expect(reader.read()).rejects.toThrow("does not read");
  });

  test("ends the connection if there is no memory to continue", async () => {
    const { reader, ends } = await opened(20, async () => false);
    await reader.read();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    await expect(reader.read()).rejects.toThrow("failed");
    expect(ends).toEqual([["failed", 64 * KIB]]);
  });

  test("ends once for a client that disconnects while the export waits for memory", async () => {
    let refuse: (isGranted: boolean) => void = () => undefined;
    const { reader, held, ends } = await opened(
      20,
      () =>
        new Promise((resolve) => {
          refuse = resolve;
        }),
    );
    await reader.read();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    const waiting = reader.read();
    await vi.advanceTimersByTimeAsync(1);
    await reader.cancel();
    refuse(false);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect((await waiting).done).toBe(true);
    expect([held.open, ends, vi.getTimerCount()]).toEqual([0, [["canceled", 64 * KIB]], 0]);
  });
});

describe("the memory of an export", () => {
  test("is returned by a suspension, whatever the run that it ended still records, and waited for afterwards", async () => {
    const memory = await ExportMemory.take("ndjson");
    const whole = queryMemory.held;
    expect(whole).toBe(2 * KIB * KIB);
    memory?.suspend(100_000);
    memory?.recordInput(0);
    memory?.recordDecoded(0);
    expect(queryMemory.held).toBe(100_000);
    const others = queryMemory.tryTakeAhead(queryMemory.capacity / 2 - 200_000);
    let isResumed: boolean | null = null;
    void memory?.resume().then((is) => {
      isResumed = is;
    });
    await vi.advanceTimersByTimeAsync(MINUTE_MS / 2);
    expect(isResumed).toBeNull();
    others?.release();
    await vi.advanceTimersByTimeAsync(250);
    expect([isResumed, queryMemory.held]).toEqual([true, whole]);
    memory?.suspend(100_000);
    const refused = queryMemory.tryTakeAhead(queryMemory.capacity / 2 - 200_000);
    const waiting = memory?.resume();
    memory?.release();
    await vi.advanceTimersByTimeAsync(250);
    expect(await waiting).toBe(false);
    refused?.release();
    expect(queryMemory.held).toBe(0);
  });

  test("is waited for after a suspension for less than the five minutes for which a client waits for bytes", async () => {
    const memory = await ExportMemory.take("ndjson");
    memory?.suspend(100_000);
    const others = queryMemory.tryTake(queryMemory.capacity - 200_000);
    let isResumed: boolean | null = null;
    void memory?.resume().then((is) => {
      isResumed = is;
    });
    for (let minute = 0; minute < 4; minute++) {
      others?.renew();
      await vi.advanceTimersByTimeAsync(MINUTE_MS - 1000);
    }
    others?.renew();
    expect(isResumed).toBeNull();
    await vi.advanceTimersByTimeAsync(5000);
    expect(isResumed).toBe(false);
    others?.release();
    memory?.release();
    expect(queryMemory.held).toBe(0);
  });

  test("of suspended exports as Parquet does not keep others from starting and continuing", async () => {
    const first = await ExportMemory.take("parquet");
    first?.suspend(3 * KIB * KIB);
    const second = await ExportMemory.take("parquet");
    expect(second).not.toBeNull();
    second?.suspend(3 * KIB * KIB);
    const resumed = first?.resume();
    await vi.advanceTimersByTimeAsync(0);
    expect(await resumed).toBe(true);
    first?.suspend(7 * KIB * KIB);
    // Queries keep a quarter of their memory.
    const third = ExportMemory.take("ndjson");
    const fourth = ExportMemory.take("ndjson");
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect([(await third) !== null, await fourth]).toEqual([true, null]);
    (await third)?.release();
    first?.release();
    second?.release();
    expect(queryMemory.held).toBe(0);
  });
});
