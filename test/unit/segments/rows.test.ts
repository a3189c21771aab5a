import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import { TOKEN_KIND, TokenCollector } from "../../../src/logs/cold/filter/tokens.ts";
import { readBlockIndex } from "../../../src/logs/cold/format/batch-table.ts";
import { FILE_HEAD_BYTES, SEGMENT_FORMAT, SEGMENT_LIMITS } from "../../../src/logs/cold/format/segment.ts";
import { levelBit, parseStoredLine } from "../../../src/logs/entry.ts";
import {
  type CatalogFile,
  catalogFile,
  isForBucket,
  placeInBucket,
  placeInRow,
} from "../../../src/logs/segments/encode/encode-rows.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { entryAt, time } from "../query/arbitraries.ts";
import { lineOf } from "../query/store.ts";
import { batchesOf, bytesOf, encode, encodeRows, line, linesIn, open, PROJECT, valuesIn } from "./support.ts";

const HOUR_MS = 3_600_000;
const anyTime = fc.oneof(
  { weight: 6, arbitrary: time },
  fc.integer({ min: 1_790_000_000_000, max: 1_795_190_000_000 }),
);
const entries = fc.array(entryAt(anyTime), { minLength: 1, maxLength: 60 });

function seqsOf(file: CatalogFile): number[] {
  return valuesIn(bytesOf(file), "seq").map(Number);
}

