import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEVELS } from "../../../src/logs/entry.ts";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { toByteString } from "../../../src/logs/query/case-folding.ts";
import { matchesFilter } from "../../../src/logs/query/filter.ts";
import { needlesOf } from "../../../src/logs/query/needles.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { threadMs } from "../../support/thread-time.ts";
import { type DataTest, dataTest, entryAt, fewFilters, nastyText, type TestFilters, time } from "./arbitraries.ts";
import { passes } from "./reference.ts";
import { bodyOf, lineOf, type TestEntry } from "./store.ts";

function filterOf(filters: TestFilters, tests: readonly DataTest[]) {
  const data = Object.fromEntries(tests.map(({ text, test }) => [text, test]));
  return QueryBody.parse({ filters: { ...filters, data } }).filter;
}

function found(filters: TestFilters, tests: readonly DataTest[], entries: readonly TestEntry[]): number[] {
  const indexes: number[] = [];
  const everything = () => true;
  const matcher = new BatchMatcher(filterOf(filters, tests));
  matcher.forEachMatch(bodyOf(entries), everything, ({ index }) => indexes.push(index), noEntry);
  return indexes;
}

const noEntry = (index: number) => expect.fail(`Line ${index} is not an entry.`);

function expected(filters: TestFilters, tests: readonly DataTest[], entries: readonly TestEntry[]): number[] {
  return entries.flatMap((entry, index) => (passes(entry, filters, tests) ? [index] : []));
}

/** Paths are unique, because a body with two equal members would keep only the last. */
const dataTests = fc.uniqueArray(dataTest, { selector: ({ text }) => text, maxLength: 2 });
const entries = fc.array(entryAt(time), { minLength: 1, maxLength: 8 });

describe("BatchMatcher", () => {
  it("finds the same entries as a plain filter on parsed entries", () => {
    fc.assert(
      fc.property(entries, fewFilters, dataTests, (batch, filters, tests) => {
        expect(found(filters, tests, batch)).toEqual(expected(filters, tests, batch));
      }),
      { numRuns: 4000 },
    );
  });

  it("treats both lower case sigmas alike, wherever a word is cut", () => {
    const messages = ["ΟΔΟΣΑ", "ΟΔΟΣ", "οδος", "οδοσ"];
    const batch = messages.map((message): TestEntry => {
      return { timestamp: 0, level: "info", category: "custom", type: "log", message };
    });
    for (const search of ["ΟΔΟΣ", "οδος", "οδοσ", "Σ", "ς"]) {
      expect(found({ search }, [], batch)).toEqual([0, 1, 2, 3]);
    }
    expect(found({ search: "σα" }, [], batch)).toEqual([0]);
  });

  it("finds every part of a text, in any case", () => {
    const piece = nastyText.chain((text) =>
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
        const entry: TestEntry = {
          timestamp: 0,
          level: "info",
          category: "custom",
          type: "log",
          message: inData ? "x" : text,
        };
        if (inData) entry.data = { list: [{ text }] };
        expect(found({ search }, [], [entry])).toEqual(expected({ search }, [], [entry]));
      }),
      { numRuns: 4000 },
    );
  });

  it("never excludes a passing line by its needles", () => {
    fc.assert(
      fc.property(entryAt(time), fewFilters, dataTests, (entry, filters, tests) => {
        const filter = filterOf(filters, tests);
        const parsed = JSON.parse(lineOf(entry));
        fc.pre(matchesFilter(filter, parsed, entry.timestamp));
        const bytes = toByteString(lineOf(entry));
        for (const needle of needlesOf(filter)) expect(needle.next(bytes, 0)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1500 },
    );
  });

  it("is not slowed down by ambiguous text", () => {
    const entry = (message: string): TestEntry => ({
      timestamp: 0,
      level: "info",
      category: "custom",
      type: "log",
      message,
    });
    const text = ["i\u0307", "\u0307", "İ", "i", "σ", "k"].map((part) => part.repeat(3000));
    const startedAt = threadMs();
    for (const part of ["i\u0307", "\u0307", "i", "σ", "ς", "k"]) {
      expect(found({ search: `${part.repeat(200)}x` }, [], text.map(entry))).toEqual([]);
    }
    expect(threadMs() - startedAt).toBeLessThan(5000);
  });

  it("finds the same entries for a thousand categories and types as for a few", () => {
    const many = (names: readonly string[]) => [
      ...names,
      ...Array.from({ length: 999 - names.length }, (_, i) => `c${i}`),
    ];
    fc.assert(
      fc.property(
        fc.array(entryAt(time), { minLength: 1, maxLength: 8 }),
        fc.subarray([0, 1, 2, 3, 4, 5, 6, 7]),
        fc.boolean(),
        (entries, places, isType) => {
          const wanted = places.flatMap((place) => entries[place] ?? []);
          const filters = isType
            ? { type: many(wanted.map(({ type }) => type)) }
            : { category: many(wanted.map(({ category }) => category)) };
          expect(found(filters, [], entries)).toEqual(expected(filters, [], entries));
        },
      ),
    );
  });

  it("takes hardly longer for a thousand categories or types than for one", () => {
    const names = Array.from({ length: 1000 }, (_, i) => `name ${i}`);
    const entries = Array.from({ length: 2000 }, (): TestEntry => {
      return { timestamp: 5, level: "info", category: "other", type: "kind", message: "m" };
    });
    const body = bodyOf(entries);
    const took = (filters: TestFilters) => {
      const matcher = new BatchMatcher(filterOf(filters, []));
      const times = Array.from({ length: 7 }, () => {
        const startedAt = threadMs();
        matcher.forEachMatch(
          body,
          () => true,
          () => expect.fail(),
          noEntry,
        );
        return threadMs() - startedAt;
      });
      return Math.min(...times);
    };
    expect(took({ category: names })).toBeLessThan(8 * took({ category: "one" }) + 0.5);
    expect(took({ type: names })).toBeLessThan(8 * took({ type: "one" }) + 0.5);
  });

  it("skips the rest of a line that is not wanted", () => {
    const entry = (message: string): TestEntry => ({
      timestamp: 5,
      level: "info",
      category: "custom",
      type: "log",
      message,
    });
    const seen: number[] = [];
    const matcher = new BatchMatcher(filterOf({ search: "yes" }, []));
    matcher.forEachMatch(
      bodyOf(["yes", "no", "YES", "yes"].map(entry)),
      (_, index) => index !== 2,
      ({ index }) => seen.push(index),
      noEntry,
    );
    expect(seen).toEqual([0, 3]);
  });
});

describe("assumptions of reading raw lines", () => {
  it("no two levels begin with the same letter", () => {
    expect(new Set(LEVELS.map((level) => level[0])).size).toBe(LEVELS.length);
  });

  it("only the dotted capital I has a lower case of several characters, only it and the Kelvin sign one in ASCII", () => {
    const several: string[] = [];
    const toAscii: string[] = [];
    for (let code = 0x80; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      const lower = character.toLowerCase();
      if ([...lower].length > 1) several.push(character);
      if (lower !== character && /[\0-\x7f]/.test(lower)) toAscii.push(character);
      if (lower !== character) expect(code).toBeLessThan(0x20000);
    }
    expect(several).toEqual(["\u0130"]);
    expect(toAscii).toEqual(["\u0130", "\u212a"]);
  });
});
