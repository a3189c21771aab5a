import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeBody } from "../../../src/logs/batch.ts";
import { type EncodedSegment, SEGMENT_FORMAT } from "../../../src/logs/cold/format/segment.ts";
import { SegmentReader } from "../../../src/logs/segments/decode/segment-reader.ts";
import { BUCKET_TIMER, type Bucket, MAX_CONNECTIONS, R2Files } from "../../../src/platform/bucket.ts";
import { MemoryPool } from "../../../src/platform/memory-pool.ts";
import {
  type FlushCall,
  type FlushOutcome,
  type RangeStore,
  writeRange,
} from "../../../src/workspace/flush/write-range.ts";
import { type BucketFault, LimitedBucket } from "../../support/bucket/limited-bucket.ts";
import { MemoryBucket } from "../../support/bucket/memory-bucket.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { linesIn } from "../segments/support.ts";

const PROJECT = "proj_a";
const COUNT = 600;

/** Lines whose file is larger than 32 KiB, in two batches; the first batch has one far from the others in time. */
const lines = Array.from({ length: COUNT }, (_, at) => {
  const id = createHash("sha512").update(`${at}`).digest("base64");
  const timestamp = new Date(Date.UTC(2026, 0, at === 7 ? 1 : 9) + at).toISOString();
  return JSON.stringify({ timestamp, level: "info", category: "custom", type: "log", message: id });
});

function callOf(texts: readonly string[] = lines, deadline = Number.POSITIVE_INFINITY): FlushCall {
  const half = texts.length >> 1;
  const batches = [texts.slice(0, half), texts.slice(half)].map((own, index) => ({
    commit: index + 1,
    firstSeq: index * half + 1,
    count: own.length,
    receivedAt: 1,
    ...encodeBody(new TextEncoder().encode(own.join("\n"))),
  }));
  const range = { firstSeq: 1, lastSeq: texts.length };
  return { workspaceId: "ws_a", projectId: PROJECT, range, watermark: 0, batches, bad: [], deadline };
}

class Lost extends Error {}

/** The writer frees its bytes. */
function copied(segment: EncodedSegment): EncodedSegment {
  return structuredClone(segment);
}

/** The catalog in memory, by the rules of `SegmentWriter`: a range is inserted whole and once. */
class Catalog implements RangeStore {
  rows: EncodedSegment[] = [];
  readonly orphans = new Set<string>();
  /** Faults of the next calls that write: before or after their effect. */
  faults: ("none" | "before" | "after")[] = [];
  /** Calls of `replaceSegments`. */
  replacements = 0;

  async insertSegments(_: string, segments: readonly EncodedSegment[], watermark: number) {
    return this.#write(() => {
      if (this.rows.some(({ firstSeq, part }) => firstSeq === watermark + 1 && part === 0)) return;
      this.rows.push(...segments.map(copied));
    });
  }

  async replaceSegments(_: string, segments: readonly EncodedSegment[]) {
    this.replacements++;
    return this.#write(() => {
      for (const { file } of this.rows) if (file !== null) this.orphans.add(file);
      this.rows = segments.map(copied);
    });
  }

  async noteFiles(_: string, files: readonly string[]) {
    this.#write(() => {
      for (const file of files) this.orphans.add(file);
    });
  }

  async segmentsBySeq() {
    return this.rows;
  }

  #write(change: () => void) {
    const fault = this.faults.shift();
    if (fault === "before") throw new Lost("D1_ERROR: Network connection lost.");
    change();
    const files = this.rows.flatMap(({ file }) => file ?? []);
    for (const file of files) this.orphans.delete(file);
    if (fault === "after") throw new Lost("D1_ERROR: Network connection lost.");
    const sum = (of: "count" | "storedBytes") => this.rows.reduce((total, row) => total + row[of], 0);
    return { segments: this.rows.length, entries: sum("count"), bytes: sum("storedBytes"), files };
  }
}

function newTier(faultOf: (operation: string) => BucketFault | null = () => null) {
  let at = 1_000_000;
  const wait = async (milliseconds: number) => {
    at += milliseconds;
  };
  const memory = new MemoryBucket(() => at);
  const limited = new LimitedBucket(memory.binding, { now: () => at, wait, faultOf });
  const connections = new MemoryPool({ capacity: MAX_CONNECTIONS, maxWaiting: 100 });
  const attemptMs = { ...BUCKET_TIMER.attemptMs, put: 20, head: 20 };
  const bucket: Bucket = new R2Files(limited.binding, connections, { wait, random: () => 0, attemptMs, now: () => at });
  const catalog = new Catalog();
  const target = { store: catalog, bucket, now: () => at };
  return { target, catalog, memory, limited, bucket, pass: wait };
}

