import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { filterOf } from "../../../src/logs/cold/compaction/filters.ts";
import { TokenTable } from "../../../src/logs/cold/filter/token-table.ts";
import { containsTests, idTest } from "../../../src/logs/cold/filter/token-tests.ts";
import { TOKEN_KIND, TokenCollector, type TokenHash } from "../../../src/logs/cold/filter/tokens.ts";
import {
  ALL_KINDS,
  blockMayContain,
  blocksOfGroups,
  FILTER_BLOCK_BYTES,
  FilterFileBuilder,
  filterKey,
  formOfKey,
  rangeOfToken,
  sizeClass,
  WideFilterBuilder,
} from "../../../src/logs/cold/filter/wide-filter.ts";
import { withoutExcluded } from "../../../src/logs/cold/store/filter-lookup.ts";
import { parseStoredLine } from "../../../src/logs/entry.ts";
import { ColumnTokens } from "../../../src/logs/segments/tokens/column-tokens.ts";
import type { Bucket, FileRange } from "../../../src/platform/bucket.ts";
import { countBuffers } from "../../support/buffer-count.ts";
import { ExactTokens } from "../../support/exact-tokens.ts";
import { done, filesOf, merge } from "../segments/merging.ts";
import { bytesOf, encode, line, open } from "../segments/support.ts";

