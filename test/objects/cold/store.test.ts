import { env } from "cloudflare:workers";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { allBlocks, blocksToRead } from "../../../src/logs/cold/filter/block-filter.ts";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import { tokensFor, tokenTestsOf } from "../../../src/logs/cold/filter/token-tests.ts";
import { readLevelCounts } from "../../../src/logs/cold/format/counts.ts";
import type { DecodedBlock } from "../../../src/logs/cold/format/decode.ts";
import {
  CorruptSegment,
  type EncodedSegment,
  SEGMENT_LIMITS,
  type SegmentKey,
  type SegmentMeta,
} from "../../../src/logs/cold/format/segment.ts";
import { fromHex, toHex } from "../../../src/logs/cold/store/hex.ts";
import { DELETION_ROWS, SegmentRemover } from "../../../src/logs/cold/store/remover.ts";
import type { SegmentSelection } from "../../../src/logs/cold/store/selection.ts";
import { SegmentStore, STORE_LIMITS } from "../../../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { levelBit } from "../../../src/logs/entry.ts";
import { toFilter } from "../../../src/logs/query/schema.ts";
import { readSummary } from "../../../src/logs/summary.ts";
import { probesOfSlots } from "../../unit/cold/slots.ts";
import { decodeAll } from "../../unit/cold/support.ts";
import { lineOf, type TestEntry } from "../../unit/query/store.ts";
import { readBlocks } from "./read-blocks.ts";
import { entry, metaOf, START, segmentsOf, selection } from "./support.ts";

const WORKSPACE = "ws_000000000001";
const OTHER = "ws_000000000002";
const A = "proj_00000000000A";
const B = "proj_00000000000B";

const store = new SegmentStore(env.COLD_DB);
const writer = new SegmentWriter(env.COLD_DB);
const remover = new SegmentRemover(env.COLD_DB, true);

const found = async (wanted: SegmentSelection) => (await store.findSegments(wanted)).segments;
const levelsOf = async (wanted: SegmentSelection) => (await store.readLevels(wanted)).segments;

beforeEach(async () => {
  await env.COLD_DB.prepare("DELETE FROM segments").run();
  await env.COLD_DB.prepare("DELETE FROM orphans").run();
});

async function insertAll(workspaceId: string, ranges: readonly (readonly EncodedSegment[])[]): Promise<void> {
  for (const range of ranges) await writer.insertSegments(workspaceId, range);
}

function list(from: number, to: number, more: Partial<TestEntry> = {}): TestEntry[] {
  return Array.from({ length: to - from }, (_, index) => entry(from + index, more));
}

const names = (metas: readonly SegmentKey[]) =>
  metas.map(({ projectId, firstSeq, part }) => `${projectId.at(-1)}${firstSeq}/${part}`);

/** Marks the segments of a project as replaced by a compaction, from a `seq` on. */
async function replace(projectId: string, fromSeq: number): Promise<void> {
  const statement = "UPDATE segments SET replaced_at = 1 WHERE project_id = ? AND first_seq >= ?";
  await env.COLD_DB.prepare(statement).bind(projectId, fromSeq).run();
}