type Tier = ReturnType<typeof newTier>;

/** Every entry is stored once, the rows' files exist, and all other files are orphans. */
function expectWhole({ catalog, memory, limited }: Tier): void {
  const named = catalog.rows.flatMap(({ file }) => file ?? []);
  const stored = catalog.rows.flatMap(({ file, body, batchTable }) => {
    const bytes = file === null ? body : (memory.files.get(file)?.bytes ?? new Uint8Array());
    expect(Buffer.compare(batchTable, bytes.subarray(-batchTable.length))).toBe(0);
    const { properties } = new SegmentReader(batchTable, bytes.length);
    expect(properties.projectId).toBe(PROJECT);
    return linesIn(bytes).map(String);
  });
  expect(stored.sort()).toEqual([...lines].sort());
  for (const key of memory.files.keys())
    expect([key, named.includes(key) || catalog.orphans.has(key)]).toEqual([key, true]);
  expect(named.filter((key) => catalog.orphans.has(key))).toEqual([]);
  expect(limited.violations).toEqual([]);
}

describe("a flush into the bucket", () => {
  it("puts the file, then the row; a part below 32 KiB is in its row", async () => {
    const tier = newTier();
    expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored", segments: 2 });
    expectWhole(tier);
    expect(tier.catalog.rows.map(({ part, count, file }) => [part, count, file === null])).toEqual([
      [0, COUNT - 1, false],
      [1, 1, true],
    ]);
    expect(tier.limited.calls).toMatchObject({ put: 1, head: 1 });
    expect([...tier.catalog.orphans]).toEqual([]);
    const again = await writeRange(tier.target, callOf());
    expect(again).toMatchObject({ outcome: "stored", hasReplaced: false });
    expectWhole(tier);
    expect(tier.memory.files.size).toBe(1);
  });

  it.each(["before", "after", "lost", "too-many-requests"] as const)(
    "stores the range although the first put fails: %s",
    async (kind) => {
      const tier = newTier();
      tier.limited.inject("put", { kind });
      expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored" });
      expectWhole(tier);
    },
  );

  it("fails without a row while the bucket fails, and names no file in its reason", async () => {
    let isFailing = true;
    const tier = newTier((operation) => (isFailing && operation === "put" ? { kind: "after" } : null));
    const outcome = await writeRange(tier.target, callOf());
    expect(outcome).toEqual({ outcome: "failed", reason: expect.stringMatching(/^R2_ERROR: put: [\w ]+$/) });
    expect(tier.catalog.rows).toEqual([]);
    expect(tier.catalog.orphans.size).toBe(1);
    isFailing = false;
    await tier.pass(5000);
    expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored" });
    expectWhole(tier);
  });

  it("16.3: puts no file after its deadline, so that nothing arrives after the last cleanup of a deletion", async () => {
    const tier = newTier();
    // Every attempt takes a minute and fails; the third one would succeed.
    tier.limited.inject("put", { kind: "before" }, 2);
    const { put } = tier.limited;
    tier.limited.put = async (...args: Parameters<typeof put>) => {
      await tier.pass(60_000);
      return put.apply(tier.limited, args);
    };
    const call = callOf(lines, tier.target.now() + 90_000);
    expect(await writeRange(tier.target, call)).toMatchObject({ outcome: "failed" });
    expect([tier.memory.files.size, tier.catalog.rows.length]).toEqual([0, 0]);
    expect(tier.catalog.orphans.size).toBe(1);
  });

  it("writes no row after its deadline if the bucket was slow", async () => {
    const tier = newTier();
    tier.limited.inject("put", { kind: "slow", milliseconds: 60_000 });
    const call = callOf(lines, tier.target.now() + 30_000);
    expect(await writeRange(tier.target, call)).toEqual({ outcome: "failed", reason: "The writer was too late." });
    expect(tier.catalog.rows).toEqual([]);
    expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored" });
    expectWhole(tier);
  });

  it("replaces no rows after its deadline: a later writer may have moved the watermark", async () => {
    const tier = newTier();
    const { insertSegments } = tier.catalog;
    tier.catalog.insertSegments = async (...call) => {
      const stored = await insertSegments.apply(tier.catalog, call);
      await tier.pass(60_000);
      // As after a compaction, whose segment begins before the range.
      return { ...stored, segments: 0, entries: 0, files: [] };
    };
    const call = callOf(lines, tier.target.now() + 30_000);
    expect(await writeRange(tier.target, call)).toEqual({ outcome: "failed", reason: "The writer was too late." });
    expect(tier.catalog.replacements).toBe(0);
  });

  it("puts a file again that was deleted as an orphan before its row", async () => {
    const tier = newTier();
    const { insertSegments } = tier.catalog;
    tier.catalog.insertSegments = (...call) => {
      tier.memory.files.clear();
      return insertSegments.apply(tier.catalog, call);
    };
    await tier.pass(2000);
    tier.limited.inject("head", { kind: "too-many-requests" });
    expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored", hasReplaced: false });
    expectWhole(tier);
  });

  it("keeps the rows of a writer of another version, and its own file becomes an orphan", async () => {
    for (const other of ["blocks", "file"] as const) {
      const tier = newTier();
      if (other === "blocks") await writeAsOlder(tier.catalog);
      else {
        // The lines in another order of commits give other bytes.
        const shifted = callOf();
        for (const batch of shifted.batches) batch.commit += 7;
        await writeRange(tier.target, shifted);
      }
      const before = tier.catalog.rows;
      expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored", hasReplaced: false });
      expect(tier.catalog.rows).toBe(before);
      expect(tier.catalog.orphans.size).toBe(1);
      if (other === "file") expectWhole(tier);
    }
  });

  it("replaces rows whose file is in no bucket, and rows of other entries", async () => {
    const tier = newTier();
    await writeRange(tier.target, callOf());
    tier.memory.files.clear();
    const shifted = callOf();
    for (const batch of shifted.batches) batch.commit += 7;
    await tier.pass(2000);
    expect(await writeRange(tier.target, shifted)).toMatchObject({ outcome: "stored", hasReplaced: true });
    expectWhole(tier);
    await tier.pass(2000);
    const without = { ...tier.target, bucket: null };
    expect(await writeRange(without, callOf())).toMatchObject({ outcome: "stored", hasReplaced: true });
    expectWhole(tier);
    tier.catalog.rows = tier.catalog.rows.slice(0, 1);
    await tier.pass(2000);
    expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored", hasReplaced: true });
    expectWhole(tier);
  });

  it("loses and doubles nothing, whatever fails at any step, with any number of writers at once", async () => {
    const fault = fc.constantFrom("none", "none", "before", "after", "lost", "too-many-requests");
    const attempt = fc.record({
      writers: fc.integer({ min: 1, max: 3 }),
      database: fc.array(fc.constantFrom("none" as const, "before" as const, "after" as const), { maxLength: 4 }),
      bucket: fc.array(fault, { maxLength: 8 }),
      isOlder: fc.boolean(),
      isCollected: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { maxLength: 4 }), async (attempts) => {
        let faults: string[] = [];
        const tier = newTier(() => {
          const kind = faults.shift() ?? "none";
          // SAFETY: the generator makes only kinds of faults.
          return kind === "none" ? null : ({ kind } as BucketFault);
        });
        for (const { writers, database, bucket, isOlder, isCollected } of attempts) {
          tier.catalog.faults = [...database];
          faults = [...bucket];
          const calls = Array.from({ length: writers }, () => writeRange(tier.target, callOf()));
          if (isOlder) calls.splice(writers >> 1, 0, writeAsOlder(tier.catalog));
          for (const outcome of await Promise.all(calls)) expect(outcome.outcome).not.toBe("bad");
          // The sweep, which never runs together with a flush.
          if (isCollected) await tier.bucket.delete([...tier.catalog.orphans]).catch(() => {});
          await tier.pass(2000);
        }
        tier.catalog.faults = [];
        faults = [];
        expect(await writeRange(tier.target, callOf())).toMatchObject({ outcome: "stored" });
        if (tier.catalog.rows.every(({ format }) => format === SEGMENT_FORMAT.parquet)) expectWhole(tier);
        else expect(tier.catalog.rows.reduce((sum, { count }) => sum + count, 0)).toBe(COUNT);
      }),
      { numRuns: 15 },
    );
  });
});

/** Writes the range as a version before segment files does. */
async function writeAsOlder(catalog: Catalog): Promise<FlushOutcome> {
  const half = COUNT >> 1;
  const batches = callOf().batches.map((batch) => {
    const own = lines.slice((batch.commit - 1) * half, batch.commit * half);
    return { ...batch, body: new TextEncoder().encode(own.join("\n")) };
  });
  const segments = [...encodeSegments(PROJECT, batches, { firstSeq: 1, lastSeq: COUNT })];
  try {
    await catalog.insertSegments("ws_a", segments, 0);
  } catch {
    return { outcome: "failed", reason: "" };
  }
  return { outcome: "stored", segments: 2, bytes: 0, hasReplaced: false };
}
