import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { releaseColumn } from "../../../src/logs/segments/decode/column-values.ts";
import { columnsOfLines } from "../../../src/logs/segments/decode/line-columns.ts";
import { LineRestorer } from "../../../src/logs/segments/decode/line-restorer.ts";
import { bytesOf, encode, line, open, valuesIn } from "./support.ts";

const ROWS = 40_000;
const lines = Array.from({ length: ROWS }, (_, at) =>
  line(
    {
      n: at % 400,
      id: at * 3,
      ratio: at / 8,
      text: `text ${at}`,
      ...(at % 3 === 0 && { tags: [at], some: `s${at % 5}` }),
    },
    { traceId: `${at}`.padStart(32, "0") },
    at,
  ),
);
const bytes = bytesOf(encode(lines, { perBatch: 1000 }));
const { reader, chunk } = open(bytes);

describe("a reader of a segment file", () => {
  test("restores chosen rows, from the columns of lines only", () => {
    const groups = reader.rowGroups.map(({ rows }) => rows);
    expect(groups.length).toBeGreaterThan(1);
    const needed = new Set(columnsOfLines(reader));
    const choice = fc.uniqueArray(fc.nat(24_999), { maxLength: 20 });
    fc.assert(
      fc.property(fc.nat(groups.length - 1), choice, (group, rows) => {
        const chosen = Int32Array.from(rows.filter((row) => row < (groups[group] ?? 0))).sort();
        const source = (own: number, column: number) => {
          expect(own).toBe(group);
          expect(needed.has(column)).toBe(true);
          return chunk(own, column);
        };
        const restorer = new LineRestorer(reader, group, source, chosen);
        const first = groups.slice(0, group).reduce((sum, count) => sum + count, 0);
        for (const row of chosen) expect(Buffer.from(restorer.line(row)).toString()).toBe(lines[first + row]);
      }),
      { numRuns: 15 },
    );
  });

  test("returns the nulls and the range of numbers of each row group without reading columns", () => {
    for (const name of ["seq", "timestamp", "data.n", "data.id", "data.ratio", "data.some"]) {
      const column = reader.indexOf(name);
      const values = valuesIn(bytes, name);
      let first = 0;
      for (const [group, { rows }] of reader.rowGroups.entries()) {
        const own = values.slice(first, first + rows);
        first += rows;
        expect(reader.nulls(group, column)).toBe(own.filter((value) => value === null).length);
        const numbers = own.filter((value) => typeof value === "number");
        const range = numbers.length === 0 ? null : { min: Math.min(...numbers), max: Math.max(...numbers) };
        expect(reader.numberRange(group, column)).toEqual(range);
      }
    }
  });

  test("counts the rows whose value may be outside of the columns of its path", () => {
    const own = Array.from({ length: 120 }, (_, at) =>
      line({ n: at, user: { id: at }, some: at % 2 === 0 ? null : 1 }, {}, at),
    );
    // After the first row group, from which the columns are chosen.
    own[43] = line({ n: "rare", user: { id: 3 } }, {}, 43);
    own[50] = line({ n: 50, user: [{ id: 1 }] }, {}, 50);
    own[60] = line('{"n":1.0}', {}, 60);
    own[70] = line(undefined, {}, 70);
    const opened = open(bytesOf(encode(own, { groupRows: 40 }))).reader;
    const counts = ["data.n", "data.user.id", "data.some"].map((name) =>
      opened.rowGroups.map((_, group) => opened.elsewhere(group, opened.indexOf(name))),
    );
    expect(counts).toEqual([
      [0, 2, 0],
      [0, 2, 0],
      [0, 1, 0],
    ]);
  });

  test("keeps numbers and strings that repeat as a dictionary with indices", () => {
    const texts = reader.texts(0, reader.indexOf("data.some"), chunk(0, reader.indexOf("data.some")));
    if (texts.kind !== "indexedTexts") throw new Error("The column has a dictionary.");
    expect(Array.from({ length: texts.dictionary.length }, (_, at) => texts.dictionary.at(at))).toEqual([
      "s0",
      "s3",
      "s1",
      "s4",
      "s2",
    ]);
    expect([...texts.indices.subarray(0, 4)]).toEqual([0, -1, -1, 1]);
    expect(reader.columnsOf(["some"])).toEqual([
      { index: reader.indexOf("data.some"), column: { name: "data.some", path: ["some"], type: "text" } },
    ]);
    expect(() => reader.numbers(0, reader.indexOf("data.some"), chunk(0, reader.indexOf("data.some")))).toThrow(
      RangeError,
    );
  });

  test("frees the memory of a column at once", () => {
    for (const name of ["data.id", "data.ratio", "data.text", "trace_id", "seq"]) {
      const column = reader.decode(0, reader.indexOf(name), chunk(0, reader.indexOf(name)));
      releaseColumn(column);
      if (column.kind === "numbers") expect(column.values.length).toBe(0);
      if (column.kind === "texts") expect(column.texts.starts.length).toBe(0);
    }
    // The file's own bytes stay.
    expect(valuesIn(bytes, "data.id").length).toBe(ROWS);
  });
});