describe("segments that a compaction has replaced", () => {
  it("are neither found nor counted, but their bytes are still read", async () => {
    const ranges = segmentsOf(A, [[list(0, 100)], [list(100, 150)]]);
    await insertAll(WORKSPACE, ranges);
    await replace(A, 101);
    const wanted = selection(WORKSPACE, [A]);
    expect(names(await found(wanted))).toEqual(["A1/0"]);
    expect(await levelsOf(wanted)).toHaveLength(1);
    expect((await store.readSummaries(wanted)).segments).toHaveLength(1);
    const all = { from: 1, to: 150 };
    expect(names(await store.segmentsBySeq(WORKSPACE, A, all, null, 9))).toEqual(["A1/0"]);
    expect(names(await store.segmentsBySeq(WORKSPACE, A, { from: 120, to: 150 }, null, 9))).toEqual([]);
    expect(await writer.usage(WORKSPACE)).toMatchObject({ segments: 1, entries: 100 });
    expect(await writer.usageUpTo(WORKSPACE, [{ projectId: A, seq: 150 }])).toMatchObject({ entries: 100 });
    expect(await writer.totalsOfRange(WORKSPACE, { projectId: A, ...all })).toMatchObject({ entries: 100 });
    expect(await writer.covers(WORKSPACE, A, all)).toEqual([{ firstSeq: 1, lastSeq: 100, entries: 100 }]);
    expect(await writer.coverageOf(WORKSPACE, [A])).toMatchObject([{ entries: 100, lastSeq: 100 }]);
    const [, [replaced] = []] = ranges;
    const [body] = await store.readBodies(WORKSPACE, [{ key: metaOf(must(replaced)), start: 0, end: 5 }]);
    expect(toHex(must(body?.bytes))).toBe(toHex(must(replaced).body.subarray(0, 5)));
  });

  it("are not inserted again by a late writer", async () => {
    const [range = []] = segmentsOf(A, [[list(0, 100)]]);
    await writer.insertSegments(WORKSPACE, range);
    await replace(A, 1);
    await writer.insertSegments(WORKSPACE, range);
    expect(await found(selection(WORKSPACE, [A]))).toEqual([]);
  });
});

describe("segments of the version before files", () => {
  it("are found and read after the migration", async () => {
    const [, ...later] = env.COLD_MIGRATIONS;
    const columns = ["format", "file", "replaced_at", "filter_file", "filter_slot"];
    const db = env.COLD_DB;
    const [range = []] = segmentsOf(A, [[list(0, 100)]]);
    await writer.insertSegments(WORKSPACE, range);
    const indexes = ["segments_by_file", "segments_by_filter_file", "segments_replaced"];
    await db.batch([
      ...indexes.map((index) => db.prepare(`DROP INDEX ${index}`)),
      ...columns.map((column) => db.prepare(`ALTER TABLE segments DROP COLUMN ${column}`)),
      db.prepare("DROP TABLE orphans"),
    ]);
    await db.batch(later.flatMap(({ queries }) => queries).map((query) => db.prepare(query)));
    expect(await found(selection(WORKSPACE, [A]))).toEqual(range.map(metaOf));
    expect(await writer.usage(WORKSPACE)).toMatchObject({ segments: 1, entries: 100 });
    const row = await db.prepare(`SELECT ${columns.join(", ")} FROM segments`).first();
    expect(row).toEqual({ format: 0, file: null, replaced_at: null, filter_file: null, filter_slot: null });
  });
});

