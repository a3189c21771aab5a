import { describe, expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { LEVELS } from "../../../src/logs/entry.ts";
import { columnName } from "../../../src/logs/segments/columns.ts";
import { encodeSegment } from "../../../src/logs/segments/encode/encode-segment.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { batchesOf, bytesOf, encode, line, linesIn, open, PROJECT, valuesIn } from "./support.ts";

/** Encodes lines, checks that they come back, and returns columns by name. */
function columnsOf(lines: readonly string[]): Record<string, unknown[]> {
  const bytes = bytesOf(encode(lines));
  expect(linesIn(bytes).map(String)).toEqual(lines);
  const { columns } = open(bytes).reader;
  return Object.fromEntries(columns.map(({ name }) => [name, valuesIn(bytes, name)]));
}

describe("columns of data", () => {
  test("a path with numbers and strings has a column for each type", () => {
    const columns = columnsOf([
      line({ a: 1 }),
      line({ a: "x" }, {}, 1),
      line({ a: 2 }, {}, 2),
      line({ a: true }, {}, 3),
    ]);
    expect(columns["data.a"]).toEqual([1, null, 2, null]);
    expect(columns["data.a:text"]).toEqual([null, "x", null, null]);
    expect(columns["data.a:boolean"]).toEqual([null, null, null, true]);
    expect(new Set(columns.shape)).toEqual(new Set(['{"a":#}']));
  });

  test("integers and fractions of a path share a column of numbers", () => {
    const columns = columnsOf([line({ a: 1 }), line({ a: 1.5 }, {}, 1), line({ a: 1e300 }, {}, 2)]);
    expect(columns["data.a"]).toEqual([1, 1.5, 1e300]);
  });

  test("null, a missing member and an empty data are kept apart", () => {
    const columns = columnsOf([
      line({ a: 1, b: 1 }),
      line({ a: null, b: 2 }, {}, 1),
      line({ b: 3 }, {}, 2),
      line({}, {}, 3),
      line(undefined, {}, 4),
    ]);
    expect(columns["data.a"]).toEqual([1, null, null, null, null]);
    expect(columns.shape).toEqual(['{"a":#,"b":#}', '{"a":#,"b":#}', '{"b":#}', "{}", null]);
    expect(columns.rest).toEqual([null, null, null, null, null]);
  });

  test("values of a rare type, and arrays, are in rest under their names", () => {
    const many = Array.from({ length: 100 }, (_, at) => line({ a: at, user: { id: at, tags: ["x", at] } }, {}, at));
    many[50] = line({ a: "rare", user: { id: "rare", tags: [] }, more: { b: { c: [1] } } }, {}, 50);
    const columns = columnsOf(many);
    expect(columns["data.a"]?.[50]).toBeNull();
    expect(columns["data.user.id"]?.[49]).toBe(49);
    expect(columns.rest?.[49]).toBe('{"user":{"tags":["x",49]}}');
    expect(columns.rest?.[50]).toBe('{"a":"rare","user":{"id":"rare","tags":[]},"more":{"b":{"c":[1]}}}');
    expect(columns.shape?.[50]).toBe('{"a":*,"user":{"id":*,"tags":*},"more":{"b":{"c":*}}}');
  });

  test("names with dots, quotes, brackets and colons have columns that no other path has", () => {
    const data = { "http.status": 1, http: { status: 2 }, 'a"b': 3, "[x]": 4, "a:text": 5, a: 6, "": 7, "b c": 8 };
    const columns = columnsOf([line(data)]);
    const named = Object.keys(columns).filter((name) => name.startsWith("data"));
    expect(named.sort()).toEqual(
      [
        'data["a:text"]',
        'data["[x]"]',
        'data["a\\"b"]',
        'data[""]',
        'data["b c"]',
        'data["http.status"]',
        "data.a",
        "data.http.status",
      ].sort(),
    );
    expect(columnName(["a"], "text")).toBe("data.a:text");
  });

  test("a line that columns would not return as it is, is whole in rest, with its members in their columns", () => {
    const odd = line('{"a":1.0}', { message: "odd", session: "s" }, 1);
    const columns = columnsOf([line({ a: 1 }), odd]);
    expect(columns.shape).toEqual(['{"a":#}', "line"]);
    expect(columns.rest).toEqual([null, odd]);
    expect(columns["data.a"]).toEqual([1, null]);
    expect(columns.message).toEqual(["message 0", "odd"]);
    expect(columns.session).toEqual([null, "s"]);
  });

  test("a line that is not UTF-8 comes back byte for byte", () => {
    const odd = Buffer.from(line({ a: "~" }, {}, 1));
    odd[odd.indexOf("~")] = 0xff;
    const bytes = bytesOf(encode([line({ a: 1 }), odd, line({ a: 2 }, {}, 2)], { perBatch: 1 }));
    expect(valuesIn(bytes, "shape")).toEqual(['{"a":#}', "base64", '{"a":#}']);
    expect(Buffer.compare(linesIn(bytes)[1] ?? odd, odd)).toBe(0);
  });

  test("entries with 20,000 values, 32 levels and members named by ids come back", () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, at]));
    let deep: object = { end: [] };
    for (let level = 0; level < 31; level++) deep = { [`l${level}`]: deep };
    const lines = [
      line(wide),
      line(deep, {}, 1),
      ...Array.from({ length: 3000 }, (_, at) => line({ n: 1, byId: { [`u${at}`]: at } }, {}, at)),
    ];
    const columns = columnsOf(lines);
    expect(columns["data.n"]?.filter((value) => value === 1).length).toBeGreaterThan(900);
    // The shapes of such members do not grow with the entries.
    expect(new Set(columns.shape).size).toBeLessThan(1100);
  });

  test("long strings come back, alone and among others", () => {
    const lines = ["x".repeat(1_000_000), "short", Buffer.alloc(300_000, "aé\\n").toString(), ""].map((text, at) =>
      line({ text }, { message: text || "m" }, at),
    );
    columnsOf(lines);
    for (const own of lines) columnsOf([own]);
  });
});

