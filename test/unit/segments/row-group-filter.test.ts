import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import type { LogFilter } from "../../../src/logs/query/filter.ts";
import { foldCase } from "../../../src/logs/query/fold-case.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { TextSearch } from "../../../src/logs/query/text-search.ts";
import { Texts } from "../../../src/logs/segments/decode/column-values.ts";
import { MalformedFile } from "../../../src/logs/segments/parquet/thrift.ts";
import {
  ContainingStrings,
  EqualStrings,
  PageScan,
  type StringTest,
} from "../../../src/logs/segments/scan/page-scan.ts";
import { type CommitRange, RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import { TextFinder } from "../../../src/logs/segments/scan/text-finder.ts";
import { dataTest, fewFilters, nastyText, type TestFilters } from "../query/arbitraries.ts";
import { anyLines } from "./any-lines.ts";
import { batchesOf, bytesOf, encode, line, open } from "./support.ts";

type Lines = readonly (string | Uint8Array)[];

const EVERY_COMMIT: CommitRange = { asOf: null, afterCommit: 0 };

function filterOf(filters: TestFilters, data: object = {}): LogFilter {
  return QueryBody.parse({ filters: { ...filters, data } }).filter;
}

/** Returns the positions of the lines that pass, as read from columns. */
function found(bytes: Uint8Array, filter: LogFilter, commits = EVERY_COMMIT, meter = new WorkMeter()): number[] {
  const { reader, chunk } = open(bytes);
  const passing: number[] = [];
  let first = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const own = new RowGroupFilter(reader, group, filter, commits, meter);
    const steps = own.steps((column) => {
      if (!own.columns.includes(column)) throw new Error(`The column ${column} was not announced.`);
      return chunk(group, column);
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value.undecided).toBeNull();
    expect([...step.value.rows].every((row, at, all) => row < rows && row > (all[at - 1] ?? -1))).toBe(true);
    if (own.isExcluded) expect([own.columns, step.value.rows.length]).toEqual([[], 0]);
    for (const row of step.value.rows) passing.push(first + row);
    first += rows;
  }
  return passing;
}

/** Returns the positions of the lines that pass, as a query reads them. */
function expected(lines: Lines, filter: LogFilter, commits: CommitRange, perBatch: number): number[] {
  const passing: number[] = [];
  for (const { body, firstSeq, commit } of batchesOf(lines, perBatch)) {
    if (commit <= commits.afterCommit || (commits.asOf !== null && commit > commits.asOf)) continue;
    const matcher = new BatchMatcher(filter);
    matcher.forEachMatch(
      body,
      () => true,
      ({ index }) => passing.push(firstSeq - 1 + index),
      () => undefined,
    );
  }
  return passing;
}

const regularTest = fc
  .record({
    text: fc.constantFrom("n", "t", "b", "m", "o", "o.p", 'o["q.r"]', "list", "list.0", "none"),
    op: fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "in", "exists"),
    value: fc.constantFrom<string | number | boolean | null>(0, 1, 3, 0.5, 504, "1", "x", "abc", true, false, null, ""),
  })
  .map(({ text, op, value }) => {
    const bound = typeof value === "boolean" || value === null ? 1 : value;
    const tests: Record<string, unknown> = {
      exists: { exists: value === true },
      in: { in: [value, 2, null] },
      eq: value,
      ne: { ne: value },
    };
    return { names: [], text, test: tests[op] ?? { [op]: bound } };
  });
const anyTest = fc.oneof(dataTest, regularTest);
const dataTests = fc.uniqueArray(anyTest, { selector: ({ text }) => text, maxLength: 2 });
const filters = fc.tuple(fewFilters, dataTests).map(([own, tests]) => {
  return filterOf(own, Object.fromEntries(tests.map(({ text, test: value }) => [text, value])));
});
const commits = fc.oneof(
  { weight: 3, arbitrary: fc.constant(EVERY_COMMIT) },
  fc.record({ asOf: fc.option(fc.integer({ min: 5, max: 40 })), afterCommit: fc.nat({ max: 25 }) }),
);
const options = fc.record({
  perBatch: fc.integer({ min: 1, max: 9 }),
  groupRows: fc.constantFrom(1, 3, 16, 100),
  exactShapes: fc.constantFrom(0, 3, 256),
});

