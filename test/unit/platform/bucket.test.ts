import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BUCKET_TIMER, bucketOf, MAX_CONNECTIONS, R2Files } from "../../../src/platform/bucket.ts";
import { BucketFailure } from "../../../src/platform/bucket-failure.ts";
import { isStorageFailure, storageFaultOf } from "../../../src/platform/failures.ts";
import { MemoryPool } from "../../../src/platform/memory-pool.ts";
import { LimitedBucket, type LimitedBucketOptions } from "../../support/bucket/limited-bucket.ts";
import { MemoryBucket } from "../../support/bucket/memory-bucket.ts";

const BYTES = Uint8Array.from({ length: 1000 }, (_, index) => index % 251);

function fileOf(key: string, bytes = BYTES) {
  return { key, bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** A port over limited memory, whose clock stands at the waits of its retries. */
function newBucket(options: LimitedBucketOptions = {}) {
  let now = 1_000_000;
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
    now += milliseconds;
  };
  const memory = new MemoryBucket(() => now);
  const limited = new LimitedBucket(memory.binding, { now: () => now, ...options });
  const connections = new MemoryPool({ capacity: MAX_CONNECTIONS, maxWaiting: 100 });
  const attemptMs = { ...BUCKET_TIMER.attemptMs, put: 30, get: 30 };
  const timer = { wait, random: () => 0, attemptMs, now: () => now };
  const bucket = new R2Files(limited.binding, connections, timer);
  return { bucket, limited, memory, connections, waits, now: () => now };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("the bucket", () => {
  it("stores a file once and keeps the bytes stored first", async () => {
    const { bucket, memory } = newBucket();
    expect(await bucket.putNew(fileOf("a"))).toBe(true);
    expect(await bucket.putNew(fileOf("a", new Uint8Array(3)))).toBe(false);
    expect(memory.files.get("a")?.bytes).toEqual(BYTES);
    expect(await bucket.head("a")).toEqual({ key: "a", size: 1000, storedAt: 1_000_000 });
    expect(await bucket.head("b")).toBeNull();
  });

  it("refuses bytes that differ from their hash, without a retry", async () => {
    const { bucket, limited } = newBucket();
    const file = { ...fileOf("a"), bytes: new Uint8Array(3) };
    await expect(bucket.putNew(file)).rejects.toMatchObject({ isTransient: false, message: "R2_ERROR: put: 10037" });
    expect(limited.calls.put).toBe(1);
  });

  it("reads ranges in order, with null for files that do not exist", async () => {
    const { bucket } = newBucket();
    await bucket.putNew(fileOf("a"));
    const ranges = [
      { key: "a", start: 10, end: 20 },
      { key: "none", start: 0, end: 5 },
      { key: "a", start: 0, end: 1000 },
    ];
    expect(await bucket.readRanges(ranges)).toEqual([BYTES.slice(10, 20), null, BYTES]);
    expect(await bucket.readRanges([])).toEqual([]);
    expect(await bucket.readTail("a", 8)).toEqual({ bytes: BYTES.slice(992), size: 1000 });
    expect(await bucket.readTail("a", 5000)).toEqual({ bytes: BYTES, size: 1000 });
    expect(await bucket.readTail("none", 8)).toBeNull();
  });

  it("16.3: a file that ends before a range is read as one that is missing, without a retry", async () => {
    const { bucket, limited } = newBucket();
    await bucket.putNew(fileOf("a"));
    const ranges = [990, 1000, 5000].map((start) => ({ key: "a", start, end: start + 11 }));
    expect(await bucket.readRanges(ranges)).toEqual([null, null, null]);
    expect(limited.calls.get).toBe(3);
  });

  it("16.3: puts nothing after the deadline of a call, whatever failed before", async () => {
    const { bucket, limited, memory, now } = newBucket();
    limited.inject("put", { kind: "before" }, 2);
    const put = bucket.putNew(fileOf("a"), now() + 500);
    await expect(put).rejects.toMatchObject({ isTransient: false, message: "R2_ERROR: put: the call is too late" });
    expect([memory.files.size, limited.calls.put, limited.open]).toEqual([0, 2, 0]);
    expect(await bucket.putNew(fileOf("a"), now())).toBe(true);
  });

  it("opens at most 6 connections at a time, over all calls of an isolate", async () => {
    const { bucket, limited, connections } = newBucket({ readMs: 1 });
    await bucket.putNew(fileOf("a"));
    const ranges = Array.from({ length: 25 }, (_, start) => ({ key: "a", start, end: start + 1 }));
    const reads = await Promise.all([bucket.readRanges(ranges), bucket.readRanges(ranges), bucket.head("a")]);
    expect(reads[1]).toEqual(ranges.map(({ start, end }) => BYTES.slice(start, end)));
    expect(limited).toMatchObject({ mostOpen: MAX_CONNECTIONS, open: 0, violations: [] });
    expect(connections.held).toBe(0);
  });

  it("leaves no body open after a failed read", async () => {
    const { bucket, limited } = newBucket({ readMs: 1 });
    await bucket.putNew(fileOf("a"));
    limited.inject("get", { kind: "before" }, 40);
    const ranges = Array.from({ length: 9 }, () => ({ key: "a", start: 990, end: 1000 }));
    await expect(bucket.readRanges(ranges)).rejects.toBeInstanceOf(BucketFailure);
    expect(limited.open).toBe(0);
    // Five attempts of each of six connections: the other ranges are not begun.
    expect(limited.calls.get).toBe(30);
  });

  it.each([{ kind: "before" }, { kind: "after" }, { kind: "too-many-requests" }, { kind: "lost" }] as const)(
    "repeats a write after a fault: $kind",
    async (fault) => {
      const { bucket, limited, memory } = newBucket();
      limited.inject("put", fault, 1);
      // An attempt without a response may have stored the file.
      const isNew = await bucket.putNew(fileOf("a"));
      expect(isNew).toBe(fault.kind === "before" || fault.kind === "too-many-requests");
      expect(memory.files.get("a")?.bytes).toEqual(BYTES);
      expect(limited.open).toBe(fault.kind === "lost" ? 1 : 0);
    },
  );

  it("waits longer than the second in which R2 refuses another write of the key", async () => {
    const { bucket, limited, waits } = newBucket();
    limited.inject("put", { kind: "after" }, 1);
    expect(await bucket.putNew(fileOf("a"))).toBe(false);
    expect(waits).toEqual([200, 400, 800]);
    expect(limited.calls.put).toBe(4);
  });

  it("repeats a read that takes too long", async () => {
    const { bucket, limited } = newBucket();
    await bucket.putNew(fileOf("a"));
    limited.inject("get", { kind: "slow", milliseconds: 100 }, 1);
    expect(await bucket.readRanges([{ key: "a", start: 0, end: 1 }])).toEqual([BYTES.slice(0, 1)]);
    expect(limited.calls.get).toBe(2);
  });

  it("gives each read its own time, with one timer for all reads of a call", async () => {
    const { bucket } = newBucket({ readMs: 12 });
    await bucket.putNew(fileOf("a"));
    vi.useFakeTimers();
    const set = globalThis.setTimeout;
    let timersOfLimit = 0;
    // A spy, once restored, would leave the fake timer to the files that follow in the process.
    vi.stubGlobal("setTimeout", (call: () => void, ms: number) => {
      if (ms !== 12) timersOfLimit++;
      return set(call, ms);
    });
    // Four reads on each of six connections take 48 ms, and each may take 30.
    const ranges = Array.from({ length: 24 }, (_, start) => ({ key: "a", start, end: start + 1 }));
    const read = bucket.readRanges(ranges);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await read).toEqual(ranges.map(({ start, end }) => BYTES.slice(start, end)));
    expect(timersOfLimit).toBeLessThanOrEqual(8);
  });

  it("gives up after five attempts with a failure of storage that names no key", async () => {
    const { bucket, limited } = newBucket();
    limited.inject("head", { kind: "before" }, 5);
    const error = await bucket.head("v1/ws_1/secret").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ isTransient: true, operation: "head" });
    expect(limited.calls.head).toBe(5);
    if (!(error instanceof Error)) throw new Error("The bucket has thrown no error.");
    // Only the message crosses a call between objects.
    const remote = new Error(error.message);
    expect(isStorageFailure(remote)).toBe(true);
    expect(storageFaultOf(remote)).toBe("R2_ERROR: head: 10001");
  });

  it("deletes at most 1,000 keys a call, and lists 1,000 files a page", async () => {
    const { bucket, limited, memory } = newBucket();
    const keys = Array.from({ length: 2500 }, (_, index) => `p/${String(index).padStart(4, "0")}`);
    for (const key of [...keys, "q/0"]) memory.files.set(key, { bytes: BYTES, at: 5 });
    const listed: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await bucket.list("p/", cursor);
      listed.push(...page.files.map(({ key }) => key));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(listed).toEqual(keys);
    const end = await bucket.list("p/", null, "p/2497");
    expect(end).toMatchObject({ files: [{ key: "p/2498" }, { key: "p/2499" }], cursor: null });
    await bucket.delete([...keys, "p/none"]);
    expect([...memory.files.keys()]).toEqual(["q/0"]);
    expect(limited.calls).toMatchObject({ list: 4, delete: 3 });
    await bucket.delete([]);
    expect(limited.violations).toEqual([]);
  });

  it("is null in a deployment without a bucket", () => {
    expect(bucketOf({})).toBeNull();
  });
});

describe("the limits of production", () => {
  it("refuse a seventh connection, and a deletion of 1,001 keys", async () => {
    const memory = new MemoryBucket();
    memory.files.set("a", { bytes: BYTES, at: 0 });
    const limited = new LimitedBucket(memory.binding);
    for (let count = 0; count < 6; count++) await limited.get("a", {});
    await expect(limited.get("a", {})).rejects.toThrow("6 open connections");
    expect(() => limited.delete(Array.from({ length: 1001 }, (_, index) => `${index}`))).toThrow("1001 keys");
    expect(limited.violations).toHaveLength(2);
  });
});