describe("the encoder", () => {
  test("refuses no lines, an order that is not by seq, and lines without a time", () => {
    const encodeAll = (batches: ReturnType<typeof batchesOf>, lastSeq: number) => [
      ...encodeSegment(PROJECT, linesOf(batches, { firstSeq: 1, lastSeq })),
    ];
    expect(() => [...encodeSegment(PROJECT, [])]).toThrow(RangeError);
    expect(() => encode(["{}"])).toThrow("no time");
    expect(() => encode([line({}).replace('"level":"info"', '"level":"loud"')])).toThrow("not an entry");
    const lines = [...linesOf(batchesOf([line({}), line({}, {}, 1)]), { firstSeq: 1, lastSeq: 2 })];
    expect(() => [
      ...encodeSegment(
        PROJECT,
        lines.map((list) => list.toReversed()),
      ),
    ]).toThrow("order");
    expect(() => encodeAll(batchesOf([line({})]), 2)).toThrow(RangeError);
  });

  test("counts entries by level and category, and their ranges", () => {
    const lines = [
      line({}, { level: "error" }),
      line({}, { category: "custom", type: "x" }, 1),
      line('{"a":1.0}', { level: "fatal", category: "db" }, 2),
    ];
    const file = encode(lines, { perBatch: 1 });
    expect(file.levelMask).toBe((1 << 5) | (1 << 3) | (1 << 6));
    expect(file.minTimestamp).toBe(Date.parse(JSON.parse(lines[0] ?? "").timestamp));
    expect(file.maxTimestamp).toBe(Date.parse(JSON.parse(lines[2] ?? "").timestamp));
    expect([file.minCommit, file.maxCommit]).toEqual([10, 16]);
    expect(file.size).toBe(bytesOf(file).length);
  });

  test("counts as the encoder of segments in D1 does", () => {
    const lines = Array.from({ length: 500 }, (_, at) =>
      at % 40 === 9
        ? line('{"a":1.0}', { category: "c\u00fc", type: 'x"y' }, at * 100)
        : line(
            { a: at },
            { level: LEVELS[at % 7] ?? "info", category: at % 3 ? "http" : "own", type: `t${at % 4}` },
            at * 100,
          ),
    );
    const [stored] = encodeSegments(PROJECT, batchesOf(lines), { firstSeq: 1, lastSeq: 500 });
    if (stored === undefined) throw new Error("There is a segment.");
    const { count, minTimestamp, maxTimestamp, minCommit, maxCommit, levelMask, categoryMask, levels, summary } =
      stored;
    expect(encode(lines)).toMatchObject({
      count,
      minTimestamp,
      maxTimestamp,
      minCommit,
      maxCommit,
      levelMask,
      categoryMask,
    });
    expect(encode(lines).levels).toEqual(levels);
    expect(encode(lines).summary).toEqual(summary);
  });

  test("works in steps: never more than 2,048 lines, or two columns of 10,000 values, between two pauses", () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => line({ a: at, b: `text ${at}` }, {}, at));
    const [batchLines, columns] = [100, 16];
    let read = 0;
    const counted = function* () {
      for (const list of linesOf(batchesOf(lines, batchLines), { firstSeq: 1, lastSeq: lines.length })) {
        read += list.length;
        yield list;
      }
    };
    let pauses = 0;
    let most = 0;
    for (let before = 0, steps = encodeSegment(PROJECT, counted()); steps.next().done !== true; before = read) {
      pauses++;
      most = Math.max(most, read - before);
    }
    expect(most).toBeLessThanOrEqual(2048 + batchLines);
    expect(pauses).toBeGreaterThanOrEqual(4 + columns / 2);
  });
});