describe("filters on columns", () => {
  test("2: hostile entries pass exactly as their lines do", () => {
    const many = fc.array(fc.tuple(filters, commits), { minLength: 15, maxLength: 15 });
    fc.assert(
      fc.property(anyLines, options, many, (own, settings, queries) => {
        const bytes = bytesOf(encode(own, settings));
        for (const [filter, range] of queries) {
          expect(found(bytes, filter, range)).toEqual(expected(own, filter, range, settings.perBatch));
        }
      }),
      { numRuns: 70 },
    );
  });

  test("2: a text is found in strings that follow each other as in each alone", () => {
    const cut = fc.tuple(nastyText, fc.nat({ max: 4 }), fc.nat({ max: 6 }));
    const needle = cut.map(([text, from, length]) => text.slice(from, from + length));
    const some = fc.array(nastyText.filter((text) => text.isWellFormed()));
    fc.assert(
      fc.property(some, needle, (texts, cased) => {
        const wanted = foldCase(cased);
        fc.pre(wanted !== "");
        const search = new TextSearch(wanted);
        const indexesOf = (passes: (text: string) => boolean) =>
          texts.flatMap((text, index) => (passes(text) ? [index] : []));
        for (const gap of [0, 4]) {
          const indexes: number[] = [];
          new TextFinder(wanted).find(textsOf(texts, gap), (index) => indexes.push(index));
          expect(indexes).toEqual(indexesOf((text) => search.isIn(text)));
          if (!cased.isWellFormed()) continue;
          const inCase: number[] = [];
          new TextFinder(wanted, cased).find(textsOf(texts, gap), (index) => inCase.push(index));
          expect(inCase).toEqual(indexesOf((text) => text.includes(cased)));
        }
      }),
      { numRuns: 2000 },
    );
    const texts = textsOf(["\u212a", "k", "x\u0130", "xi", "a", "ka"], 0);
    for (const [wanted, rows] of Object.entries({ k: [0, 1, 5], i: [2, 3], ka: [5], aka: [], xi: [2, 3] })) {
      const indexes: number[] = [];
      new TextFinder(wanted).find(texts, (index) => indexes.push(index));
      expect(indexes).toEqual(rows);
    }
  });

  test("2: a length between two strings is no part of a text", () => {
    // The first one has the length "t", 0, 0, 0.
    const texts = textsOf(["t".repeat(116), "abc", "\0\0\0abc"], 4);
    for (const [wanted, rows] of [
      ["\0\0\0abc", [2]],
      ["\0abc", [2]],
      ["t\0\0\0tt", []],
      ["tt\u0003", []],
      ["\u0003\0\0\0a", []],
      ["t", [0]],
    ] as const) {
      const indexes: number[] = [];
      new TextFinder(wanted).find(texts, (index) => indexes.push(index));
      expect(indexes).toEqual(rows);
      expect(texts.bytesAt(0).length).toBe(116);
      expect(texts.at(2)).toBe("\0\0\0abc");
    }
  });

  test("2: a text is found in long pages by a rare byte, by a pattern, and where the byte is rare at first", () => {
    const kinds = ["GET /orders 200", "kkkk CHECKOUX", "Checkout", "check", "outKcheckoutx", "ſcheckout", "\u212aey"];
    const texts = Array.from({ length: 4000 }, (_, at) => kinds[at < 300 ? 0 : (at * 7) % (at < 2000 ? 3 : 7)] ?? "");
    const bytes = texts.map((text) => Buffer.from(text));
    const offsets = new Int32Array(texts.length + 1);
    for (const [at, { length }] of bytes.entries()) offsets[at + 1] = (offsets[at] ?? 0) + length;
    for (const [from, to] of [
      [0, 4000],
      [0, 2000],
      [0, 300],
      [2500, 4000],
    ] as const) {
      const own = bytes.slice(from, to);
      const all = new Texts(
        Buffer.concat(own),
        offsets.slice(from, to + 1).map((offset) => offset - (offsets[from] ?? 0)),
      );
      for (const needle of ["checkout", "out", "key", "200", "ſ", "kcheckoutx"]) {
        const indexes: number[] = [];
        const finder = new TextFinder(needle);
        finder.find(all, (index) => indexes.push(from + index));
        const search = new TextSearch(needle);
        const wanted = texts.flatMap((text, at) => (at >= from && at < to && search.isIn(text) ? [at] : []));
        expect(indexes).toEqual(wanted);
        // Strings of a page, behind bytes with a match and the beginning of one.
        const head = Buffer.from(`${needle} ${needle.slice(0, 3)}`);
        const page = new Uint8Array(Buffer.concat([head, ...own]));
        const matches = finder.matchesIn(page);
        const inPage: number[] = [];
        finder.findIn(
          matches,
          matches.next(0),
          page,
          head.length,
          Int32Array.from(own, ({ length }) => length),
          (index) => inPage.push(from + index),
        );
        expect(inPage).toEqual(wanted);
      }
    }
  });

  test("2: pages of indices are not read if no string of the dictionary passes", () => {
    const own = Array.from({ length: 40 }, (_, at) => line({ route: at % 2 ? "/checkout" : "/cart" }, {}, at));
    const bytes = bytesOf(encode(own));
    const { reader } = open(bytes);
    const column = reader.indexOf("data.route");
    const { start, end } = reader.range(0, column);
    const doneWith = (strings: StringTest) => {
      const scan = new PageScan(40, true, strings, new Uint8Array(40));
      const values = reader.decodeInto(scan, 0, column, bytes.subarray(start, end), null);
      return [scan.isDone, values.kind];
    };
    expect(doneWith(new ContainingStrings(new TextFinder("check")))).toEqual([false, "indexedTexts"]);
    expect(doneWith(new ContainingStrings(new TextFinder("orders")))).toEqual([true, "texts"]);
    expect(doneWith(new EqualStrings(Buffer.from("/cart")))).toEqual([false, "indexedTexts"]);
    expect(doneWith(new EqualStrings(Buffer.from("/car")))).toEqual([true, "texts"]);
  });

  test.each(["\u212a", "abc\u212a", `${"x".repeat(600)}\u212a`, "plain"])(
    "17.3: a letter is found in a dictionary in any case, also outside ASCII: %#",
    (text) => {
      const own = Array.from({ length: 40 }, (_, at) => line({ route: at % 2 ? text : "/short" }, {}, at));
      const bytes = bytesOf(encode(own));
      const { reader, chunk } = open(bytes);
      const index = reader.indexOf("data.route");
      const column = reader.decode(0, index, chunk(0, index));
      if (column.kind !== "indexedTexts") throw new Error("The column has a dictionary.");
      const strings = new ContainingStrings(new TextFinder("k"));
      expect(strings.foundIn(column.dictionary).map((found) => column.dictionary.at(found))).toEqual(
        text === "plain" ? [] : [text],
      );
    },
  );

  test("2: half of a surrogate pair equals no string of a column", () => {
    const own = Array.from({ length: 40 }, (_, at) => line({ a: at % 2 ? "\ufffd" : "x" }, { session: "\ufffd" }, at));
    const bytes = bytesOf(encode(own));
    expect(found(bytes, filterOf({}, { a: "\ud83d" }))).toEqual([]);
    expect(found(bytes, filterOf({ session: "\ud83d" }))).toEqual([]);
    expect(found(bytes, filterOf({}, { a: { ne: "\ud83d" } }))).toHaveLength(40);
    expect(found(bytes, filterOf({}, { a: "\ufffd" }))).toHaveLength(20);
  });
});