describe("rows of the catalog for segment files", () => {
  test("have the same ranges, parts and counts as segments of line blocks, and the lines letter for letter", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const lines = list.map(lineOf);
        const files = encodeRows(lines);
        const range = { firstSeq: 1, lastSeq: lines.length };
        const blocks = [...encodeSegments(PROJECT, batchesOf(lines), range)];
        expect(files).toHaveLength(blocks.length);
        files.forEach((file, index) => {
          const { firstSeq, lastSeq, part, count, minTimestamp, maxTimestamp, minCommit, maxCommit, ...others } =
            blocks[index] ?? file.row;
          const { levelMask, categoryMask, levels, summary } = others;
          const shared = { firstSeq, lastSeq, part, count, minTimestamp, maxTimestamp, minCommit, maxCommit };
          expect(file.row).toMatchObject({ ...shared, levelMask, categoryMask, levels, summary });
          expect(linesIn(bytesOf(file)).map(String)).toEqual(seqsOf(file).map((seq) => lines[seq - 1]));
        });
        expect(files.flatMap(seqsOf).sort((a, b) => a - b)).toEqual(lines.map((_, index) => index + 1));
      }),
      { numRuns: 25 },
    );
  });

  test("list the row groups as blocks, and have the footer as directory", () => {
    const lines = Array.from({ length: 400 }, (_, at) =>
      line({ n: at }, { level: at < 300 ? "info" : "error" }, (at * 7919) % 400),
    );
    const key = { projectId: PROJECT, firstSeq: 1, lastSeq: 400, part: 0 };
    const file = catalogFile(key, encode(lines, { groupRows: 250 }), { kinds: 0, filter: new Uint8Array() });
    const bytes = bytesOf(file);
    const { reader } = open(bytes);
    const blocks = readBlockIndex(file.row);
    expect(blocks).toHaveLength(2);
    expect(reader.rowGroups.map(({ rows }) => rows)).toEqual(blocks.map((block) => block.lines));
    const last = reader.columns.length - 1;
    expect(blocks.map(({ start, end }) => [FILE_HEAD_BYTES + start, FILE_HEAD_BYTES + end])).toEqual(
      blocks.map((_, group) => [reader.range(group, 0).start, reader.range(group, last).end]),
    );
    expect(FILE_HEAD_BYTES + (blocks.at(-1)?.end ?? 0) + file.row.batchTable.length).toBe(file.size);
    expect(Buffer.compare(file.row.batchTable, bytes.subarray(-file.row.batchTable.length))).toBe(0);
    const times = valuesIn(bytes, "timestamp").map(Number);
    for (const { firstIndex, lines: count, minTimestamp, maxTimestamp } of blocks) {
      const own = times.slice(firstIndex, firstIndex + count);
      expect([minTimestamp, maxTimestamp]).toEqual([Math.min(...own), Math.max(...own)]);
    }
    expect(blocks.map(({ levelMask }) => levelMask)).toEqual([levelBit("info"), file.row.levelMask]);
  });

  test("have a filter with every token of the lines", () => {
    fc.assert(
      fc.property(entries, (list) => {
        for (const { row, ...file } of encodeRows(list.map(lineOf))) {
          for (const own of linesIn(bytesOf(file))) {
            const entry = parseStoredLine(own.toString());
            if (entry === null) throw new Error("A line is an entry.");
            const tokens = new TokenCollector();
            tokens.add(entry);
            for (const [kind, table] of tokens.kinds) {
              if ((row.filterKinds & kind) === 0) continue;
              table.forEach((a, b) => {
                expect(mayContain(row.filter, a, b)).toBe(true);
              });
            }
          }
        }
      }),
      { numRuns: 30 },
    );
    const [file] = encodeRows([line({ userId: 1 }, { traceId: "t" })]);
    expect(file?.row.filterKinds).toBe(Object.values(TOKEN_KIND).reduce((all, kind) => all | kind, 0));
  });

  test("are equal for equal input, and name a file in the bucket by workspace, range, part and hash", () => {
    const lines = Array.from({ length: 2000 }, (_, at) =>
      line({ id: createHash("sha256").update(`${at}`).digest("hex") }, {}, at === 7 ? -HOUR_MS : at),
    );
    const files = encodeRows(lines, { hasBucket: true });
    expect(encodeRows(lines, { hasBucket: true })).toEqual(files);
    const [file, late] = files;
    if (file === undefined || late === undefined) throw new Error("There are two files.");
    expect([isForBucket(file, true), isForBucket(file, false), isForBucket(late, true)]).toEqual([true, false, false]);
    const sha256 = createHash("sha256").update(bytesOf(file)).digest("hex");
    const placed = placeInBucket(file, "ws_a");
    expect(placed).toMatchObject({ file: `v1/ws_a/${PROJECT}/0000000000000001-0-${sha256.slice(0, 16)}` });
    expect([placed.format, placed.body.length]).toEqual([SEGMENT_FORMAT.parquet, 0]);
    const { frames, ...blobs } = { frames: file.row.blocks, ...sizesOf(file) };
    expect(file.row.storedBytes).toBe(
      file.size + frames.length + Object.values(blobs).reduce((sum, size) => sum + size),
    );
    const inRow = placeInRow(late);
    expect([inRow.file, Buffer.compare(inRow.body, bytesOf(late))]).toEqual([null, 0]);
    expect(inRow.part).toBe(1);
  });

  test("stay within a row of D1 without a bucket, and are not split for it with one", () => {
    const noise = (at: number) => createHash("shake256", { outputLength: 1500 }).update(`${at}`).digest("base64");
    const lines = Array.from({ length: 1000 }, (_, at) => line({ noise: noise(at) }, {}, at));
    const [whole, ...others] = encodeRows(lines, { hasBucket: true });
    expect(others).toEqual([]);
    expect(whole?.size).toBeGreaterThan(SEGMENT_LIMITS.blobBytes);
    const files = encodeRows(lines, { hasBucket: false });
    expect(files.map(({ row }) => [row.firstSeq, row.lastSeq])).toEqual([
      [1, 500],
      [501, 1000],
    ]);
    for (const file of files) expect(placeInRow(file).body.length).toBeLessThanOrEqual(SEGMENT_LIMITS.blobBytes);
  });
});

function sizesOf({ row: { levels, summary, batchTable, filter } }: CatalogFile) {
  return { levels: levels.length, summary: summary.length, batchTable: batchTable.length, filter: filter.length };
}
