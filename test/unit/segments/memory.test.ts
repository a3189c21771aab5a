import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { GroupBytes } from "../../../src/logs/segments/decode/group-bytes.ts";
import { sourceLinesOf } from "../../../src/logs/segments/decode/source-lines.ts";
import { encodeFiles } from "../../../src/logs/segments/encode/encode-rows.ts";
import { joinGroups } from "../../../src/logs/segments/merge/join-groups.ts";
import { SegmentMerger } from "../../../src/logs/segments/merge/segment-merger.ts";
import { wholeChunk } from "../../../src/logs/segments/parquet/page-places.ts";
import { RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import { detachBuffer } from "../../../src/platform/isolate-memory.ts";
import { type BufferCount, countBuffers } from "../../support/buffer-count.ts";
import { batchesOf, bytesOf, encodeRows, line, open, PROJECT } from "./support.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const ROWS = 10_000;

const idOf = (at: number) => createHash("sha256").update(`${at}`).digest("hex");
/** Entries with ids, a text that repeats, numbers, a stack with escapes, and values without a column. */
const ordinary = Array.from({ length: ROWS }, (_, at) =>
  line(
    {
      route: `/r/${at % 40}`,
      durationMs: at % 1500,
      share: at / 7,
      isCached: at % 3 === 0,
      ...(at % 5 === 0 ? { stack: `at f\n\tat g (${idOf(at).slice(0, 12)}.js:${at})` } : {}),
      ...(at % 400 === 0 ? { [`rare${at}`]: [at, { deep: at }] } : {}),
    },
    { message: `GET /api/v1/orders/${at} took ${at % 1500} ms`, traceId: idOf(at >> 3).slice(0, 32) },
    at,
  ),
);
const randomText = Array.from({ length: ROWS }, (_, at) =>
  line(undefined, { message: `${idOf(at)}${idOf(-at)}`, session: idOf(at) }, at),
);
const manyNumbers = Array.from({ length: ROWS }, (_, at) =>
  line(Object.fromEntries(Array.from({ length: 60 }, (__, field) => [`n${field}`, at * field])), {}, at),
);

function bytesOfLines(lines: readonly string[]): number {
  return lines.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
}

/** Bytes beside the result: metadata of columns, templates, statistics. */
const SMALL = 320 * KIB;
/** A row group of the merge. */
const GROUP_ROWS = 2000;

/** The first run makes the buffers that all later ones share. */
function counted<T>(run: () => T): { result: T; count: BufferCount } {
  run();
  return countBuffers(run);
}

function lastOf<T>(steps: Generator<unknown, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

function fileOf(lines: readonly string[]): Uint8Array {
  const [file] = encodeRows(lines, { perBatch: 100 }).map(bytesOf);
  if (file === undefined) throw new Error("There is a file.");
  return file;
}

// What is not freed waits for a garbage collection, up to 64 MiB in an isolate of 128 MB.
describe("memory of segment files", () => {
  it.each([
    // The lines are the caller's: 2.8, 3.1 and 8.6 MB.
    { kind: "ordinary lines", lines: ordinary, peak: 2.5 * MIB },
    { kind: "random text", lines: randomText, peak: 3 * MIB },
    { kind: "60 numbers a line", lines: manyNumbers, peak: 8 * MIB },
  ])("a flush of $kind holds little beside the lines and leaves nothing but its files", ({ lines, peak }) => {
    const range = { firstSeq: 1, lastSeq: ROWS };
    const batches = batchesOf(lines, 100);
    const { result, count } = counted(() => [...encodeFiles(PROJECT, batches, range, true)]);
    const held = result.reduce((sum, step) => sum + (step === null ? 0 : step.row.storedBytes), 0);
    expect(count.left).toBeLessThan(held + SMALL);
    expect(count.peak).toBeLessThan(peak);
  });

  it("finding rows leaves nothing but the rows", () => {
    const bytes = fileOf(ordinary);
    const { reader } = open(bytes);
    const filters = [
      { search: "took 7" },
      { traceId: idOf(3).slice(0, 32) },
      { data: { durationMs: { gte: 1000 } } },
      { data: { route: "/r/7", isCached: true } },
      { data: { stack: { exists: true } } },
    ];
    for (const wanted of filters) {
      const { filter } = QueryBody.parse({ filters: wanted });
      const { result, count } = counted(() => {
        const own = new RowGroupFilter(reader, 0, filter, { asOf: null, afterCommit: 0 }, new WorkMeter());
        const group = GroupBytes.ofFile(reader, 0, bytes);
        return lastOf(own.steps((column) => group.chunk(column))).rows;
      });
      expect(result.length).toBeGreaterThan(0);
      expect(count.left).toBeLessThan(result.byteLength + SMALL);
      expect(count.peak).toBeLessThan(MIB);
    }
  });

  it("reading all lines leaves nothing but the lines", () => {
    const { reader, chunk } = open(fileOf(ordinary));
    const { result, count } = counted(() => {
      let rows = 0;
      for (const lines of sourceLinesOf(reader, 0, chunk)) rows += lines.length;
      return rows;
    });
    expect(result).toBe(ROWS);
    expect(count.left).toBeLessThan(bytesOfLines(ordinary) + SMALL);
    expect(count.peak).toBeLessThan(bytesOfLines(ordinary) + 2 * MIB);
  });

  it("a merge holds the lines of one row group, and leaves nothing but its file", () => {
    const bytes = fileOf(ordinary);
    const { reader } = open(bytes);
    const source = { reader, group: 0, bytes: GroupBytes.ofFile(reader, 0, bytes) };
    const { result, count } = counted(() => {
      const merger = new SegmentMerger(PROJECT, null, { groupRows: GROUP_ROWS });
      lastOf(merger.addGroup(source, { rawBytes: 1, levelMask: 127 }));
      return lastOf(merger.finish([]));
    });
    expect(count.left).toBeLessThan(result.size + 1.1 * MIB);
    expect(count.peak).toBeLessThan(4 * MIB);
  });

  it("16: joining row groups leaves nothing but the file", () => {
    const files = [ordinary, ordinary].map((lines, at) =>
      bytesOf(encodeRows(lines.slice(at * 2500, at * 2500 + 2500), { perBatch: 100 })[0] ?? { parts: [] }),
    );
    // Only the form of the row groups matters: the second file has later numbers.
    const opened = files.map((bytes) => ({ bytes, ...open(bytes) }));
    const [first] = opened;
    if (first === undefined) throw new Error("There is a file.");
    const groups = opened.map(({ bytes, reader }) => {
      const { rows = 0, chunks = [] } = reader.rowGroups[0] ?? {};
      return { rows, chunks: chunks.map((meta, column) => ({ meta, column, bytes, reader })) };
    });
    const span = { min: 0, max: 1 };
    const facts = {
      ...{ sections: [], rawBytes: 1, levelMask: 1 },
      ...{ seq: span, commit: span, timestamp: span, receivedAt: span },
    };
    const { result, count } = counted(() => {
      const copies = groups.map(({ rows, chunks }) => ({
        rows,
        facts,
        chunks: chunks.map(({ meta, column, bytes, reader }) => {
          const { start, end } = reader.range(0, column);
          const pages = reader.pages(0, column) ?? wholeChunk(meta);
          const { min, max } = meta;
          return { meta: { ...meta, min, max, pages }, bytes: new Uint8Array(bytes.subarray(start, end)) };
        }),
      }));
      const joined = lastOf(joinGroups(copies, first.reader.columns));
      for (const { bytes } of copies.flatMap(({ chunks }) => chunks)) detachBuffer(bytes);
      return joined;
    });
    const size = result?.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0;
    expect(size).toBeGreaterThan(0);
    expect(count.left).toBeLessThan(size + SMALL);
    expect(count.peak).toBeLessThan(2 * MIB);
  });
});