describe("statistics", () => {
  const own = Array.from({ length: 300 }, (_, at) =>
    line({ n: at, ratio: at / 7, route: `/r${at % 3}`, ok: true, tags: at < 100 ? [] : undefined }, {}, at),
  );
  const bytes = bytesOf(encode(own, { groupRows: 100, perBatch: 100 }));
  const { reader } = open(bytes);
  const at = (seconds: number) => Date.UTC(2026, 10, 22, 8) + seconds * 1000;
  const filterOfGroup = (group: number, filter: LogFilter, range = EVERY_COMMIT) =>
    new RowGroupFilter(reader, group, filter, range, new WorkMeter());

  test.each<[string, LogFilter, CommitRange?]>([
    ["a number above all", filterOf({}, { n: { gt: 299 } })],
    ["a number between two groups", filterOf({}, { ratio: 299 })],
    ["listed numbers outside", filterOf({}, { n: { in: [-5, 1000, "x"] } })],
    ["a string that no dictionary has", filterOf({}, { route: "/zz" })],
    ["another type", filterOf({}, { ok: "true" })],
    ["a path that no entry has", filterOf({}, { "tags.0.x": { gt: 1 }, none: 1, n: -1 })],
    ["a time before all", filterOf({ to: at(0) })],
    ["a time after all", filterOf({ from: at(3600) })],
    ["a level", filterOf({ level: "fatal" })],
    ["no level at all", { ...filterOf({}), levelMask: 0 }],
    ["an id that no entry has", filterOf({ session: "s" })],
    ["an earlier commit", filterOf({}), { asOf: 9, afterCommit: 0 }],
    ["a later commit", filterOf({}), { asOf: null, afterCommit: 16 }],
  ])("2: %s excludes row groups that are not read", (_, filter, range) => {
    for (const group of reader.rowGroups.keys()) {
      const { isExcluded, columns } = filterOfGroup(group, filter, range);
      expect([isExcluded, columns]).toEqual([true, []]);
    }
  });

  test("2: a filter that statistics show to hold reads no column", () => {
    const all = filterOf({ from: at(0), to: at(3600) }, { n: { gte: 0 }, ok: { exists: true }, route: { ne: "/zz" } });
    expect(filterOfGroup(1, all).columns).toEqual([]);
    expect(found(bytes, all)).toHaveLength(300);
    expect(
      filterOfGroup(0, filterOf({}, { tags: { exists: true } })).columns.map((at) => reader.columns[at]?.name),
    ).toEqual(["shape", "rest"]);
    expect(filterOfGroup(2, filterOf({}, { n: { gt: 250 } })).columns.map((at) => reader.columns[at]?.name)).toEqual([
      "data.n",
    ]);
  });

  test("2: work is counted, and steps pause when the meter says so", () => {
    const meter = new WorkMeter(1);
    const { chunk } = open(bytes);
    const steps = new RowGroupFilter(reader, 0, filterOf({ search: "r1" }), EVERY_COMMIT, meter).steps((column) =>
      chunk(0, column),
    );
    let pauses = 0;
    let before = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next(), pauses++) {
      expect(meter.done).toBeGreaterThan(before);
      before = meter.done;
      meter.paused(1);
    }
    expect(pauses).toBeGreaterThan(2);
  });

  test("2: a damaged file is refused as malformed or gives rows", () => {
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    const query = fc.constantFrom(
      filterOf({}, { n: { gt: 3 }, tags: { exists: true } }),
      filterOf({ search: "r1", level: "info" }),
      filterOf({ from: at(3) }, { route: { ne: "/r1" }, ratio: { in: [1, 2] } }),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), query, (changes, filter) => {
        const damaged = bytes.slice();
        for (const [index, value] of changes) damaged[index] = value;
        try {
          found(damaged, filter);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedFile);
        }
      }),
      { numRuns: 400 },
    );
  });
});

/** Strings with bytes between them: none, or a length before each as in a dictionary. */
function textsOf(strings: readonly string[], gap: number): Texts {
  const starts = new Int32Array(strings.length + 1);
  const parts: Buffer[] = [];
  let at = 0;
  for (const [index, text] of strings.entries()) {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(gap);
    if (gap > 0) length.writeUInt32LE(bytes.length);
    parts.push(length, bytes);
    starts[index] = at + gap;
    at += gap + bytes.length;
  }
  starts[strings.length] = at + gap;
  const all = Buffer.concat(parts);
  return new Texts(all, starts, all, gap);
}