describe("insertSegments", () => {
  it("stores a range of which every byte can be read", async () => {
    const [range = []] = segmentsOf(A, [[list(0, 500), list(500, 1200)]]);
    const [segment] = range;
    expect(await writer.insertSegments(WORKSPACE, range)).toEqual({
      segments: 1,
      entries: 1200,
      bytes: segment?.storedBytes,
      files: [],
    });
    expect(await found(selection(WORKSPACE, [A]))).toEqual(range.map(metaOf));
    const [stored] = await store.readBodies(WORKSPACE, [
      { key: metaOf(must(segment)), start: 0, end: must(segment).body.length },
    ]);
    expect(stored).not.toBeNull();
    const back = { ...must(segment), body: must(stored).bytes, batchTable: must(stored).batchTable };
    expect(decodeAll(back)).toEqual(decodeAll(must(segment)));
  });

  it("changes nothing if it is repeated, also by a version that encodes the range differently", async () => {
    const late = START - 5 * 86_400_000;
    const entries = [...list(0, 40), entry(41, { timestamp: late }), ...list(42, 60)];
    const [whole = []] = segmentsOf(A, [[entries]]);
    expect(whole).toHaveLength(2);
    const halves = segmentsOf(A, [[entries.slice(0, 30)], [entries.slice(30)]]).flat();
    const totals = await writer.insertSegments(WORKSPACE, whole);
    expect(totals.entries).toBe(entries.length);
    expect(await writer.insertSegments(WORKSPACE, whole)).toEqual(totals);
    expect(await writer.insertSegments(WORKSPACE, halves)).toEqual(totals);
    expect({ ...(await writer.usage(WORKSPACE)), files: [] }).toEqual(totals);
  });

  it("ends the orphans whose rows it has inserted, and only those", async () => {
    const orphans = async () =>
      (await env.COLD_DB.prepare("SELECT file, noted_at AS at FROM orphans ORDER BY file").all()).results;
    const entries = [...list(0, 40), entry(41, { timestamp: START - 5 * 86_400_000 })];
    const [range = []] = segmentsOf(A, [[entries]]);
    const named = (name: string) => range.map((segment) => ({ ...segment, file: `${name}${segment.part}` }));
    await writer.noteFiles(WORKSPACE, ["a0", "a1", "b0"], 5);
    expect((await writer.insertSegments(WORKSPACE, named("a"))).files.sort()).toEqual(["a0", "a1"]);
    expect(await orphans()).toEqual([{ file: "b0", at: 5 }]);
    await writer.noteFiles(WORKSPACE, ["b0", "b1"], 7);
    expect((await writer.insertSegments(WORKSPACE, named("b"))).files.sort()).toEqual(["a0", "a1"]);
    expect((await orphans()).map(({ at }) => at)).toEqual([7, 7]);
    expect((await writer.replaceSegments(WORKSPACE, named("b"), 0, 9)).files.sort()).toEqual(["b0", "b1"]);
    expect(await orphans()).toEqual([
      { file: "a0", at: 9 },
      { file: "a1", at: 9 },
    ]);
    expect((await writer.replaceSegments(WORKSPACE, range, 0, 11)).files).toEqual([]);
    expect((await orphans()).map(({ file }) => file)).toEqual(["a0", "a1", "b0", "b1"]);
  });

  it("stores all of a range or nothing", async () => {
    const [whole = []] = segmentsOf(A, [[[...list(0, 40), entry(41, { timestamp: START - 5 * 86_400_000 })]]]);
    const broken = whole.map((segment, index) => (index === 0 ? { ...segment, count: Number.NaN } : segment));
    await expect(writer.insertSegments(WORKSPACE, broken)).rejects.toThrow();
    expect(await writer.usage(WORKSPACE)).toEqual({ segments: 0, entries: 0, bytes: 0 });
  });

  it("returns a lower total if the range is incomplete", async () => {
    const [range = []] = segmentsOf(A, [[[...list(0, 40), entry(41, { timestamp: START - 5 * 86_400_000 })]]]);
    expect((await writer.insertSegments(WORKSPACE, range.slice(0, 1))).entries).toBe(40);
  });

  it("writes four rows a segment, indexes included", async () => {
    const [range = []] = segmentsOf(A, [[list(0, 10)]]);
    const { db, written } = countRows();
    await new SegmentWriter(db).insertSegments(WORKSPACE, range);
    expect(written()).toBe(4);
    await new SegmentWriter(db).insertSegments(WORKSPACE, range);
    expect(written()).toBe(4);
  });

  it("accepts the largest possible rows", async () => {
    // The runtime returns at most 64 KiB of random bytes a call.
    const noise = () => Array.from({ length: 6 }, () => randomBytes(30_000).toString("base64")).join("");
    const entries = Array.from({ length: 10 }, (_, index) => entry(index, { message: noise() }));
    const [range = []] = segmentsOf(A, [[entries]]);
    expect(Math.max(...range.map(({ body }) => body.length))).toBeGreaterThan(SEGMENT_LIMITS.blobBytes / 2);
    expect((await writer.insertSegments(WORKSPACE, range)).entries).toBe(10);
    for (const segment of range) {
      const [stored] = await store.readBodies(WORKSPACE, [{ key: segment, start: 0, end: segment.body.length }]);
      expect(toHex(must(stored).bytes) === toHex(segment.body)).toBe(true);
    }
  });
});

