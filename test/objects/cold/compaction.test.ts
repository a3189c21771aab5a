import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type CompactionCall, compactOnce } from "../../../src/logs/cold/compaction/compact.ts";
import { CompactionStore } from "../../../src/logs/cold/compaction/store.ts";
import { SWITCH_MS } from "../../../src/logs/cold/compaction/visibility.ts";
import { tokenTestsOf } from "../../../src/logs/cold/filter/token-tests.ts";
import { formOfKey } from "../../../src/logs/cold/filter/wide-filter.ts";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import { missingRanges } from "../../../src/logs/cold/store/missing-ranges.ts";
import { SegmentPager } from "../../../src/logs/cold/store/selection.ts";
import { SegmentStore } from "../../../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { Export } from "../../../src/logs/export/run-export.ts";
import { toFilter } from "../../../src/logs/query/schema.ts";
import { PLACEMENT } from "../../../src/logs/segments/encode/encode-rows.ts";
import { BUCKET_TIMER, R2Files } from "../../../src/platform/bucket.ts";
import { pause } from "../../../src/platform/turns.ts";
import { LimitedBucket, type LimitedBucketOptions } from "../../support/bucket/limited-bucket.ts";
import { MemoryBucket } from "../../support/bucket/memory-bucket.ts";
import { lineOf, type TestEntry } from "../../unit/query/store.ts";
import { linesIn, open } from "../../unit/segments/support.ts";
import { storeFiles } from "./files.ts";
import { entry, segmentsOf, selection } from "./support.ts";

const WORKSPACE = "ws_0000000MERGE";
const PROJECT = "proj_00000000MRG";
const NOW = Date.UTC(2026, 10, 23, 12);

const store = new CompactionStore(env.COLD_DB);

beforeEach(async () => {
  await env.COLD_DB.batch([env.COLD_DB.prepare("DELETE FROM segments"), env.COLD_DB.prepare("DELETE FROM orphans")]);
});

/** Entries of ranges of a size, in two batches each. Some ranges have an entry far from the others in time. */
function rangesOf(count: number, size: number, late = false): TestEntry[][][] {
  return Array.from({ length: count }, (_, range) => {
    const entries = Array.from({ length: size }, (_, at) => {
      const index = range * size + at;
      const isLate = late && range % 5 === 2 && at === 1;
      return entry(isLate ? index - 500_000 : index, {
        data: { at: index, note: "x".repeat(50) },
        // Does not shrink, so that 900 entries are a file for the bucket.
        traceId: createHash("md5").update(String(index)).digest("hex"),
        level: index % 7 === 0 ? "error" : "info",
      });
    });
    return [entries.slice(0, 2), entries.slice(2)];
  });
}

interface World {
  memory: MemoryBucket;
  limited: LimitedBucket;
  compact: (
    more?: Partial<CompactionCall> & { isEnded?: boolean },
    now?: () => number,
  ) => ReturnType<typeof compactOnce>;
}

function world(options: LimitedBucketOptions = {}, compactionStore = store): World {
  const memory = new MemoryBucket();
  // Waits take no time, but the time of the bucket's limits advances.
  let time = NOW;
  const wait = async (milliseconds: number) => {
    time += milliseconds;
  };
  const limited = new LimitedBucket(memory.binding, { readMs: 0, writeMs: 0, now: () => time, ...options });
  const timer = {
    wait,
    random: () => 0.5,
    attemptMs: { head: 5000, get: 5000, list: 5000, delete: 5000, put: 5000 },
    now: () => NOW,
  };
  const bucket = new R2Files(limited.binding, undefined, timer);
  const compact: World["compact"] = ({ isEnded = false, ...more } = {}, now = () => NOW) =>
    compactOnce(
      { store: compactionStore, bucket, now, pause, wideFrom: 800 },
      {
        workspaceId: WORKSPACE,
        projectId: PROJECT,
        doneSeq: 0,
        readySeq: 1_000_000,
        retentionDays: 30,
        deadline: NOW + 60_000,
        ...more,
      },
      isEnded,
    );
  return { memory, limited, compact };
}

