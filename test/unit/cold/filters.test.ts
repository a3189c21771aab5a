import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ALL_SLOTS, allBlocks, blocksToRead } from "../../../src/logs/cold/filter/block-filter.ts";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import {
  containsTests,
  eitherTest,
  idTest,
  memberTest,
  type TokenTest,
  tokensFor,
  tokenTestsOf,
} from "../../../src/logs/cold/filter/token-tests.ts";
import { EXACT_KIND, TOKEN_KIND } from "../../../src/logs/cold/filter/tokens.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import type { LogFilter } from "../../../src/logs/query/filter.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { entryTestOf } from "../../../src/logs/search/entry-test.ts";
import { encodeFiles } from "../../../src/logs/segments/encode/encode-rows.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
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

/** A segment of line blocks, whose filter has the tokens of earlier versions. */
function segmentOf(entries: readonly TestEntry[]): EncodedSegment {
  const [segment] = encodeSegments(PROJECT, slices([entries]), { firstSeq: 1, lastSeq: entries.length });
  if (segment === undefined) throw new Error("There is a segment.");
  return segment;
}

/** The row of a segment file, whose filter has the tokens of this version. */
function fileRowOf(entries: readonly TestEntry[]): EncodedSegment {
  const range = { firstSeq: 1, lastSeq: entries.length };
  for (const file of encodeFiles(PROJECT, slices([entries]), range, true)) if (file !== null) return file.row;
  throw new Error("There is a file.");
}

const PROJECT = "proj_000000000001";
const BOTH = [segmentOf, fileRowOf];

function passesTests({ filter, filterKinds }: EncodedSegment, tests: readonly TokenTest[]): boolean {
  return tests.every((test) => tokensFor(test, filterKinds)?.some(({ a, b }) => mayContain(filter, a, b)) ?? true);
}

