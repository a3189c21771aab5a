import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ALL_SLOTS, allBlocks, blocksToRead } from "../../../src/logs/cold/filter/block-filter.ts";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import { TOKEN_KIND, tokenTestsOf } from "../../../src/logs/cold/filter/tokens.ts";
import { encodeSegments } from "../../../src/logs/cold/format/encode.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import type { LogFilter } from "../../../src/logs/query/filter.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import {
  type DataTest,
  dataTest,
  entryAt,
  fewFilters,
  nastyText,
  type TestFilters,
  time,
} from "../query/arbitraries.ts";
import { passes } from "../query/reference.ts";
import { lineOf, type TestEntry } from "../query/store.ts";
import { probesOfSlots } from "./slots.ts";
import { slices } from "./support.ts";

function filterOf(filters: TestFilters, tests: readonly DataTest[] = []): LogFilter {
  const data = Object.fromEntries(tests.map(({ text, test }) => [text, test]));
  return QueryBody.parse({ filters: { ...filters, data } }).filter;
}

function segmentOf(entries: readonly TestEntry[]): EncodedSegment {
  const [segment] = encodeSegments("proj_000000000001", slices([entries]), { firstSeq: 1, lastSeq: entries.length });
  if (segment === undefined) throw new Error("There is a segment.");
  return segment;
}

function mayPass({ filter, filterKinds }: EncodedSegment, wanted: LogFilter): boolean {
  return tokenTestsOf(wanted).every(
    ({ kind, anyOf }) => (filterKinds & kind) === 0 || anyOf.some(({ a, b }) => mayContain(filter, a, b)),
  );
}

/** The blocks that a query would read, with slots as D1 returns them. */
function blocksFor(segment: EncodedSegment, wanted: LogFilter) {
  const tests = tokenTestsOf(wanted);
  const found = { ...segment, slots: probesOfSlots(segment, tests) };
  const { from, to, levelMask } = wanted;
  return blocksToRead(found, { from, to, levelMask, tests });
}

/** Like `blocksFor`, for segments of versions that wrote only the first three slots of a token. */
function blocksOfFormer(segment: EncodedSegment, wanted: LogFilter) {
  const tests = tokenTestsOf(wanted);
  const digits = segment.slotBytes * 2;
  const slots = probesOfSlots(segment, tests).replace(/./g, (digit, at: number) =>
    Math.floor(at / digits) % 4 === 3 ? "0" : digit,
  );
  const { from, to, levelMask } = wanted;
  const found = { ...segment, slots, blockKinds: segment.blockKinds & ~ALL_SLOTS };
  return blocksToRead(found, { from, to, levelMask, tests });
}

/** A single time, so that all entries are in one segment. */
const entries = fc.array(entryAt(fc.constant(1_795_183_200_000)), { minLength: 1, maxLength: 8 });
const dataTests = fc.uniqueArray(dataTest, { selector: ({ text }) => text, maxLength: 2 });

function plain(message: string, more: Partial<TestEntry> = {}): TestEntry {
  return { timestamp: 1_795_183_200_000, level: "info", category: "custom", type: "log", message, ...more };
}

