import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gatherRows } from "../../../src/logs/segments/decode/gather.ts";
import { GroupBytes } from "../../../src/logs/segments/decode/group-bytes.ts";
import { columnsOfLines } from "../../../src/logs/segments/decode/line-columns.ts";
import { LineJoiner } from "../../../src/logs/segments/decode/line-restorer.ts";
import type { SegmentFile } from "../../../src/logs/segments/encode/encode-segment.ts";
import { PAGES, readFooter } from "../../../src/logs/segments/parquet/metadata.ts";
import { findPages } from "../../../src/logs/segments/parquet/page-places.ts";
import { MalformedFile } from "../../../src/logs/segments/parquet/thrift.ts";
import { writeFooter } from "../../../src/logs/segments/parquet/write-footer.ts";
import { merge } from "./merging.ts";
import { bytesOf, encode, line, linesIn, open, valueAt } from "./support.ts";

/** Lines with columns of many pages, of few, with a dictionary, and without a value. */
const lines = Array.from({ length: 14_000 }, (_, at) =>
  line(
    {
      n: at,
      kind: at % 3,
      some: at % 50 === 0 ? `x${at}` : undefined,
      long: at % 3000 === 0 ? "y".repeat(60_000) : "z",
    },
    {
      traceId: randomBytes(16).toString("hex"),
      message: `message ${at} ${at % 9 === 0 ? "again and ".repeat(9) : ""}`,
    },
    at,
  ),
);
const file = encode(lines, { groupRows: 12_000 });
const bytes = bytesOf(file);

/** Returns a file with another property of pages, as a file of another version would have it; `null`: with none. */
function withPages(source: SegmentFile, pages: string | null): SegmentFile {
  const meta = readFooter(source.footer, source.size);
  const properties = new Map(meta.properties);
  properties.delete(PAGES);
  if (pages !== null) properties.set(PAGES, pages);
  // Chunks that are read do not know their pages, so the footer gets none of its own.
  const footer = writeFooter({ ...meta, properties });
  const parts = [...source.parts.slice(0, -1), footer];
  return { ...source, parts, footer, size: source.size - source.footer.length + footer.length };
}

/** Restores some lines of a row group from the pages that have them. @returns the lines, and the bytes that were read */
function restored(from: Uint8Array, group: number, rows: Int32Array): { found: string[]; read: number } {
  const { reader } = open(from);
  const held = new GroupBytes(reader, group);
  const columns = columnsOfLines(reader);
  for (const { start, end } of held.missing(columns, rows)) held.add(start, from.slice(start, end));
  expect(held.missing(columns, rows)).toEqual([]);
  const read = held.held;
  const joiner = new LineJoiner(reader, reader.rowGroups[group]?.rows ?? 0, (column) =>
    reader.decode(group, column, held.pages(column), rows),
  );
  const picker = new LineJoiner(reader, rows.length, (column) => reader.pick(group, column, held.pages(column), rows));
  const found = Array.from(rows, (row) => Buffer.from(joiner.line(row)).toString());
  expect(Array.from(rows, (_, row) => Buffer.from(picker.line(row)).toString())).toEqual(found);
  return { found, read };
}