function mayPass(segment: EncodedSegment, wanted: LogFilter): boolean {
  return passesTests(segment, tokenTestsOf(wanted));
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
        for (const encode of BOTH) expect(mayPass(encode(held), filterOf(content, tests))).toBe(true);
      }),
      { numRuns: 500 },
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
        for (const encode of BOTH) expect(mayPass(encode([entry]), filterOf({ search }))).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  it.each(BOTH)("excludes values that do not occur (%o)", (encode) => {
    const segment = encode(
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

  it("16.4: never excludes what the query language finds, in any case, path and array", () => {
    const letters = fc.constantFrom(
      "k",
      "K",
      "\u212a",
      "\u0130",
      "i\u0307",
      "\u03a3",
      "\u03c3",
      "\u03c2",
      "\u00df",
      "Z",
      "7",
      ".",
      "e",
    );
    const text = fc.array(letters, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
    const leaf = fc.oneof(text, fc.constantFrom(7, 1.5, -0, 1e21, true, false, null));
    const name = fc.constantFrom("a", "b", "a.b", "0", "1", "A");
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(name, tie("any"), { maxKeys: 3 }),
      ),
    })).any;
    const entry = fc.record({ data: fc.dictionary(name, value, { maxKeys: 3 }), session: text, traceId: text });
    const wanted = fc.oneof(text, fc.constantFrom("7", "1.5", "0", "1e+21", "true", "FALSE", "null"));
    const path = fc.array(fc.oneof(name, fc.constantFrom(0, 1)), { minLength: 1, maxLength: 3 });
    const change = fc.constantFrom<(text: string) => string>(
      (each) => each,
      (each) => each.toLowerCase(),
      (each) => each.toUpperCase(),
    );
    let found = 0;
    const place = { timestamp: 0, receivedAt: 0, seq: 1, projectId: PROJECT, id: "x" };
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 4 }),
        path,
        wanted,
        change,
        (made, names, plainText, to) => {
          const first = typeof names[0] === "number" ? ["a", ...names] : names;
          const texts = [to(plainText), ...made.map(({ session }) => to(session))];
          const held = made.map((own) => plain("x", own));
          const rows = BOTH.map((encode) => encode(held));
          for (const wantedText of texts) {
            const members = first.filter((each) => typeof each === "string");
            const field = { kind: "data", path: first } as const;
            const cases = [
              [
                { kind: "field", field, test: { kind: "is", text: wantedText } },
                memberTest(members, wantedText, "folded"),
              ],
              [
                { kind: "field", field, test: { kind: "exact", text: wantedText } },
                memberTest(members, wantedText, "exact"),
              ],
              [{ kind: "field", field, test: { kind: "exists" } }, memberTest(members, null, "folded")],
              ...(["session", "trace"] as const).flatMap((own, at) => {
                const member = at === 0 ? 0 : 1;
                const ofId = { kind: "own", name: own } as const;
                return [
                  [
                    { kind: "field", field: ofId, test: { kind: "is", text: wantedText } },
                    idTest(member, wantedText, "folded"),
                  ],
                  [
                    { kind: "field", field: ofId, test: { kind: "exact", text: wantedText } },
                    idTest(member, wantedText, "exact"),
                  ],
                ] as const;
              }),
            ] as const;
            for (const [filter, test] of cases) {
              const passed = entryTestOf(filter, 0);
              if (!held.some((each) => passed({ ...parsed(each), timestamp: "" }, place))) continue;
              found++;
              for (const row of rows) expect([filter, passesTests(row, [test])]).toEqual([filter, true]);
            }
            const filter = { kind: "text", test: { kind: "contains", text: wantedText } } as const;
            const passed = entryTestOf(filter, 0);
            if (!held.some((each) => passed({ ...parsed(each), timestamp: "" }, place))) continue;
            for (const row of rows)
              expect([filter, passesTests(row, containsTests(wantedText))]).toEqual([filter, true]);
          }
        },
      ),
      { numRuns: 250 },
    );
    expect(found).toBeGreaterThan(300);
  });

  it("16.4: excludes by values of another case, in arrays and under dotted names; filters of earlier versions by exact ones", () => {
    const held = [
      plain("x", { session: "Ses-1", traceId: "42", data: { user: { "plan.name": "Pro" }, tags: ["Red", { id: 7 }] } }),
    ];
    const [former, row] = [segmentOf(held), fileRowOf(held)];
    const outcome = (test: TokenTest) => [passesTests(former, [test]), passesTests(row, [test])];
    expect(outcome(idTest(0, "sES-1", "folded"))).toEqual([true, true]);
    expect(outcome(idTest(0, "ses-2", "folded"))).toEqual([true, false]);
    expect(outcome(idTest(0, "ses-2", "exact"))).toEqual([false, false]);
    // Only the former token tells the case of a letter.
    expect(outcome(idTest(0, "ses-1", "exact"))).toEqual([false, true]);
    // A text without letters has one token in both.
    expect(outcome(idTest(1, "42", "folded"))).toEqual([true, true]);
    expect(outcome(idTest(1, "43", "folded"))).toEqual([false, false]);
    expect(outcome(memberTest(["user", "plan", "name"], "PRO", "folded"))).toEqual([true, true]);
    expect(outcome(memberTest(["user.plan.name"], "pro", "folded"))).toEqual([true, true]);
    expect(outcome(memberTest(["user", "plan", "name"], "free", "folded"))).toEqual([true, false]);
    expect(outcome(memberTest(["tags"], "red", "folded"))).toEqual([true, true]);
    expect(outcome(memberTest(["tags", "id"], "7", "folded"))).toEqual([true, true]);
    expect(outcome(memberTest(["tags", "id"], "8", "folded"))).toEqual([true, false]);
    // A string of this text would be another entry, and has its token in the same table.
    expect(outcome(memberTest(["tags", "id"], "7", "exact"))).toEqual([true, true]);
    const either = eitherTest([idTest(0, "none", "folded"), memberTest(["tags"], "blue", "folded")]);
    if (either === null) throw new Error("The test can decide.");
    expect(outcome(either)).toEqual([true, false]);
    expect(eitherTest([])).toBeNull();
    const many = Array.from({ length: 17 }, (_, at) => idTest(0, `none ${at}`, "exact"));
    expect(eitherTest(many)).toBeNull();
    const index = (names: readonly string[], test: unknown) =>
      filterOf({}, [{ names: [], text: names.join("."), test }]);
    for (const segment of [former, row]) {
      expect(mayPass(segment, index(["tags", "1", "id"], 7))).toBe(true);
      expect(mayPass(segment, index(["tags", "1", "id"], 8))).toBe(false);
    }
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
    expect(segment.filterKinds & EXACT_KIND.id).toBe(EXACT_KIND.id);
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