describe("a segment's filter", () => {
  it("never excludes an entry that passes", () => {
    fc.assert(
      fc.property(entries, fewFilters, dataTests, (held, filters, tests) => {
        fc.pre(held.some((entry) => passes(parsed(entry), filters, tests)));
        const { from: _from, to: _to, ...content } = filters;
        expect(mayPass(segmentOf(held), filterOf(content, tests))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("never excludes a part of a text, in any script and case", () => {
    const word = fc.oneof(
      nastyText,
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom(
        "Straße",
        "ΟΔΟΣ",
        "όδος",
        "İstanbul",
        "ПОИСК по логам",
        "検索結果なし",
        "ﬁnance",
        "Ǆungla",
        "𐐀𐐁𐐂𐐃𐐄",
        "e\u0301te\u0301",
      ),
    );
    const piece = fc
      .array(word, { minLength: 1, maxLength: 3 })
      .map((words) => words.join(""))
      .chain((text) =>
        fc.record({
          text: fc.constant(text),
          from: fc.nat({ max: text.length }),
          to: fc.nat({ max: text.length }),
          change: fc.constantFrom<(part: string) => string>(
            (part) => part,
            (part) => part.toLowerCase(),
            (part) => part.toUpperCase(),
          ),
        }),
      );
    fc.assert(
      fc.property(piece, fc.boolean(), ({ text, from, to, change }, inData) => {
        const search = change(text.slice(Math.min(from, to), Math.max(from, to)));
        fc.pre(search !== "");
        const entry = inData ? plain("x", { data: { list: [{ text }] } }) : plain(text || "x");
        fc.pre(passes(parsed(entry), { search }, []));
        expect(mayPass(segmentOf([entry]), filterOf({ search }))).toBe(true);
      }),
      { numRuns: 6000 },
    );
  });

  it("excludes values that do not occur", () => {
    const segment = segmentOf(
      Array.from({ length: 2000 }, (_, index) =>
        plain(`request ${index} refused`, {
          traceId: `trace-${index}`,
          session: `session-${index % 100}`,
          data: { order: { id: index, state: "open" }, tags: ["a", index % 7] },
        }),
      ),
    );
    const absent = (make: (index: number) => LogFilter) =>
      Array.from({ length: 2000 }, (_, index) => make(index)).filter((filter) => mayPass(segment, filter)).length /
      2000;
    expect(absent((index) => filterOf({ traceId: `gone-${index}` }))).toBeLessThan(0.01);
    expect(absent((index) => filterOf({ session: `trace-${index}` }))).toBeLessThan(0.01);
    expect(absent((index) => filterOf({}, [{ names: [], text: "order.id", test: 5000 + index }]))).toBeLessThan(0.01);
    expect(absent((index) => filterOf({}, [{ names: [], text: "order.state", test: `shut ${index}` }]))).toBeLessThan(
      0.01,
    );
    expect(absent((index) => filterOf({}, [{ names: [], text: `other.x${index}`, test: { gt: 1 } }]))).toBeLessThan(
      0.01,
    );
    expect(mayPass(segment, filterOf({ search: "albatross" }))).toBe(false);
    expect(mayPass(segment, filterOf({ search: "EST 1999 REFUS" }))).toBe(true);
    // Without letters there is no gram to exclude by.
    expect(mayPass(segment, filterOf({ search: "1999999" }))).toBe(true);
  });

  it("leaves out kinds of token that would make it large, and records which", () => {
    const letters = (seed: number) =>
      Array.from({ length: 60 }, (_, at) =>
        String.fromCharCode(97 + (((seed * 7919 + at * at * 31) ^ (seed >> 3)) % 26)),
      ).join("");
    const segment = segmentOf(
      Array.from({ length: 3000 }, (_, index) =>
        plain(`${letters(index)}${letters(index * 3 + 1)}`, {
          traceId: `trace-${index}`,
          data: { [`key${index}`]: index },
        }),
      ),
    );
    expect(segment.filterKinds & TOKEN_KIND.id).toBe(TOKEN_KIND.id);
    expect(segment.filterKinds & TOKEN_KIND.four).toBe(0);
    expect(segment.filter.length).toBeLessThan(segment.body.length / 4);
    expect(segment.blockFilter.length).toBeLessThan(segment.body.length / 4);
    expect(mayPass(segment, filterOf({ search: "albatross" }))).toBe((segment.filterKinds & TOKEN_KIND.three) === 0);
    expect(mayPass(segment, filterOf({ traceId: "gone" }))).toBe(false);
  });
});

describe("a segment's blocks", () => {
  it("are read if they may hold a passing entry, and rarely otherwise", () => {
    const held = Array.from({ length: 4000 }, (_, index) =>
      plain(`request ${index} to ${index === 1234 ? "Albatross" : "the other side"} ${"x ".repeat(60)}`, {
        timestamp: 1_795_183_200_000 + index,
        level: index === 3000 ? "fatal" : "info",
        traceId: `trace-${index}`,
        data: { order: index },
      }),
    );
    const segment = segmentOf(held);
    const blocks = allBlocks(segment);
    expect(blocks.length).toBeGreaterThan(8);
    let read = 0;
    for (let index = 0; index < held.length; index += 7) {
      const found = blocksFor(
        segment,
        filterOf({ traceId: `trace-${index}` }, [{ names: [], text: "order", test: index }]),
      );
      expect(found.some(({ firstIndex, lines }) => firstIndex <= index && index < firstIndex + lines)).toBe(true);
      read += found.length;
    }
    expect(read / (held.length / 7)).toBeLessThan(1.5);
    const holds = (wanted: LogFilter, index: number) =>
      blocksFor(segment, wanted).some(({ firstIndex, lines }) => firstIndex <= index && index < firstIndex + lines);
    expect(holds(filterOf({ search: "albaTROSS" }), 1234)).toBe(true);
    expect(blocksFor(segment, filterOf({ search: "albatross" })).length).toBeLessThan(3);
    expect(blocksFor(segment, filterOf({ level: "fatal" }))).toHaveLength(1);
    expect(blocksFor(segment, filterOf({ from: 1_795_183_200_000 + 3999 }))).toEqual(blocks.slice(-1));
    expect(blocksFor(segment, filterOf({ to: 1_795_183_200_001 }))).toEqual(blocks.slice(0, 1));
    expect(blocksFor(segment, filterOf({}))).toEqual(blocks);
  });

  it("chosen for a rare value are hardly more than those that have it", () => {
    const held = Array.from({ length: 6000 }, (_, index) =>
      plain(`request ${"x ".repeat(60)}`, {
        timestamp: 1_795_183_200_000 + index,
        traceId: `${index}${"f".repeat(20)}`,
        data: {
          order: `order ${index}`,
          ...(index === 3000 ? { ticket: "T-4711", state: "Refunded" } : { state: "open" }),
        },
      }),
    );
    const segment = segmentOf(held);
    const all = allBlocks(segment).length;
    expect(all).toBeGreaterThan(12);
    let read = 0;
    for (let index = 0; index < 6000; index += 10) {
      read += blocksFor(segment, filterOf({}, [{ names: [], text: "order", test: `order ${index}` }])).length - 1;
      read += blocksFor(segment, filterOf({ traceId: `${index}${"f".repeat(20)}` })).length - 1;
    }
    // 2.4 % of the other blocks.
    expect(read / 1200 / (all - 1)).toBeLessThan(0.035);
    expect(blocksFor(segment, filterOf({}, [{ names: [], text: "ticket", test: "T-4711" }]))).toHaveLength(1);
    expect(blocksFor(segment, filterOf({}, [{ names: [], text: "state", test: "Refunded" }]))).toHaveLength(1);
  });

  it("are found for a value longer than the text its grams are taken from, wherever it is cut", () => {
    for (const [before, letter] of [
      [254, "\u{10400}"],
      [255, "\u{10400}"],
      [255, "\u03a3"],
      [255, "\u0130"],
      [256, "\ud801"],
    ] as const) {
      const value = `${"Ab".repeat(before / 2)}${before % 2 === 0 ? "" : "c"}${letter}${"Ω".repeat(2000)}`;
      const segment = segmentOf([plain("x", { data: { value } }), plain("y")]);
      expect(mayPass(segment, filterOf({}, [{ names: [], text: "value", test: value }]))).toBe(true);
    }
  });

  it("always include every passing entry", () => {
    const long = fc.array(
      entryAt(
        fc.oneof(
          fc.constant(1_795_183_200_000),
          time.filter((ms) => Math.abs(ms - 1_795_183_200_000) < 600_000),
        ),
      ),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(long, fewFilters, dataTests, (made, filters, tests) => {
        // Pads each entry so that it fills a block.
        const held = made.map((entry) => ({ ...entry, data: { ...entry.data, padding: " ".repeat(70_000) } }));
        const segment = segmentOf(held);
        const wanted = filterOf(filters, tests);
        const indexes = held.flatMap((entry, index) => (passes(parsed(entry), filters, tests) ? [index] : []));
        fc.pre(indexes.length > 0);
        for (const read of [blocksFor(segment, wanted), blocksOfFormer(segment, wanted)]) {
          for (const index of indexes) {
            expect(read.some(({ firstIndex, lines }) => firstIndex <= index && index < firstIndex + lines)).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** An entry as a reader gets it: JSON replaces lone surrogates and "-0". */
function parsed(entry: TestEntry): TestEntry {
  return { ...entry, ...JSON.parse(lineOf(entry)), timestamp: entry.timestamp };
}