/** A token by its number. */
function token(seed: number): TokenHash {
  const mix = (value: number) => {
    let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
  return { a: mix(seed * 2 + 1), b: mix(seed * 2 + 0x5bd1e995) };
}

function filterOfTokens(from: number, to: number): Uint8Array {
  const builder = new WideFilterBuilder();
  for (let seed = from; seed < to; seed++) builder.add(token(seed).a, token(seed).b);
  const filter = done(builder.finish());
  if (filter === null) throw new Error("The filter is full.");
  return filter;
}

describe("a filter of a merged segment", () => {
  test("holds every token in 8 to 18 bits, and lets at most 3 % of the others pass", () => {
    const filter = filterOfTokens(0, 100_000);
    const form = { filters: 1, blocks: filter.length / FILTER_BLOCK_BYTES };
    const holds = (seed: number) => {
      const { start, end } = rangeOfToken(form, token(seed));
      return blockMayContain(filter.subarray(start, end), token(seed));
    };
    expect(Array.from({ length: 100_000 }, (_, seed) => seed).every(holds)).toBe(true);
    const passed = Array.from({ length: 20_000 }, (_, index) => 200_000 + index).filter(holds).length;
    expect(passed / 20_000).toBeLessThan(0.03);
    const bits = (filter.length * 8) / 100_000;
    expect(bits).toBeGreaterThan(8);
    expect(bits).toBeLessThan(18);
  });

  test("is found among others of different sizes by one range for all of them", () => {
    const sizes = [100, 30_000, 3000];
    const filters = sizes.map((size, index) => filterOfTokens(index * 100_000, index * 100_000 + size));
    const form = { filters: 3, blocks: Math.max(...filters.map(({ length }) => length)) / FILTER_BLOCK_BYTES };
    const builder = new FilterFileBuilder(form);
    for (const [slot, filter] of filters.entries()) done(builder.put(slot, filter));
    const file = builder.bytes;
    expect(file.length).toBe(form.blocks * 3 * FILTER_BLOCK_BYTES);
    for (const [slot, size] of sizes.entries()) {
      for (let index = 0; index < size; index += 7) {
        const wanted = token(slot * 100_000 + index);
        const { start, end } = rangeOfToken(form, wanted);
        const blocks = file.subarray(start, end);
        expect(blocks.length).toBe(3 * FILTER_BLOCK_BYTES);
        const own = blocks.subarray(slot * FILTER_BLOCK_BYTES, (slot + 1) * FILTER_BLOCK_BYTES);
        expect(blockMayContain(own, wanted)).toBe(true);
      }
    }
  });

  test("16: has at most an eighth more blocks than its tokens need if their number is known, and can be repeated", () => {
    for (const tokens of [20_000, 61_000, 122_000, 130_000, 250_000]) {
      const builder = new WideFilterBuilder(blocksOfGroups(5, tokens));
      for (let seed = 0; seed < tokens; seed++) builder.add(token(seed).a, token(seed).b);
      const filter = done(builder.finish());
      if (filter === null) throw new Error("The filter is full.");
      const bits = (filter.length * 8) / tokens;
      expect(bits).toBeGreaterThan(7.7);
      expect(bits).toBeLessThan(9.1);
      const blocks = filter.length / FILTER_BLOCK_BYTES;
      const repeated = new FilterFileBuilder({ filters: 1, blocks: blocks * 4 });
      done(repeated.put(0, filter));
      expect(sizeClass({ filters: 1, blocks: blocks * 4 })).toBe(sizeClass({ filters: 1, blocks }));
      for (const [form, bytes] of [
        [{ filters: 1, blocks }, filter],
        [{ filters: 1, blocks: blocks * 4 }, repeated.bytes],
      ] as const) {
        const passes = (seed: number) => {
          const { start, end } = rangeOfToken(form, token(seed));
          return blockMayContain(bytes.subarray(start, end), token(seed));
        };
        for (let seed = 0; seed < tokens; seed += 11) expect(passes(seed)).toBe(true);
        const passed = Array.from({ length: 20_000 }, (_, index) => 1_000_000 + index).filter(passes).length;
        expect(passed / 20_000).toBeLessThan(0.035);
      }
    }
  });

  test("is null if it would exclude nothing, frees its memory then, and its form is in its key", () => {
    const { result, count } = countBuffers(() => {
      const builder = new WideFilterBuilder(256);
      for (let seed = 0; seed < 60_000; seed++) builder.add(Math.imul(seed, 0x9e3779b1), Math.imul(seed, 0x85ebca77));
      return done(builder.finish());
    });
    expect(result).toBeNull();
    expect([count.made, count.left]).toEqual([256 * FILTER_BLOCK_BYTES, 0]);
    const key = filterKey("v1/ws/proj", 2, { filters: 8, blocks: 16_384 }, "ab".repeat(32));
    expect(formOfKey(key)).toEqual({ filters: 8, blocks: 16_384, kinds: ALL_KINDS, segments: 2 });
    expect(key).toContain("/j-2-8-16384-");
    // Files of versions before have no names of members, and those of the first ones one filter for each segment.
    const kinds = ALL_KINDS & ~TOKEN_KIND.names;
    const nameless = filterKey("v1/ws/proj", 2, { filters: 8, blocks: 16_384 }, "ab".repeat(32), kinds);
    expect(nameless).toContain("/h-2-8-16384-");
    expect(formOfKey(nameless)).toEqual({ filters: 8, blocks: 16_384, kinds, segments: 2 });
    expect(formOfKey(nameless.replace("/h-", "/g-"))).toEqual(formOfKey(nameless));
    const before = `v1/ws/proj/i-8-16384-${"ab".repeat(8)}`;
    expect(formOfKey(before)).toEqual({ filters: 8, blocks: 16_384, kinds, segments: null });
    expect(formOfKey("v1/ws/proj/0000000000000001-0-abababababababab")).toBeNull();
  });
});

test("16.4: a filter file of an earlier version decides by exact tokens, one of this version by folded ones", async () => {
  const tests = (id: string) => [idTest(0, id, "exact"), ...containsTests("petrel")];
  const entry = parseStoredLine(line(undefined, { message: "petrel", session: "Ses-1" }));
  if (entry === null) throw new Error("The line is an entry.");
  const files = new Map<string, Uint8Array>();
  const place = (key: string, tables: Iterable<TokenTable>) => {
    const builder = new WideFilterBuilder(64);
    for (const table of tables) {
      table.forEach((a, b) => {
        builder.add(a, b);
      });
    }
    const filter = done(builder.finish());
    if (filter === null) throw new Error("The filter is full.");
    const name = `${key}-1-${filter.length / FILTER_BLOCK_BYTES}-${"ab".repeat(8)}`;
    files.set(name, filter);
    return { filterPlace: { file: name, slot: 0 } };
  };
  const [folded, exact] = [new TokenCollector(), new ExactTokens()];
  folded.add(entry);
  exact.add(entry);
  const segments = [place("v1/ws/proj/f", exact.tables()), place("v1/ws/proj/i", folded.kinds.values())];
  const bucket = {
    readRanges: async (ranges: readonly FileRange[]) =>
      ranges.map(({ key, start, end }) => files.get(key)?.subarray(start, end) ?? null),
  };
  const one = () => 1;
  // SAFETY: a lookup only reads ranges.
  const left = async (id: string) => (await withoutExcluded(bucket as Bucket, segments, tests(id), one)).length;
  expect(await left("Ses-1")).toBe(2);
  expect(await withoutExcluded(bucket as Bucket, segments, tests("ses-1"), one)).toEqual(segments.slice(1));
  expect(await left("Ses-2")).toBe(0);
});

test("16: a filter file of this version names the row groups that may have a token, also joined with those of other segments", async () => {
  const idOf = (at: number) => `${at}`.padStart(32, "a");
  const files = new Map<string, Uint8Array>();
  const made = [0, 1].map((number) => {
    const lines = Array.from({ length: 240 }, (_, at) => line({ n: at }, { traceId: idOf(number * 1000 + at) }, at));
    const { merged } = merge(filesOf(lines, [60, 120, 180]));
    const { file } = done(filterOf("ws", "proj", merged, true));
    if (file === null) throw new Error("The segment has a filter.");
    files.set(file.key, file.bytes);
    return file;
  });
  const forms = made.map(({ key }) => formOfKey(key));
  expect(forms).toMatchObject([
    { filters: 4, segments: 1 },
    { filters: 4, segments: 1 },
  ]);
  const joined = new FilterFileBuilder({ filters: 8, blocks: forms[0]?.blocks ?? 0 });
  for (const [index, { bytes }] of made.entries()) done(joined.put(index * 4, bytes, 4));
  const both = filterKey("v1/ws/proj", 2, { filters: 8, blocks: forms[0]?.blocks ?? 0 }, "cd".repeat(32));
  files.set(both, joined.bytes);
  const bucket = {
    readRanges: async (ranges: readonly FileRange[]) =>
      ranges.map(({ key, start, end }) => files.get(key)?.subarray(start, end) ?? null),
  };
  const alone = made.map(({ key }) => ({ filterPlace: { file: key, slot: 0 } }));
  const together = [0, 4].map((slot) => ({ filterPlace: { file: both, slot } }));
  for (const segments of [alone, together]) {
    for (const [at, number, group] of [
      [3, 0, 0],
      [70, 0, 1],
      [1130, 1, 2],
      [1239, 1, 3],
    ] as const) {
      // SAFETY: a lookup only reads ranges.
      const left = await withoutExcluded(bucket as Bucket, segments, [idTest(1, idOf(at), "exact")], () => 4);
      const own = left.find(({ filterPlace }) => filterPlace === segments[number]?.filterPlace);
      expect(own?.groupHits?.[group]).toBe(true);
      expect(left.flatMap(({ groupHits = [] }) => groupHits).filter((hit) => hit).length).toBeLessThanOrEqual(2);
    }
    expect(await withoutExcluded(bucket as Bucket, segments, [idTest(1, "b".repeat(32), "exact")], () => 4)).toEqual(
      [],
    );
  }
  // A segment with more row groups than its filter file has filters.
  const [first] = await withoutExcluded(bucket as Bucket, alone, [idTest(1, "b".repeat(32), "exact")], () => 5);
  expect(first?.groupHits).toEqual([false, false, false, false, true]);
});

/** Keeps every token of every kind. */
class Listed extends TokenTable {
  readonly tokens = new Set<string>();

  override add(a: number, b: number): void {
    this.tokens.add(`${a >>> 0}/${b >>> 0}`);
  }
}

function collector(): { collector: TokenCollector; tokens: () => Record<string, Set<string>> } {
  const tables: Listed[] = [];
  const made = new TokenCollector(() => {
    tables.push(new Listed());
    return tables.at(-1) ?? new Listed();
  });
  return {
    collector: made,
    tokens: () =>
      Object.fromEntries(Object.values(TOKEN_KIND).map((kind, at) => [kind, tables[at]?.tokens ?? new Set()])),
  };
}

describe("tokens from columns", () => {
  test("are those of the lines, and few others", () => {
    const value = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.oneof(fc.integer(), fc.string()), { maxLength: 3 }),
      fc.record({ x: fc.integer(), y: fc.string() }, { requiredKeys: [] }),
    );
    const data = fc.dictionary(fc.constantFrom("a", "b", "c.d", "deep", "gr\u00f6\u00dfe"), value, { maxKeys: 4 });
    const entries = fc.array(
      fc.record({
        data: fc.option(data, { nil: undefined }),
        message: fc.string({ unit: "grapheme", maxLength: 20 }),
        session: fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(entries, (made) => {
        const lines = made.map(({ data: own, message, session }, at) =>
          line(own, { message, ...(session !== undefined && { session }) }, at),
        );
        // A line that is stored whole.
        lines.push(line('{"a":1.0,"z":"whole"}', {}, 100));
        const expected = collector();
        for (const own of lines) {
          const entry = parseStoredLine(own);
          if (entry !== null) expected.collector.add(entry);
        }
        const found = collector();
        const { reader, chunk } = open(bytesOf(encode(lines, { groupRows: 25 })));
        const tokens = new ColumnTokens(found.collector);
        for (const group of reader.rowGroups.keys()) done(tokens.add(reader, group, chunk));
        const got = found.tokens();
        for (const [kind, wanted] of Object.entries(expected.tokens())) {
          const missing = [...wanted].filter((each) => !got[kind]?.has(each));
          expect({ kind, missing }).toEqual({ kind, missing: [] });
          expect((got[kind]?.size ?? 0) - wanted.size).toBeLessThanOrEqual(20);
        }
      }),
      { numRuns: 60 },
    );
  });
});
