import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { encodeSegment } from "../../../src/logs/segments/encode/encode-segment.ts";
import { readFooter } from "../../../src/logs/segments/parquet/metadata.ts";
import { writeFooter } from "../../../src/logs/segments/parquet/write-footer.ts";
import { done, filesOf, merge } from "./merging.ts";
import { batchesOf, bytesOf, line, linesIn, open, PROJECT, valuesIn } from "./support.ts";

const mixed = Array.from({ length: 400 }, (_, at) =>
  at % 50 === 7
    ? line(`{"a":${at}.0}`, {}, at)
    : line(
        at < 150
          ? { a: at, old: "x", tags: [at], status: at % 3 === 0 ? "ok" : at }
          : { a: at + 0.5, fresh: at % 2 === 0, deep: { n: at } },
        { session: `s${at % 9}`, level: at % 7 === 0 ? "error" : "info", category: at % 5 === 0 ? "own" : "http" },
        at,
      ),
);

describe("merging segment files", () => {
  test("copies large row groups and encodes the lines of small ones together", () => {
    const files = filesOf(mixed, [100, 105, 115, 116, 300, 301]);
    const { merged, copied } = merge(files);
    expect(copied).toBe(3);
    const { reader } = open(bytesOf(merged));
    expect(reader.rowGroups.map(({ rows }) => rows)).toEqual([100, 16, 184, 1, 99]);
    expect(linesIn(bytesOf(merged)).map(String)).toEqual(mixed);
    const [whole] = filesOf(mixed, []);
    for (const name of ["seq", "commit", "received_at", "timestamp", "session", "level"]) {
      expect(valuesIn(bytesOf(merged), name)).toEqual(valuesIn(bytesOf(whole ?? merged), name));
    }
    // A copied column of integers has become one of numbers.
    expect(valuesIn(bytesOf(merged), "data.a").slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
    const { count, firstSeq, lastSeq, rawBytes, minCommit, maxCommit, minTimestamp, maxTimestamp } = whole ?? merged;
    expect(merged).toMatchObject({
      ...{ count, firstSeq, lastSeq, rawBytes, minCommit, maxCommit, minTimestamp, maxTimestamp },
      levelMask: whole?.levelMask,
      categoryMask: whole?.categoryMask,
    });
    expect([merged.levels, merged.summary]).toEqual([whole?.levels, whole?.summary]);
    expect(merged.blocks.map(({ lines, firstIndex }) => [firstIndex, lines])).toEqual([
      [0, 100],
      [100, 16],
      [116, 184],
      [300, 1],
      [301, 99],
    ]);
    expect(merged.blocks.at(-1)?.end).toBe(merged.size - merged.footer.length - 4);
  });

  test("equal input gives equal bytes, and the metadata names what the file replaces", () => {
    const files = filesOf(mixed, [100, 105, 300]);
    const { merged } = merge(files, {}, ["one", "two"]);
    expect(bytesOf(merge(files, {}, ["one", "two"]).merged)).toEqual(bytesOf(merged));
    const { properties } = open(bytesOf(merged)).reader;
    expect(properties.replaces).toEqual(["one", "two"]);
    expect(properties.sections.map(({ rows }) => rows)).toEqual([100, 5, 195, 100]);
    // The hash of a copied row group is the one of its file.
    expect(properties.sections[0]?.sha256).toBe(files[0]?.linesSha256);
  });

  test.each([Number.POSITIVE_INFINITY, 0])(
    "a merged file is merged again, its row groups copied (%d)",
    (byColumnBytes) => {
      const files = filesOf(mixed, [60, 120, 180, 300]);
      const first = merge(files.slice(0, 3), { byColumnBytes }).merged;
      const second = merge(files.slice(3), { byColumnBytes }).merged;
      const { merged, copied } = merge([first, second], { byColumnBytes });
      expect(copied).toBe(5);
      expect(linesIn(bytesOf(merged)).map(String)).toEqual(mixed);
      expect(merged.linesSha256).toBe(merge(files).merged.linesSha256);
    },
  );

  test("16: column by column, a column of all row groups is one range, and blocks have the bytes of row groups", () => {
    const files = filesOf(mixed, [60, 120, 180, 300]);
    const { merged } = merge(files, { byColumnBytes: 0 });
    const { reader } = open(merged.bytes);
    expect(reader.rowGroups).toHaveLength(5);
    let at = 4;
    for (const column of reader.columns.keys()) {
      for (const group of reader.rowGroups.keys()) {
        const { start, end } = reader.range(group, column);
        expect(start).toBe(at);
        at = end;
      }
    }
    expect(at).toBe(merged.size - merged.footer.length);
    expect(merged.blocks.map(({ start, end }) => end - start)).toEqual(
      Array.from(reader.rowGroups.keys(), (group) => reader.storedBytes(group)),
    );
    expect(merged.blocks.at(-1)?.end).toBe(merged.size - merged.footer.length - 4);
    expect(linesIn(merged.bytes).map(String)).toEqual(mixed);
    // Other bytes of the same columns.
    const byGroup = merge(files).merged;
    expect(merged.size - merged.footer.length).toBe(byGroup.size - byGroup.footer.length);
    expect(merged.sha256).not.toBe(byGroup.sha256);
  });

  test("16.3: a row group without the spans of its numbers is restored, so that the merged file has them", () => {
    const files = filesOf(mixed, [100, 300]);
    const [first] = files;
    if (first === undefined) throw new Error("There is a file.");
    const meta = readFooter(first.footer, first.size);
    for (const column of [0, 1, 2, 3]) {
      const rowGroups = meta.rowGroups.map(({ rows, chunks }) => ({
        rows,
        chunks: chunks.map((chunk, index) => (index === column ? { ...chunk, min: null, max: null } : chunk)),
      }));
      const footer = writeFooter({ ...meta, rowGroups });
      const parts = [bytesOf(first).subarray(0, first.size - first.footer.length), footer];
      const size = first.size - first.footer.length + footer.length;
      const { merged } = merge([{ ...first, parts, footer, size }, ...files.slice(1)]);
      const { minTimestamp, maxTimestamp, minCommit, maxCommit, firstSeq, lastSeq, minReceivedAt } =
        merge(files).merged;
      expect(merged).toMatchObject({
        minTimestamp,
        maxTimestamp,
        minCommit,
        maxCommit,
        firstSeq,
        lastSeq,
        minReceivedAt,
      });
      expect(linesIn(bytesOf(merged)).map(String)).toEqual(mixed);
    }
  });

  test("lines that a predicate rejects are left out, and so are their counts", () => {
    const files = filesOf(mixed, [100, 105, 300]);
    const { merged } = merge(files, { keeps: ({ seq }) => seq % 3 === 0 });
    const kept = mixed.filter((_, at) => (at + 1) % 3 === 0);
    expect(linesIn(bytesOf(merged)).map(String)).toEqual(kept);
    expect(merged.count).toBe(kept.length);
    const other = done(
      encodeSegment(PROJECT, [
        [...linesOf(batchesOf(mixed, 13), { firstSeq: 1, lastSeq: 400 })].flat().filter(({ seq }) => seq % 3 === 0),
      ]),
    );
    expect([merged.levels, merged.summary, merged.linesSha256]).toEqual([
      other.levels,
      other.summary,
      other.linesSha256,
    ]);
  });

  test("a column of rows without the path counts the rows that may have it in rest", () => {
    // In the first file `b` is too rare for a column.
    const rare = Array.from({ length: 200 }, (_, at) => line(at === 7 ? { a: 1, b: 2 } : { a: 1 }, {}, at));
    const frequent = Array.from({ length: 50 }, (_, at) => line({ b: at }, {}, 200 + at));
    const files = filesOf([...rare, ...frequent], [200]);
    const { reader } = open(bytesOf(merge(files).merged));
    const [column] = reader.columnsOf(["b"]);
    expect(reader.nulls(0, column?.index ?? -1)).toBe(200);
    expect([reader.elsewhere(0, column?.index ?? -1), reader.elsewhere(1, column?.index ?? -1)]).toEqual([1, 0]);
  });

  test("gives every line back letter for letter, whatever the entries are", () => {
    const value = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: "grapheme", maxLength: 8 }),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.integer(), { maxLength: 3 }),
      fc.record({ x: fc.integer() }, { requiredKeys: [] }),
    );
    const data = fc.dictionary(fc.constantFrom("a", "b", "c", "d.e", "deep"), value, { maxKeys: 4 });
    const entries = fc.array(fc.option(data, { nil: undefined }), { minLength: 3, maxLength: 120 });
    const cuts = fc.array(fc.integer({ min: 1, max: 119 }), { maxLength: 5 });
    fc.assert(
      fc.property(entries, cuts, fc.integer({ min: 3, max: 60 }), (made, ends, groupRows) => {
        const lines = made.map((own, at) => line(own, {}, at));
        const sorted = [...new Set(ends)].filter((end) => end < lines.length).sort((a, b) => a - b);
        const { merged } = merge(filesOf(lines, sorted, groupRows), { copyRows: 10 });
        expect(linesIn(bytesOf(merged)).map(String)).toEqual(lines);
      }),
      { numRuns: 60 },
    );
  });
});