interface Row {
  firstSeq: number;
  lastSeq: number;
  part: number;
  count: number;
  file: string | null;
  body: string;
  replacedAt: number | null;
}

async function rows(condition = "replaced_at IS NULL"): Promise<Row[]> {
  const { results } = await env.COLD_DB.prepare(
    `SELECT first_seq AS firstSeq, last_seq AS lastSeq, part, count, file, hex(body) AS body, replaced_at AS replacedAt
     FROM segments WHERE ${condition} ORDER BY first_seq, part`,
  ).all<Row>();
  return results;
}

async function linesOfRows(memory: MemoryBucket): Promise<Map<number, string>> {
  const lines = new Map<number, string>();
  for (const { file, body } of await rows()) {
    const bytes = file === null ? new Uint8Array(Buffer.from(body, "hex")) : memory.files.get(file)?.bytes;
    if (bytes === undefined) throw new Error("A file is missing.");
    const { reader, chunk } = open(bytes);
    const seqs = reader.rowGroups.flatMap(({ rows: count }, group) => {
      const column = reader.numbers(group, 0, chunk(group, 0));
      return Array.from({ length: count }, (_, row) =>
        column.kind === "numbers" ? (column.values[row] ?? 0) : (column.dictionary[column.indices[row] ?? 0] ?? 0),
      );
    });
    linesIn(bytes).forEach((line, index) => {
      const seq = seqs[index] ?? 0;
      if (lines.has(seq)) throw new Error(`Entry ${seq} is there twice.`);
      lines.set(seq, String(line));
    });
  }
  return lines;
}

function expectedLines(ranges: readonly TestEntry[][][]): [number, string][] {
  return ranges.flat(2).map((own, index) => [index + 1, lineOf(own)]);
}

const sorted = (lines: Map<number, string>) => [...lines].sort(([a], [b]) => a - b);

