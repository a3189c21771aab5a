import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GroupBytes } from "../../../src/logs/segments/decode/group-bytes.ts";
import { columnsOfLines } from "../../../src/logs/segments/decode/line-columns.ts";
import { LineJoiner } from "../../../src/logs/segments/decode/line-restorer.ts";
import type { SegmentFile } from "../../../src/logs/segments/encode/encode-segment.ts";
import { PAGES, readFooter } from "../../../src/logs/segments/parquet/metadata.ts";
import { findPages } from "../../../src/logs/segments/parquet/page-places.ts";
import { MalformedFile } from "../../../src/logs/segments/parquet/thrift.ts";
import { writeFooter } from "../../../src/logs/segments/parquet/write-footer.ts";
import { merge } from "./merging.ts";
import { bytesOf, encode, line, linesIn, open } from "./support.ts";

/** Lines with columns of many pages, of few, with a dictionary, and without a value. */
const lines = Array.from({ length: 6000 }, (_, at) =>
  line(
    {
      n: at,
      kind: at % 3,
      some: at % 50 === 0 ? `x${at}` : undefined,
      long: at % 700 === 0 ? "y".repeat(60_000) : "z",
    },
    {
      traceId: randomBytes(16).toString("hex"),
      message: `message ${at} ${at % 9 === 0 ? "again and ".repeat(9) : ""}`,
    },
    at,
  ),
);
const file = encode(lines, { groupRows: 4000 });
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
  return { found: Array.from(rows, (row) => Buffer.from(joiner.line(row)).toString()), read };
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
    expect(several).toBeGreaterThan(3);
  });

  test("with chosen rows are enough for the lines of these rows", () => {
    const groupBytes =
      open(bytes).reader.rowGroups[0]?.chunks.reduce((sum, { storedBytes }) => sum + storedBytes, 0) ?? 0;
    const choice = fc
      .uniqueArray(fc.nat(3999), { minLength: 1, maxLength: 20 })
      .map((rows) => rows.sort((a, b) => a - b));
    fc.assert(
      fc.property(choice, (rows) => {
        const { found } = restored(bytes, 0, Int32Array.from(rows));
        expect(found).toEqual(rows.map((row) => lines[row]));
      }),
      { numRuns: 50 },
    );
    const { read } = restored(bytes, 0, Int32Array.of(2025));
    expect(read).toBeLessThan(groupBytes / 2);
  });

  test("of a file of an earlier version are not known, and whole columns are read", () => {
    const old = bytesOf(withPages(file, null));
    const { reader } = open(old);
    expect(reader.pages(0, 0)).toBeNull();
    expect(restored(old, 1, Int32Array.of(3, 1999)).found).toEqual([lines[4003], lines[5999]]);
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
    for (const wrong of ["", "AA==", packed.slice(0, -8), `${packed.slice(0, 8)}////////${packed.slice(16)}`]) {
      expect(() => open(bytesOf(withPages(file, wrong)))).toThrow(MalformedFile);
    }
    // Pages of other rows: the header of a page contradicts the footer.
    const numbers = Buffer.from(packed, "base64");
    fc.assert(
      fc.property(fc.nat(numbers.length - 1), fc.integer({ min: 1, max: 127 }), (at, flip) => {
        const changed = Uint8Array.from(numbers, (byte, index) => (index === at ? byte ^ flip : byte));
        const source = bytesOf(withPages(file, Buffer.from(changed).toString("base64")));
        try {
          expect(restored(source, 0, Int32Array.of(2025)).found).toEqual([lines[2025]]);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedFile);
        }
      }),
      { numRuns: 100 },
    );
  });
});