describe("findSegments", () => {
  const select = async (more: Partial<SegmentSelection> = {}, projects = [A, B]) =>
    names(await found(selection(WORKSPACE, projects, more)));

  beforeEach(async () => {
    await insertAll(WORKSPACE, segmentsOf(A, [[list(0, 100)], [list(100, 200, { level: "error" })], [list(200, 300)]]));
    await insertAll(
      WORKSPACE,
      segmentsOf(B, [[list(50, 150, { category: "http", type: "request" })], [list(150, 400)]]),
    );
    await insertAll(OTHER, segmentsOf(A, [[list(0, 100)]]));
  });

  it("returns segments in the order of their bounds", async () => {
    expect(await select()).toEqual(["B101/0", "A201/0", "A101/0", "B1/0", "A1/0"]);
    expect(await select({ order: "asc" })).toEqual(["A1/0", "B1/0", "A101/0", "B101/0", "A201/0"]);
    expect(await select({}, [A])).toEqual(["A201/0", "A101/0", "A1/0"]);
    expect(await select({}, [])).toEqual([]);
    expect(await select({}, ["proj_00000000000C"])).toEqual([]);
  });

  it("returns segments page by page", async () => {
    for (const order of ["asc", "desc"] as const) {
      const whole = await select({ order });
      const paged: SegmentMeta[] = [];
      for (let after: SegmentMeta | null = null; ; ) {
        const page: SegmentMeta[] = await found(selection(WORKSPACE, [A, B], { order, after, limit: 2 }));
        paged.push(...page);
        after = page.at(-1) ?? null;
        if (page.length < 2) break;
      }
      expect(names(paged)).toEqual(whole);
    }
  });

  it("examines at most `maxScanned` segments, and returns where to continue, whatever it finds", async () => {
    for (const order of ["asc", "desc"] as const) {
      for (const more of [{}, { levelMask: levelBit("error") }, { projects: new Map([[B, 1000]]) }, { limit: 1 }]) {
        const whole = await select({ order, ...more, limit: 100 });
        for (const maxScanned of [1, 2, 3, 5]) {
          const walked: string[] = [];
          let after: SegmentSelection["after"] = null;
          let pages = 0;
          do {
            const page = await store.findSegments(selection(WORKSPACE, [A, B], { order, ...more, after, maxScanned }));
            expect(page.segments.length).toBeLessThanOrEqual(maxScanned);
            walked.push(...names(page.segments));
            after = page.next;
          } while (after !== null && ++pages < 20);
          expect(walked).toEqual(whole);
        }
      }
    }
  });

  it("rejects a limit above the maximum", async () => {
    await expect(select({ limit: STORE_LIMITS.metas + 1 })).rejects.toThrow(RangeError);
  });

  it("excludes segments outside the times, the masks, the snapshot and the watermarks", async () => {
    expect(await select({ from: START + 199_000 })).toEqual(["B101/0", "A201/0", "A101/0"]);
    expect(await select({ from: START + 199_001 })).toEqual(["B101/0", "A201/0"]);
    expect(await select({ to: START + 100_000 })).toEqual(["B1/0", "A1/0"]);
    expect(await select({ to: START + 100_001 })).toEqual(["A101/0", "B1/0", "A1/0"]);
    expect(await select({ from: START + 150_000, to: START + 150_001 })).toEqual(["B101/0", "A101/0"]);
    expect(await select({ levelMask: levelBit("error") })).toEqual(["A101/0"]);
    expect(await select({ levelMask: 0 })).toEqual([]);
    expect(await select({ categoryMask: 2 })).toEqual(["B1/0"]);
    expect(await select({ asOf: 13 })).toEqual(["B101/0", "A101/0", "B1/0", "A1/0"]);
    expect(await select({ asOf: 9 })).toEqual([]);
    const watermarks = new Map([
      [A, 200],
      [B, 349],
    ]);
    expect(await select({ projects: watermarks })).toEqual(["A101/0", "B1/0", "A1/0"]);
    expect(await select({ projects: new Map([[A, 299]]) })).toEqual(["A101/0", "A1/0"]);
  });

  it("finds the same segments as a plain selection, in its order", async () => {
    const all = (await found(selection(WORKSPACE, [A, B]))).reverse();
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          from: fc.option(fc.integer({ min: 0, max: 400 })),
          to: fc.option(fc.integer({ min: 0, max: 400 })),
          levelMask: fc.integer({ min: 0, max: 127 }),
          order: fc.constantFrom<"asc" | "desc">("asc", "desc"),
          watermark: fc.integer({ min: 0, max: 400 }),
          limit: fc.integer({ min: 1, max: 6 }),
        }),
        async ({ from, to, levelMask, order, watermark, limit }) => {
          const range = {
            from: from === null ? null : START + from * 1000,
            to: to === null ? null : START + to * 1000,
          };
          const projects = new Map([
            [A, watermark],
            [B, 1000],
          ]);
          const wanted = all
            .filter(({ maxTimestamp }) => range.from === null || maxTimestamp >= range.from)
            .filter(({ minTimestamp }) => range.to === null || minTimestamp < range.to)
            .filter((meta) => (meta.levelMask & levelMask) !== 0 && meta.lastSeq <= (projects.get(meta.projectId) ?? 0))
            .sort((a, b) => (order === "asc" ? a.minTimestamp - b.minTimestamp : b.maxTimestamp - a.maxTimestamp || 0));
          expect(await select({ ...range, levelMask, order, projects, limit })).toEqual(names(wanted.slice(0, limit)));
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("filters in SQL", () => {
  const ids = Array.from({ length: 40 }, (_, index) => `trace-${index}`);
  const words = ["connection", "refused", "Timeout", "GRÖSSE", "поиск", "検索結果です"];

  it("pass exactly the tokens that the filter may hold", async () => {
    const ranges = segmentsOf(
      A,
      ids.map((traceId, index) => [
        list(index * 10, index * 10 + 10, {
          traceId,
          message: `${words[index % words.length]} ${index}`,
          data: { order: { id: index, name: `order ${index}` }, list: ["x", index % 7, index % 2 === 0, null] },
        }),
      ]),
    );
    await insertAll(WORKSPACE, ranges);
    const segments = ranges.flat();
    const scalar = fc.oneof(fc.nat({ max: 50 }), fc.boolean(), fc.constant(null), fc.constantFrom("order 3", "x"));
    const condition = fc.oneof(
      fc.record({
        path: fc.constantFrom(
          ["order", "id"],
          ["order", "name"],
          ["list", "1"],
          ["list", "2"],
          ["list", "3"],
          ["gone"],
        ),
        op: fc.constant("eq" as const),
        value: scalar,
      }),
      fc.record({
        path: fc.constantFrom(["order", "id"], ["list", "1"]),
        op: fc.constant("in" as const),
        value: fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 20 }),
      }),
      fc.record({
        path: fc.constantFrom(["order"], ["order", "id"], ["list", "9"]),
        op: fc.constant("exists" as const),
        value: fc.boolean(),
      }),
    );
    const filters = fc.record(
      {
        traceId: fc.oneof(fc.constantFrom(...ids), fc.string()),
        search: fc.oneof(fc.constantFrom(...words), fc.string({ minLength: 1 })),
        data: fc.array(condition, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    let told = 0;
    await fc.assert(
      fc.asyncProperty(filters, async (body) => {
        const tests = tokenTestsOf(toFilter(body));
        const passed = segments.filter(({ filter, filterKinds }) =>
          tests.every((test) => tokensFor(test, filterKinds)?.some(({ a, b }) => mayContain(filter, a, b)) ?? true),
        );
        if (passed.length < segments.length) told++;
        const metas = await found(selection(WORKSPACE, [A], { tests, order: "asc" }));
        expect(names(metas)).toEqual(names(passed));
      }),
      { numRuns: 300 },
    );
    expect(told).toBeGreaterThan(100);
  });

  it("pass kinds of token that a filter does not have", async () => {
    const [range = []] = segmentsOf(A, [[list(0, 10)]]);
    await writer.insertSegments(
      WORKSPACE,
      range.map((segment) => ({ ...segment, filterKinds: 0, filter: Uint8Array.of(0) })),
    );
    const tests = tokenTestsOf(
      toFilter({ traceId: "x", search: "nothing", data: [{ path: ["a"], op: "eq", value: 1 }] }),
    );
    expect(tests.length).toBeGreaterThan(3);
    expect(await found(selection(WORKSPACE, [A], { tests }))).toHaveLength(1);
  });

  it("accept the largest possible query", async () => {
    await insertAll(WORKSPACE, segmentsOf(A, [[list(0, 10, { traceId: "t", data: { a: 1 } })]]));
    const search = Array.from({ length: 512 }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join("");
    const data = Array.from({ length: 100 }, (_, index) => ({
      path: [`p${index}`],
      op: "in" as const,
      value: Array.from({ length: 1000 }, (_, value) => value),
    }));
    for (const filter of [{ search }, { data }, { search, data, traceId: "t", session: "s" }]) {
      expect(await found(selection(WORKSPACE, [A], { tests: tokenTestsOf(toFilter(filter)) }))).toEqual([]);
    }
    const many = Array.from({ length: 100 }, (_, index) => ({
      path: [`p${index}`],
      op: "in" as const,
      value: Array.from({ length: 16 }, (_, value) => value),
    }));
    const tests = tokenTestsOf(toFilter({ data: many }));
    expect(await found(selection(WORKSPACE, [A], { tests }))).toEqual([]);
  });
});

describe("blocks of a found segment", () => {
  const held = Array.from({ length: 3000 }, (_, index) =>
    entry(index, {
      timestamp: START + index,
      traceId: `trace-${index}`,
      message: `request ${index} ${index === 1500 ? "stormglasspetrel" : "went well"} ${"x ".repeat(50)}`,
    }),
  );

  it("are those with a matching entry, and few others", async () => {
    const [range = []] = segmentsOf(A, [[held]]);
    await writer.insertSegments(WORKSPACE, range);
    const segment = must(range[0]);
    expect(allBlocks(segment).length).toBeGreaterThan(5);
    const blocksFor = async (filters: Parameters<typeof toFilter>[0]) => {
      const filter = toFilter(filters);
      const tests = tokenTestsOf(filter);
      const meta = must((await found(selection(WORKSPACE, [A], { tests })))[0]);
      expect(meta.slots).toBe(probesOfSlots(segment, tests).toUpperCase());
      return { found: meta, blocks: blocksToRead(meta, { ...filter, tests }) };
    };
    let read = 0;
    for (let index = 0; index < held.length; index += 100) {
      const { found: meta, blocks } = await blocksFor({ traceId: `trace-${index}` });
      const units: DecodedBlock[] = [];
      for await (const unit of readBlocks(store, WORKSPACE, [{ meta, blocks }], null)) units.push(unit);
      const seqs = units.flatMap((unit) => Array.from({ length: unit.count }, (_, place) => unit.seqAt(place)));
      expect(seqs).toContain(index + 1);
      expect(units.map(({ body }) => new TextDecoder().decode(body)).join("\n")).toContain(`"trace-${index}"`);
      read += blocks.length;
    }
    expect(read / 30).toBeLessThan(2.5);
    expect((await blocksFor({ search: "GlassPet" })).blocks.length).toBeLessThan(3);
    expect((await blocksFor({})).blocks).toEqual(allBlocks(segment));
  });

  it("are read with gaps between them, and are null after the segment was deleted", async () => {
    const [range = []] = segmentsOf(A, [[held]]);
    await writer.insertSegments(WORKSPACE, range);
    const [meta] = await found(selection(WORKSPACE, [A]));
    const every = allBlocks(must(meta));
    const blocks = every.filter((_, index) => index % 3 !== 1);
    const read = async () => {
      const lines: string[] = [];
      for await (const unit of readBlocks(store, WORKSPACE, [{ meta: must(meta), blocks }], 9)) {
        expect(unit.isVisible(0)).toBe(false);
        lines.push(...new TextDecoder().decode(unit.body).split("\n"));
      }
      return lines;
    };
    expect(await read()).toEqual(
      blocks.flatMap(({ firstIndex, lines }) => held.slice(firstIndex, firstIndex + lines).map(lineOf)),
    );
    await remover.deleteOfProject(WORKSPACE, A);
    expect(await read()).toEqual([]);
  });

  it("are reported as corrupt if they are damaged", async () => {
    const [range = []] = segmentsOf(A, [[held]]);
    await writer.insertSegments(WORKSPACE, range);
    await env.COLD_DB.prepare("UPDATE segments SET body = substr(body, 1, length(body) - 100)").run();
    const [meta] = await found(selection(WORKSPACE, [A]));
    const blocks = allBlocks(must(meta));
    const readAll = async () => {
      for await (const unit of readBlocks(store, WORKSPACE, [{ meta: must(meta), blocks }], null))
        expect(unit.count).toBeGreaterThan(0);
    };
    await expect(readAll()).rejects.toThrow(CorruptSegment);
  });
});

describe("counts", () => {
  it("are returned by minute and level, and by kind, page by page", async () => {
    const ranges = segmentsOf(A, [
      [list(0, 90)],
      [list(90, 120, { level: "error", category: "http", type: "request" })],
      [list(120, 240)],
    ]);
    await insertAll(WORKSPACE, ranges);
    const levels = await levelsOf(selection(WORKSPACE, [A], { order: "asc" }));
    expect(names(levels)).toEqual(["A1/0", "A91/0", "A121/0"]);
    const minute = START / 60_000;
    expect(levels.map(({ counts }) => [...readLevelCounts(counts)])).toEqual([
      [
        { minute, level: 3, count: 60 },
        { minute: minute + 1, level: 3, count: 30 },
      ],
      [{ minute: minute + 1, level: 5, count: 30 }],
      [
        { minute: minute + 2, level: 3, count: 60 },
        { minute: minute + 3, level: 3, count: 60 },
      ],
    ]);
    const [, second] = (
      await store.readSummaries(selection(WORKSPACE, [A], { order: "asc", limit: STORE_LIMITS.summaries }))
    ).segments;
    expect([...readSummary(must(second).counts)]).toEqual([
      { minute: minute + 1, level: 5, category: "http", type: "request", count: 30 },
    ]);
    expect(
      names(await levelsOf(selection(WORKSPACE, [A], { order: "asc", after: must(levels[0]), limit: 1 }))),
    ).toEqual(["A91/0"]);
  });
});

describe("segmentsBySeq", () => {
  it("returns the segments of a seq range, every part of them, and no other", async () => {
    const late = entry(0, { timestamp: START - 9 * 86_400_000 });
    await insertAll(WORKSPACE, segmentsOf(A, [[list(0, 10)], [[...list(10, 19), late]], [list(20, 30)]]));
    await insertAll(OTHER, segmentsOf(A, [[list(0, 100)]]));
    await insertAll(WORKSPACE, segmentsOf(B, [[list(0, 100)]]));
    const readBySeq = async (from: number, to: number, after: SegmentMeta | null = null, limit = 10) =>
      names(await store.segmentsBySeq(WORKSPACE, A, { from, to }, after, limit));
    expect(await readBySeq(1, 10)).toEqual(["A1/0"]);
    expect(await readBySeq(10, 11)).toEqual(["A1/0", "A11/0", "A11/1"]);
    expect(await readBySeq(20, 20)).toEqual(["A11/0", "A11/1"]);
    expect(await readBySeq(12, 1000)).toEqual(["A11/0", "A11/1", "A21/0"]);
    expect(await readBySeq(31, 40)).toEqual([]);
    const [first] = await store.segmentsBySeq(WORKSPACE, A, { from: 12, to: 1000 }, null, 1);
    expect(await readBySeq(12, 1000, must(first))).toEqual(["A11/1", "A21/0"]);
  });
});

describe("readBodies", () => {
  it("reads parts of bodies, returns null for deleted segments, and stops if a response is full", async () => {
    const ranges = segmentsOf(A, [[list(0, 1200)], [list(1200, 1300)]]);
    await insertAll(WORKSPACE, ranges);
    const [first, second] = ranges.flat().map(metaOf);
    const gone = { ...must(second), firstSeq: 77 };
    const read = await store.readBodies(WORKSPACE, [
      { key: must(second), start: 3, end: 17 },
      { key: gone, start: 0, end: 10 },
      { key: must(first), start: 5, end: 6 },
    ]);
    expect(read.map((body) => body && toHex(body.bytes))).toEqual([
      toHex(must(ranges[1]?.[0]).body.subarray(3, 17)),
      null,
      toHex(must(ranges[0]?.[0]).body.subarray(5, 6)),
    ]);
    expect(await store.readBodies(OTHER, [{ key: must(first), start: 0, end: 5 }])).toEqual([null]);
    const large = { key: must(first), start: 0, end: STORE_LIMITS.bodyBytes };
    expect(await store.readBodies(WORKSPACE, [large, large, large])).toHaveLength(1);
    expect(await store.readBodies(WORKSPACE, [])).toEqual([]);
  });
});

describe("deletion", () => {
  it("proceeds in steps, and deletes only what matches", async () => {
    const ranges = Array.from({ length: 60 }, (_, index) => [list(index * 2, index * 2 + 2)]);
    await insertAll(WORKSPACE, segmentsOf(A, ranges));
    await insertAll(WORKSPACE, segmentsOf(B, ranges.slice(0, 3)));
    await insertAll(OTHER, segmentsOf(A, ranges.slice(0, 3)));
    expect(await remover.deleteOlder(WORKSPACE, START + 9000)).toBe(7);
    expect((await writer.usage(WORKSPACE)).segments).toBe(56);
    expect(await remover.deleteOfProject(WORKSPACE, A)).toBe(DELETION_ROWS);
    expect(await remover.deleteOfProject(WORKSPACE, A)).toBe(56 - DELETION_ROWS);
    expect(await remover.deleteOfProject(WORKSPACE, A)).toBe(0);
    expect((await writer.usage(WORKSPACE)).segments).toBe(0);
    await insertAll(WORKSPACE, segmentsOf(B, ranges.slice(0, 2)));
    expect(await remover.deleteOfWorkspace(WORKSPACE)).toBe(2);
    expect((await writer.usage(OTHER)).segments).toBe(3);
  });
});

describe("hexadecimal", () => {
  it("decodes to the encoded bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(fromHex(toHex(bytes).toUpperCase())).toEqual(bytes);
      }),
    );
  });
});

function must<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("It is there.");
  return value;
}

/** A database that sums the rows written by its batches, as D1 counts them. */
function countRows(): { db: D1Database; written: () => number } {
  let written = 0;
  const db = new Proxy(env.COLD_DB, {
    get(target, name) {
      if (name !== "batch") return Reflect.get(target, name).bind(target);
      return async (statements: D1PreparedStatement[]) => {
        const results = await target.batch(statements);
        written += results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
        return results;
      };
    },
  });
  return { db, written: () => written };
}