describe("a compaction", () => {
  test("replaces small ranges by one segment, part by part, letter for letter", async () => {
    const { memory, compact } = world();
    const ranges = rangesOf(40, 12, true);
    await storeFiles(WORKSPACE, PROJECT, ranges, memory);
    const before = await rows();
    expect(before.some(({ part }) => part === 1)).toBe(true);
    const result = await compact();
    expect(result).toMatchObject({ outcome: "merged", replaced: before.length, segments: 2, entries: 480 });
    const after = await rows();
    expect(after.map(({ firstSeq, lastSeq, part, count }) => [firstSeq, lastSeq, part % 16, count])).toEqual([
      [1, 480, 0, 472],
      [1, 480, 1, 8],
    ]);
    expect(sorted(await linesOfRows(memory))).toEqual(expectedLines(ranges));
    // Readers that found a row before still read it by its key.
    expect(await rows("replaced_at IS NOT NULL")).toHaveLength(before.length);
    expect(await compact()).toEqual({ outcome: "idle", doneSeq: 0, isLast: true });
  });

  test("migrates segments of line blocks, and stores a large file in the bucket", async () => {
    const { memory, compact } = world();
    const ranges = rangesOf(3, 900, true);
    const writer = new SegmentWriter(env.COLD_DB);
    for (const range of segmentsOf(PROJECT, ranges)) await writer.insertSegments(WORKSPACE, range);
    expect(await compact()).toMatchObject({ outcome: "merged", entries: 2700 });
    const [main] = await rows("replaced_at IS NULL AND part % 16 = 0");
    expect(main?.file).toMatch(/^v1\/ws_0000000MERGE\/proj_00000000MRG\/0{15}1-\d+-[0-9a-f]{16}$/);
    expect(sorted(await linesOfRows(memory))).toEqual(expectedLines(ranges));
    // The note that would have had the file deleted is gone.
    expect((await env.COLD_DB.prepare("SELECT file FROM orphans").all()).results).toEqual([]);
    const { reader } = open(memory.files.get(main?.file ?? "")?.bytes ?? new Uint8Array());
    expect(reader.properties.replaces).toEqual(["0000000000000001-0", "0000000000000385-0", "0000000000000709-0"]);
  });

  test("16: joins the row groups of large files, with dictionaries that one call of zstd cannot compress", async () => {
    const { memory, compact } = world();
    const ranges = Array.from({ length: 3 }, (_, range) => [
      Array.from({ length: 5000 }, (__, at) => {
        // In no order, as ids of requests repeat.
        const number =
          createHash("md5")
            .update(`${range * 5000 + at}`)
            .digest()
            .readUInt32LE() % 4000;
        const id = createHash("sha256").update(`${number}`).digest("hex");
        return entry(range * 5000 + at, { message: `GET /orders/${id} completed`, data: { at: at % 9 } });
      }),
    ]);
    await storeFiles(WORKSPACE, PROJECT, ranges, memory);
    // Three ranges are fewer than a merge waits for, unless the third one does not fit.
    expect(await compact({ isEnded: true })).toMatchObject({ outcome: "merged", entries: 15_000 });
    const [main] = await rows();
    const { reader } = open(memory.files.get(main?.file ?? "")?.bytes ?? new Uint8Array());
    expect(reader.rowGroups.map((group) => group.rows)).toEqual([15_000]);
    // 4,000 random texts of 64 digits: more than the 40 KiB that a call of workerd's zstd can return.
    expect(reader.dictionaryBytes(0, reader.indexOf("message"))).toBeGreaterThan(100_000);
    expect(reader.dictionaryBytes(0, reader.indexOf("message"))).toBeLessThan(200_000);
    expect(sorted(await linesOfRows(memory))).toEqual(expectedLines(ranges));
  });

  test("counts and coverage of the catalog stay as they were", async () => {
    const { memory, compact } = world();
    await storeFiles(WORKSPACE, PROJECT, rangesOf(40, 12, true), memory);
    const writer = new SegmentWriter(env.COLD_DB);
    const before = await writer.coverageOf(WORKSPACE, [PROJECT]);
    await compact();
    const [after] = await writer.coverageOf(WORKSPACE, [PROJECT]);
    expect(after).toMatchObject({ ...before[0], segments: 2 });
    expect((await writer.usageUpTo(WORKSPACE, [{ projectId: PROJECT, seq: 480 }])).entries).toBe(480);
  });

  test("the ranges that the object has flushed are found in merged segments, and lost ones are missed", async () => {
    const { memory, compact } = world();
    await storeFiles(WORKSPACE, PROJECT, rangesOf(41, 12, true), memory);
    await compact({ readySeq: 480 });
    const flushed = Array.from({ length: 41 }, (_, at) => ({
      firstSeq: at * 12 + 1,
      lastSeq: at * 12 + 12,
      isWhole: true,
    }));
    const tier = new ColdTier(env);
    expect(await missingRanges(tier, WORKSPACE, PROJECT, flushed)).toEqual([]);
    // A page of ranges ends within a merged segment.
    expect(await missingRanges(tier, WORKSPACE, PROJECT, flushed.slice(5, 20))).toEqual([]);
    const expired = flushed.map((range, at) => ({ ...range, isWhole: at > 3 }));
    expect(await missingRanges(tier, WORKSPACE, PROJECT, expired)).toEqual([]);
    await env.COLD_DB.prepare("DELETE FROM segments WHERE first_seq = 481").run();
    expect(await missingRanges(tier, WORKSPACE, PROJECT, flushed)).toEqual([
      { firstSeq: 481, lastSeq: 492, stored: 0 },
    ]);
    await env.COLD_DB.prepare("DELETE FROM segments WHERE part % 16 = 1").run();
    expect(await missingRanges(tier, WORKSPACE, PROJECT, flushed)).toHaveLength(41);
  });

  test("a read of several pages sees each entry once, although a compaction ends between them", async () => {
    const { memory, compact } = world();
    await storeFiles(WORKSPACE, PROJECT, rangesOf(40, 12, true), memory);
    const wanted = { ...selection(WORKSPACE, [PROJECT]), readAt: NOW };
    const find = new SegmentStore(env.COLD_DB);
    const before = await find.findSegments({ ...wanted, limit: 20 });
    await compact();
    const after = await find.findSegments({ ...wanted, after: before.next });
    const counted = (segments: readonly { count: number }[]) => segments.reduce((sum, { count }) => sum + count, 0);
    expect(counted(before.segments) + counted(after.segments)).toBe(480);
    // A read that begins some minutes later sees the merged segments alone, and so do writers at once.
    const later = (await find.findSegments({ ...wanted, readAt: NOW + SWITCH_MS + 1000 })).segments;
    expect([later.length, counted(later)]).toEqual([2, 480]);
    const merged = await find.findSegments({ ...wanted, readAt: NOW + SWITCH_MS + 1000, mergedAfter: NOW });
    expect(merged.segments).toHaveLength(2);
    expect((await find.findSegments({ ...wanted, mergedAfter: NOW })).segments).toEqual([]);
  });

  test("a merged segment has a filter: small ones in the row, large ones in the bucket, interleaved", async () => {
    const { memory, compact } = world();
    const idOf = (index: number) => createHash("md5").update(String(index)).digest("hex");
    const find = async (filter: Parameters<typeof toFilter>[0]) => {
      // SAFETY: the port calls only what the binding in memory has.
      const tier = new ColdTier({ ...env, BUCKET: memory.binding as never });
      const tests = tokenTestsOf(toFilter(filter));
      const wanted = { ...selection(WORKSPACE, [PROJECT]), tests, readAt: NOW + 3_600_000 };
      return (await tier.findSegments(wanted)).segments.map(({ firstSeq }) => firstSeq);
    };
    await storeFiles(WORKSPACE, PROJECT, rangesOf(40, 12), memory);
    await compact();
    expect(await find({ traceId: idOf(77) })).toEqual([1]);
    expect(await find({ traceId: "0".repeat(32) })).toEqual([]);
    expect(await env.COLD_DB.prepare("SELECT 1 FROM segments WHERE filter_file IS NOT NULL").first()).toBeNull();
    // Segments of line blocks are merged without waiting for others.
    await env.COLD_DB.prepare("DELETE FROM segments").run();
    const writer = new SegmentWriter(env.COLD_DB);
    for (const [index, range] of segmentsOf(PROJECT, rangesOf(9, 900)).entries()) {
      await writer.insertSegments(WORKSPACE, range);
      expect(await compact({ doneSeq: index * 900 })).toMatchObject({ outcome: "merged" });
    }
    expect(await compact({ doneSeq: 8100 })).toMatchObject({ outcome: "idle" });
    const { results } = await env.COLD_DB.prepare(
      "SELECT filter_file AS file, filter_slot AS slot FROM segments WHERE replaced_at IS NULL ORDER BY first_seq",
    ).all<{ file: string; slot: number }>();
    expect(results.map(({ file, slot }) => [formOfKey(file)?.filters, slot])).toEqual([
      ...Array.from({ length: 8 }, (_, slot) => [8, slot]),
      [1, 0],
    ]);
    expect(await find({ traceId: idOf(4 * 900 + 5) })).toEqual([3601]);
    expect(await find({ traceId: idOf(8 * 900 + 5) })).toEqual([7201]);
    expect(await find({ traceId: "f".repeat(32) })).toEqual([]);
    expect(await find({ data: [{ path: ["at"], op: "eq", value: 4000 }] })).toEqual([3601]);
    // The eight files that were joined are deleted later.
    const orphans = await env.COLD_DB.prepare("SELECT count(*) AS n FROM orphans").first<number>("n");
    expect(orphans).toBe(8);
  });

  test("with the bucket turned off, files stay in their rows, and those in the bucket are read", async () => {
    const { memory } = world();
    const ranges = rangesOf(3, 2600);
    // A copy, because a slice of a Node buffer is a view.
    await storeFiles(WORKSPACE, PROJECT, ranges, { put: (key, bytes) => memory.put(key, new Uint8Array(bytes)) });
    const bucket = new R2Files(memory.binding, undefined, { ...BUCKET_TIMER, now: () => NOW });
    const call = { workspaceId: WORKSPACE, projectId: PROJECT, doneSeq: 0, readySeq: 7800, retentionDays: 30 };
    await env.COLD_DB.prepare("UPDATE segments SET max_ts = max_ts + 1000000000 WHERE first_seq > 5200").run();
    const ports = { store, bucket, isInD1Only: true, now: () => NOW, pause, wideFrom: 10 };
    expect(await compactOnce(ports, { ...call, deadline: NOW + 60_000 })).toMatchObject({ entries: 5200 });
    expect(await rows("replaced_at IS NULL AND part >= 16")).toMatchObject([{ file: null, count: 5200 }]);
    expect(sorted(await linesOfRows(memory))).toEqual(expectedLines(ranges));
    expect(memory.files.size).toBe(3);
  });

  test("changes nothing if a segment was replaced or deleted in the meantime, and an orphan is noted", async () => {
    const { memory } = world();
    const ranges = rangesOf(3, 900);
    const writer = new SegmentWriter(env.COLD_DB);
    for (const range of segmentsOf(PROJECT, ranges)) await writer.insertSegments(WORKSPACE, range);
    const interrupted = new (class extends CompactionStore {
      override async noteFiles(...args: Parameters<CompactionStore["noteFiles"]>): Promise<void> {
        await super.noteFiles(...args);
        await env.COLD_DB.prepare("DELETE FROM segments WHERE first_seq = 901").run();
      }
    })(env.COLD_DB);
    const { compact, memory: files } = world({}, interrupted);
    expect(await compact()).toEqual({ outcome: "failed", reason: "Segments have changed" });
    expect((await rows()).map(({ firstSeq }) => firstSeq)).toEqual([1, 1801]);
    expect(await rows("replaced_at IS NOT NULL")).toEqual([]);
    const { results } = await env.COLD_DB.prepare("SELECT file, noted_at AS at FROM orphans").all();
    // The segment and its filter.
    expect(results).toEqual([...files.files.keys()].map((file) => ({ file, at: NOW })));
    expect(results).toHaveLength(2);
    expect(memory.files.size).toBe(0);
  });

  test("repeats after a crash between file and rows, after a lost answer, and while R2 refuses", async () => {
    const ranges = rangesOf(3, 900);
    const writer = new SegmentWriter(env.COLD_DB);
    for (const range of segmentsOf(PROJECT, ranges)) await writer.insertSegments(WORKSPACE, range);
    let failing: "before" | "after" | null = "before";
    const faulty = new (class extends CompactionStore {
      override async swap(...args: Parameters<CompactionStore["swap"]>): Promise<boolean> {
        if (failing === "before") throw new Error("D1_ERROR: Network connection lost.");
        const isSwapped = await super.swap(...args);
        if (failing === "after") throw new Error("D1_ERROR: Network connection lost.");
        return isSwapped;
      }
    })(env.COLD_DB);
    const { compact, memory, limited } = world({}, faulty);
    await expect(compact()).rejects.toThrow("Network");
    expect(await rows()).toHaveLength(3);
    failing = "after";
    limited.inject("put", { kind: "too-many-requests" }, 2);
    limited.inject("put", { kind: "lost" });
    await expect(compact()).rejects.toThrow("Network");
    failing = null;
    expect(await compact()).toMatchObject({ outcome: "idle" });
    expect(sorted(await linesOfRows(memory))).toEqual(expectedLines(ranges));
    expect(limited.violations).toEqual([]);
  });

  test("16.3: a range that cannot be read is skipped and reported, and all others are merged", async () => {
    const { bucketFromBytes } = PLACEMENT;
    onTestFinished(() => void Object.assign(PLACEMENT, { bucketFromBytes }));
    PLACEMENT.bucketFromBytes = 1024;
    const damages = {
      missing: async (memory: MemoryBucket, file: string) => void memory.files.delete(file),
      "too short": async (memory: MemoryBucket, file: string) => {
        const stored = memory.files.get(file);
        if (stored) memory.files.set(file, { ...stored, bytes: stored.bytes.slice(0, 100) });
      },
      "damaged in a page": async (memory: MemoryBucket, file: string) => {
        const bytes = memory.files.get(file)?.bytes;
        if (bytes) bytes[bytes.length >> 2] = (bytes[bytes.length >> 2] ?? 0) ^ 255;
      },
      "damaged in its footer": async (_: MemoryBucket, file: string) => {
        await env.COLD_DB.prepare("UPDATE segments SET directory = x'0102' WHERE file = ?").bind(file).run();
      },
    };
    for (const [name, damage] of Object.entries(damages)) {
      await env.COLD_DB.prepare("DELETE FROM segments").run();
      const { memory, compact } = world();
      const ranges = rangesOf(45, 100);
      // A copy, because a slice of a Node buffer is a view.
      await storeFiles(WORKSPACE, PROJECT, ranges, { put: (key, bytes) => memory.put(key, new Uint8Array(bytes)) });
      const [damaged] = await rows("first_seq = 1001");
      await damage(memory, damaged?.file ?? "");
      const outcomes: object[] = [];
      let doneSeq = 0;
      for (let step = 0; step < 8; step++) {
        const outcome = await compact({ doneSeq }, () => NOW + step * 1000);
        outcomes.push(outcome);
        if (outcome.outcome === "failed") break;
        doneSeq = outcome.doneSeq;
        if (outcome.outcome === "idle" && outcome.isLast) break;
      }
      const skipped = outcomes.filter((outcome) => "reason" in outcome);
      const reason = expect.stringMatching(/^(The|A) |^Segment/);
      expect([name, skipped]).toEqual([name, [{ outcome: "skipped", doneSeq: 1100, firstSeq: 1001, reason }]]);
      const left = await rows();
      expect([name, left.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])]).toEqual([
        name,
        [
          [1, 1000],
          [1001, 1100],
          [1101, 4500],
        ],
      ]);
      const found = left.filter(({ firstSeq }) => firstSeq !== 1001);
      expect(found.every(({ part }) => part >= 16)).toBe(true);
    }
  });

  test("16.3: a read by seq of several pages sees each entry once, although a compaction ends between them", async () => {
    const { memory, compact } = world();
    await storeFiles(WORKSPACE, PROJECT, rangesOf(80, 12), memory);
    const find = new SegmentStore(env.COLD_DB);
    const all = { from: 1, to: 960 };
    const page = await find.segmentsBySeq(WORKSPACE, PROJECT, all, null, 40, NOW);
    expect(await compact()).toMatchObject({ outcome: "merged" });
    const next = await find.segmentsBySeq(WORKSPACE, PROJECT, all, page.at(-1) ?? null, 100, NOW);
    expect([...page, ...next].reduce((sum, { count }) => sum + count, 0)).toBe(960);
    const later = await find.segmentsBySeq(WORKSPACE, PROJECT, all, null, 100, NOW + SWITCH_MS + 1000);
    expect(later.reduce((sum, { count }) => sum + count, 0)).toBe(960);
    expect(later.length).toBeLessThan(80);
  });

  test("16.6: an export that runs while its segments are merged has every entry once, and its manifest proves it", async () => {
    const { bucketFromBytes } = PLACEMENT;
    onTestFinished(() => void Object.assign(PLACEMENT, { bucketFromBytes }));
    PLACEMENT.bucketFromBytes = 1024;
    const { memory, compact } = world();
    // More segments than are found at once.
    const ranges = rangesOf(200, 12, true);
    await storeFiles(WORKSPACE, PROJECT, ranges, memory);
    // SAFETY: the port calls only what the binding in memory has.
    const cold = new ColdTier({ ...env, BUCKET: memory.binding as never });
    const through = 2400;
    const recent = async () => ({ lastSeq: through, flushedSeq: through, oldest: 0, through, batches: [] });
    const report = (fault: Error) => {
      throw fault;
    };
    const request = { from: null, to: null, afterSeq: 0, format: "ndjson" } as const;
    // A merge while segments are listed looks like a loss; the records show that nothing is lost.
    const own = { workspaceId: WORKSPACE, projectId: PROJECT, recent, cold, report, missing: async () => 0 };
    const opened = await Export.open(own, request);
    if (opened === null) throw new Error("There are entries.");
    const chunks: Uint8Array[] = [];
    let merges = 0;
    let doneSeq = 0;
    for await (const chunk of opened.bytes()) {
      chunks.push(new Uint8Array(chunk));
      const outcome = await compact({ doneSeq }, () => NOW + merges * 1000);
      if (outcome.outcome === "merged") merges++;
      if (outcome.outcome !== "failed") doneSeq = outcome.doneSeq;
    }
    expect(merges).toBeGreaterThan(1);
    const lines: string[] = Buffer.concat(chunks).toString().split("\n");
    expect(lines.pop()).toBe("");
    const { manifest } = JSON.parse(lines.pop() ?? "");
    const seqs = lines.map((text) => JSON.parse(text).seq);
    expect(seqs).toEqual(Array.from({ length: through }, (_, at) => at + 1));
    const sha256 = createHash("sha256")
      .update(`${lines.join("\n")}\n`)
      .digest("hex");
    expect(manifest).toMatchObject({ count: through, firstSeq: 1, lastSeq: through, sha256 });
  });

  test("two at once replace the segments once", async () => {
    const { memory, compact } = world();
    const ranges = rangesOf(40, 12, true);
    await storeFiles(WORKSPACE, PROJECT, ranges, memory);
    const results = await Promise.all([compact(), compact()]);
    expect(results.filter(({ outcome }) => outcome === "merged").length).toBeGreaterThan(0);
    expect(sorted(await linesOfRows(memory))).toEqual(expectedLines(ranges));
  });

  test("reads of many pages and a flush at the same time: each entry once, and the counts equal the watermark", async () => {
    const { memory, compact } = world();
    const ranges = rangesOf(41, 12, true);
    await storeFiles(WORKSPACE, PROJECT, ranges.slice(0, 40), memory);
    const find = new SegmentStore(env.COLD_DB);
    const { after: _, limit: _limit, maxScanned: _scanned, ...wanted } = selection(WORKSPACE, [PROJECT]);
    const projects = new Map([[PROJECT, 480]]);
    const read = async (): Promise<number[]> => {
      const totals: number[] = [];
      for (let round = 0; round < 4; round++) {
        const pager = new SegmentPager((own) => find.findSegments(own), { ...wanted, projects }, 7, 7);
        let entries = 0;
        while (!pager.isDone) for (const { count } of await pager.page()) entries += count;
        totals.push(entries);
      }
      return totals;
    };
    const [last = []] = segmentsOf(PROJECT, ranges).slice(40);
    const flush = new SegmentWriter(env.COLD_DB).insertSegments(WORKSPACE, last, 480);
    const deadline = Date.now() + 60_000;
    const [merged, ...totals] = await Promise.all([
      compact({ readySeq: 480, deadline }, Date.now),
      read(),
      read(),
      flush,
    ]);
    expect(merged).toMatchObject({ outcome: "merged" });
    expect(totals.slice(0, 2)).toEqual([
      [480, 480, 480, 480],
      [480, 480, 480, 480],
    ]);
    expect(await read()).toEqual([480, 480, 480, 480]);
    const [coverage] = await new SegmentWriter(env.COLD_DB).coverageOf(WORKSPACE, [PROJECT]);
    expect(coverage).toMatchObject({ entries: 492, lastSeq: 492 });
  });

  test("writes nothing after its deadline, and takes nothing that is not ready", async () => {
    const { memory, compact } = world();
    await storeFiles(WORKSPACE, PROJECT, rangesOf(40, 12), memory);
    expect(await compact({ deadline: NOW - 1 })).toEqual({ outcome: "failed", reason: "The compaction was too late" });
    expect(await compact({ readySeq: 300 })).toMatchObject({ outcome: "idle" });
    expect(await rows()).toHaveLength(40);
  });

  test("a merge that was built too slowly is dropped, because readers would see it before its swap", async () => {
    const { memory, compact } = world();
    await storeFiles(WORKSPACE, PROJECT, rangesOf(40, 12), memory);
    const times = [NOW];
    const slow = () => times.shift() ?? NOW + SWITCH_MS - 1000;
    const outcome = await compact({ deadline: Number.POSITIVE_INFINITY }, slow);
    expect(outcome).toEqual({ outcome: "failed", reason: "The compaction was too late" });
    expect(await rows()).toHaveLength(40);
  });
});
