import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { encodeSegment } from "../../../src/logs/segments/encode/encode-segment.ts";
import { readFooter } from "../../../src/logs/segments/parquet/metadata.ts";
import { writeFooter } from "../../../src/logs/segments/parquet/write-footer.ts";
import { done, filesOf, merge, mergeLarge } from "./merging.ts";
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
      fc.property(entries, cuts, fc.integer({ min: 3, max: 60 }), fc.nat(120), (made, ends, groupRows, joinRows) => {
        const lines = made.map((own, at) => line(own, {}, at));
        const sorted = [...new Set(ends)].filter((end) => end < lines.length).sort((a, b) => a - b);
        const files = filesOf(lines, sorted, groupRows);
        const { merged } = merge(files, { copyRows: 10, joinRows });
        expect(linesIn(bytesOf(merged)).map(String)).toEqual(lines);
        expect(bytesOf(merge(files, { copyRows: 10, joinRows }).merged)).toEqual(bytesOf(merged));
        // Joined row groups are copied as others.
        const again = merge([merged], { copyRows: 10, joinRows: joinRows * 2 }).merged;
        expect(linesIn(bytesOf(again)).map(String)).toEqual(lines);
        expect(again.linesSha256).toBe(merged.linesSha256);
      }),
      { numRuns: 60 },
    );
  });

  const requests = Array.from({ length: 12_000 }, (_, at) => {
    const traceId = createHash("md5").update(`${at}`).digest("hex");
    const random = Number.parseInt(traceId.slice(0, 8), 16);
    const data = {
      route: `/r/${random % 7}`,
      durationMs: random % 700,
      ratio: at / 3,
      user: { id: `usr_${random % 1999}` },
      isTeam: at % 5 === 0,
      ...(at > 5000 && { late: at % 4 }),
      ...(at === 7000 && { durationMs: null }),
    };
    const message = `GET ${data.route} took ${random % 700} ms`;
    const session = at % 3 > 0 ? { session: `ses_${(at * 48_271) % 9000}` } : {};
    return line(data, { message, traceId, ...session }, at);
  });

  test("16: joined row groups have one dictionary of sorted strings, take fewer bytes and give the same lines", async () => {
    const files = filesOf(requests, [3000, 6000, 9000]);
    const apart = merge(files, { byColumnBytes: 0 }).merged;
    const joined = await mergeLarge(files, { byColumnBytes: 0, joinRows: 6000, rows: 12_000 });
    const { reader, chunk } = open(joined.bytes);
    expect(reader.rowGroups.map(({ rows }) => rows)).toEqual([6000, 6000]);
    expect(joined.blocks.map(({ lines, firstIndex }) => [firstIndex, lines])).toEqual([
      [0, 6000],
      [6000, 6000],
    ]);
    for (const name of ["message", "data.user.id", "data.route", "level"]) {
      const column = reader.texts(0, reader.indexOf(name), chunk(0, reader.indexOf(name)));
      if (column.kind !== "indexedTexts") throw new Error(`${name} has no dictionary.`);
      const texts = Array.from({ length: column.dictionary.length }, (_, at) => column.dictionary.at(at));
      expect(texts).toEqual(texts.toSorted());
      expect(new Set(texts).size).toBe(texts.length);
    }
    expect(reader.texts(0, reader.indexOf("trace_id"), chunk(0, reader.indexOf("trace_id"))).kind).toBe("texts");
    const bytesIn = (name: string, own: typeof reader) =>
      Array.from(own.rowGroups.keys(), (group) => own.range(group, own.indexOf(name))).reduce(
        (sum, { start, end }) => sum + end - start,
        0,
      );
    for (const name of ["message", "data.user.id", "data.durationMs", "data.route"]) {
      expect(bytesIn(name, reader)).toBeLessThan(bytesIn(name, open(apart.bytes).reader));
    }
    expect(linesIn(joined.bytes).map(String)).toEqual(requests);
    for (const { name } of reader.columns) expect(valuesIn(joined.bytes, name)).toEqual(valuesIn(apart.bytes, name));
    // Hashes of the lines, counts and spans do not depend on the row groups.
    const { levels, summary, linesSha256, minTimestamp, maxTimestamp, minCommit, maxCommit, rawBytes, count } = apart;
    expect(joined).toMatchObject({ levels, summary, linesSha256, minTimestamp, maxTimestamp, minCommit, maxCommit });
    expect(joined).toMatchObject({ rawBytes, count });
    expect((await mergeLarge(files, { byColumnBytes: 0, joinRows: 6000, rows: 12_000 })).sha256).toBe(joined.sha256);
  });

  test("16: row groups that would not be smaller are not joined, and none has more rows than a reader accepts", async () => {
    const ids = Array.from({ length: 400 }, (_, at) =>
      line({ id: createHash("md5").update(`${at}`).digest("hex") }, { message: `${at}` }, at),
    );
    // A dictionary of each row group is smaller than what all of them would need.
    const long = Array.from({ length: 400 }, (_, at) =>
      line(
        {
          text: `${createHash("md5")
            .update(`${at >> 4}`)
            .digest("hex")
            .repeat(400)}`,
        },
        {},
        at,
      ),
    );
    for (const lines of [ids, long]) {
      const files = filesOf(lines, [100, 200, 300]);
      const { reader } = open((await mergeLarge(files, { joinRows: 400 })).bytes);
      expect(linesIn((await mergeLarge(files, { joinRows: 400 })).bytes).map(String)).toEqual(lines);
      expect(reader.rowGroups.reduce((sum, { rows }) => sum + rows, 0)).toBe(400);
    }
  });

  test("16: pages of texts that do not repeat are compressed again, unless they are damaged", async () => {
    const lines = Array.from({ length: 4000 }, (_, at) =>
      line(
        { n: at % 3 },
        {
          message: `GET /api/v1/orders/${(at * 7919) % 100_003} completed with status ${200 + (at % 3)} in ${(at * 104_729) % 997} ms`,
        },
        at,
      ),
    );
    const files = filesOf(lines, [2000]);
    const apart = merge(files, { byColumnBytes: 0 }).merged;
    const joined = await mergeLarge(files, { byColumnBytes: 0, joinRows: 4000 });
    const { reader, chunk } = open(joined.bytes);
    const message = reader.indexOf("message");
    expect(reader.rowGroups).toHaveLength(1);
    expect(reader.texts(0, message, chunk(0, message)).kind).toBe("texts");
    const before = open(apart.bytes).reader;
    const bytesBefore = [0, 1].reduce(
      (sum, group) => sum + (before.rowGroups[group]?.chunks[message]?.storedBytes ?? 0),
      0,
    );
    expect(reader.rowGroups[0]?.chunks[message]?.storedBytes).toBeLessThan(0.95 * bytesBefore);
    expect(linesIn(joined.bytes).map(String)).toEqual(lines);
    const [first, second] = files;
    if (first === undefined || second === undefined) throw new Error("There are two files.");
    const bytes = bytesOf(second);
    const { start, end } = open(bytes).reader.range(0, message);
    const at = Math.floor((start + end) / 2);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const damaged = { ...second, parts: [bytes] };
    await expect(mergeLarge([first, damaged], { joinRows: 4000 })).rejects.toThrow("A page is damaged.");
  });
});