describe("16: pages", () => {
  test("are where the footer states", () => {
    const { reader, chunk } = open(bytes);
    let several = 0;
    for (const group of reader.rowGroups.keys()) {
      for (const column of reader.columns.keys()) {
        const pages = findPages(chunk(group, column));
        expect(reader.pages(group, column)).toEqual(pages);
        if (pages.rows.length > 1) several++;
      }
    }
    expect(several).toBeGreaterThan(2);
  });

  test("with chosen rows are enough for the lines of these rows", () => {
    const groupBytes =
      open(bytes).reader.rowGroups[0]?.chunks.reduce((sum, { storedBytes }) => sum + storedBytes, 0) ?? 0;
    const choice = fc
      .uniqueArray(fc.nat(11_999), { minLength: 1, maxLength: 20 })
      .map((rows) => rows.sort((a, b) => a - b));
    fc.assert(
      fc.property(choice, (rows) => {
        const { found } = restored(bytes, 0, Int32Array.from(rows));
        expect(found).toEqual(rows.map((row) => lines[row]));
      }),
      { numRuns: 30 },
    );
    // Pages of the trace ids, nine tenths of the bytes, are 128 KiB apart.
    const { read } = restored(bytes, 0, Int32Array.of(100));
    expect(read).toBeLessThan(groupBytes / 2);
  });

  test("give the values of few rows like all of a column, whatever its encoding", () => {
    const value = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 20 }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constantFrom("a", "b"),
    );
    const data = fc.dictionary(fc.constantFrom("a", "b", "c"), value, { maxKeys: 3 });
    const entries = fc.array(fc.tuple(data, fc.nat({ max: 3 })), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(entries, fc.infiniteStream(fc.boolean()), (made, choose) => {
        const own = made.map(([members, id], at) => line(members, id === 0 ? {} : { session: `ses_${id}${at}` }, at));
        const { reader, chunk } = open(bytesOf(encode(own)));
        const rows = Int32Array.from(own.keys()).filter(() => choose.next().value);
        for (const column of reader.columns.keys()) {
          const all = gatherRows(reader.decode(0, column, chunk(0, column)), rows);
          const picked = reader.pick(0, column, chunk(0, column), rows);
          const both = [all, picked].map((values) => Array.from(rows, (_, row) => valueAt(values, row)));
          expect(both[1]).toEqual(both[0]);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("of a file of an earlier version are not known, and whole columns are read", () => {
    const old = bytesOf(withPages(file, null));
    const { reader } = open(old);
    expect(reader.pages(0, 0)).toBeNull();
    expect(restored(old, 1, Int32Array.of(3, 1999)).found).toEqual([lines[12_003], lines[13_999]]);
  });

  test("are known after a merge, also of a file of an earlier version", () => {
    for (const source of [file, withPages(file, null)]) {
      const { merged, copied } = merge([source]);
      expect(copied).toBe(2);
      const { reader, chunk } = open(merged.bytes);
      for (const group of reader.rowGroups.keys()) {
        for (const column of reader.columns.keys()) {
          expect(reader.pages(group, column)).toEqual(findPages(chunk(group, column)));
        }
      }
      expect(linesIn(merged.bytes).map(String)).toEqual(lines);
    }
  });

  test("at places that are not those of the columns are refused", () => {
    const packed = readFooter(file.footer, file.size).properties.get(PAGES) ?? "";
    expect(packed).not.toBe("");
    const withCrc = (numbers: Uint8Array) => {
      const crc = Buffer.alloc(4);
      crc.writeUInt32LE(crc32(numbers));
      return Buffer.concat([crc, numbers]).toString("base64");
    };
    const numbers = Buffer.from(packed, "base64").subarray(4);
    expect(withCrc(numbers)).toBe(packed);
    const others = [[], [0], numbers.subarray(0, -3), [...numbers, 0], [200, 200, 200, 200, ...numbers]];
    for (const wrong of others)
      expect(() => open(bytesOf(withPages(file, withCrc(Uint8Array.from(wrong)))))).toThrow(MalformedFile);
    fc.assert(
      fc.property(fc.nat(packed.length - 5), fc.integer({ min: 1, max: 127 }), (at, flip) => {
        const damaged = Buffer.from(packed, "base64");
        const index = at % damaged.length;
        damaged[index] = (damaged[index] ?? 0) ^ flip;
        expect(() => open(bytesOf(withPages(file, damaged.toString("base64"))))).toThrow(MalformedFile);
      }),
      { numRuns: 100 },
    );
  });
});

test("16: values that were picked do not refer to memory of pages, which is freed", () => {
  const { reader, chunk } = open(bytes);
  const rows = Int32Array.of(17, 4000, 9001);
  for (const column of reader.columns.keys()) {
    const stored = new Uint8Array(chunk(0, column));
    const picked = reader.pick(0, column, stored, rows);
    const before = Array.from(rows, (_, row) => valueAt(picked, row));
    stored.fill(0);
    expect(Array.from(rows, (_, row) => valueAt(picked, row))).toEqual(before);
  }
});
