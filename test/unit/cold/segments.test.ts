import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryAt as benchEntryAt } from "../../../bench/entries.ts";
import { readBlockIndex } from "../../../src/logs/cold/format/batch-table.ts";
import { readLevelCounts } from "../../../src/logs/cold/format/counts.ts";
import { CorruptSegment, SEGMENT_LIMITS } from "../../../src/logs/cold/format/segment.ts";
import { BUILT_IN_CATEGORIES, categoryBit, LEVELS, levelBit } from "../../../src/logs/entry.ts";
import { readSummary } from "../../../src/logs/summary.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { entryAt, time } from "../query/arbitraries.ts";
import { lineOf, type TestEntry } from "../query/store.ts";
import { decodeAll, slices, unitsOf } from "./support.ts";

const PROJECT = "proj_000000000001";

/** Mostly within one hour, some on other days. */
const anyTime = fc.oneof(
  { weight: 6, arbitrary: time },
  fc.integer({ min: 1_795_183_200_000, max: 1_795_190_000_000 }),
  fc.integer({ min: 1_790_000_000_000, max: 1_795_183_200_000 }),
);
/** Ingest accepts no name that UTF-8 cannot encode. */
const entry = entryAt(anyTime).map((made) => ({
  ...made,
  category: made.category.toWellFormed(),
  type: made.type.toWellFormed(),
}));
const batchLists = fc.array(fc.array(entry, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 });

function plain(index: number, timestamp = 1_795_183_200_000 + index, message = `entry ${index}`): TestEntry {
  return { timestamp, level: "info", category: "custom", type: "log", message };
}

/** An entry with distinct members, so that all lines differ; odd ones are not ASCII. */
function pinned(index: number, isOdd: boolean): TestEntry {
  return {
    ...plain(index, 1_795_183_200_000 + index * 100, `GET /orders/${index * 7919} took ${index % 400} ms\nby "api"`),
    level: LEVELS[index % 7] ?? "info",
    category: isOdd ? "größe" : "http",
    type: index % 3 === 0 ? "request" : `own-${index % 5}`,
    session: `ses_${(index * 48_271) % 2_147_483_647}`,
    traceId: isOdd ? `σ${index}` : `${index * index}`,
    data: {
      userId: index % 500,
      ratio: index / 7,
      route: "/orders/:id",
      ok: index % 2 === 0,
      nested: [{ a: null, deep: `Text ${isOdd ? "ÜBER" : "over"} ${index % 11}` }, -index, 1e-9],
    },
  };
}

const PINNED = {
  filter: "bc51091f8a89c672",
  blockFilter: "956bbf2b4e9f6ffe",
  summary: "20bc9e89b1d35d57",
  levels: "c91beaaa9cb9284c",
};

function sha256(blob: Uint8Array): string {
  return createHash("sha256").update(blob).digest("hex").slice(0, 16);
}

describe("encodeSegments", () => {
  it("returns every entry of the range once, with its seq, receipt and commit", () => {
    fc.assert(
      fc.property(batchLists, fc.nat(), fc.nat(), fc.nat({ max: 40 }), (batches, a, b, asOf) => {
        const source = slices(batches, 5);
        const all = source.flatMap((slice, at) =>
          (batches[at] ?? []).map((entry, index) => ({ slice, entry, seq: slice.firstSeq + index })),
        );
        const [from, to] = [a % all.length, b % all.length].sort((x, y) => x - y);
        const range = { firstSeq: 5 + (from ?? 0), lastSeq: 5 + (to ?? 0) };
        const segments = [...encodeSegments(PROJECT, source, range)];
        const decoded = segments.flatMap((segment) => decodeAll(segment, asOf)).sort((x, y) => x.seq - y.seq);
        expect(decoded).toEqual(
          all
            .filter(({ seq }) => seq >= range.firstSeq && seq <= range.lastSeq)
            .map(({ slice, entry, seq }) => ({
              seq,
              receivedAt: slice.receivedAt,
              visible: slice.commit <= asOf,
              line: lineOf(entry),
            })),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("records the metadata of a segment", () => {
    fc.assert(
      fc.property(batchLists, (batches) => {
        const source = slices(batches);
        const entries = batches.flat();
        const segments = [...encodeSegments(PROJECT, source, { firstSeq: 1, lastSeq: entries.length })];
        for (const segment of segments) {
          const held = decodeAll(segment).map(({ seq }) => ({ seq, entry: entries[seq - 1] ?? plain(0) }));
          const times = held.map(({ entry }) => entry.timestamp);
          const commits = held.map(({ seq }) => source.findLast(({ firstSeq }) => firstSeq <= seq)?.commit ?? 0);
          expect(segment).toMatchObject({
            projectId: PROJECT,
            firstSeq: 1,
            lastSeq: entries.length,
            count: held.length,
            minTimestamp: Math.min(...times),
            maxTimestamp: Math.max(...times),
            minCommit: Math.min(...commits),
            maxCommit: Math.max(...commits),
            levelMask: held.reduce((mask, { entry }) => mask | levelBit(entry.level), 0),
            categoryMask: held.reduce((mask, { entry }) => mask | categoryBit(entry.category), 0),
          });
          const summary = new Map<string, number>();
          for (const row of readSummary(segment.summary)) {
            const key = JSON.stringify([row.minute, row.level, row.category, row.type]);
            summary.set(key, (summary.get(key) ?? 0) + row.count);
          }
          const levels = new Map<string, number>();
          for (const { minute, level, count } of readLevelCounts(segment.levels))
            levels.set(`${minute} ${level}`, count);
          const counted = new Map<string, number>();
          const byLevel = new Map<string, number>();
          for (const { entry } of held) {
            const minute = Math.floor(entry.timestamp / 60_000);
            const severity = LEVELS.indexOf(entry.level);
            const key = JSON.stringify([minute, severity, entry.category, entry.type]);
            counted.set(key, (counted.get(key) ?? 0) + 1);
            byLevel.set(`${minute} ${severity}`, (byLevel.get(`${minute} ${severity}`) ?? 0) + 1);
          }
          expect(summary).toEqual(counted);
          expect(levels).toEqual(byLevel);
          for (const [block, unit] of unitsOf(segment, null)) {
            const own = held.slice(block.firstIndex, block.firstIndex + unit.count).map(({ entry }) => entry);
            expect(block.minTimestamp).toBe(Math.min(...own.map(({ timestamp }) => timestamp)));
            expect(block.maxTimestamp).toBe(Math.max(...own.map(({ timestamp }) => timestamp)));
            expect(block.levelMask).toBe(own.reduce((mask, { level }) => mask | levelBit(level), 0));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("returns equal output for equal input", () => {
    fc.assert(
      fc.property(batchLists, (batches) => {
        const range = { firstSeq: 1, lastSeq: batches.flat().length };
        const run = () => [...encodeSegments(PROJECT, slices(batches), range)];
        expect(run()).toEqual(run());
      }),
      { numRuns: 50 },
    );
  });

  it("cuts after 10,000 entries, batches too", () => {
    const batches = Array.from({ length: 21 }, (_, at) => Array.from({ length: 1000 }, (_, i) => plain(at * 1000 + i)));
    const segments = [...encodeSegments(PROJECT, slices(batches), { firstSeq: 501, lastSeq: 20_600 })];
    expect(segments.map(({ firstSeq, lastSeq, part, count }) => [firstSeq, lastSeq, part, count])).toEqual([
      [501, 10_500, 0, 10_000],
      [10_501, 20_500, 0, 10_000],
      [20_501, 20_600, 0, 100],
    ]);
    const decoded = segments.flatMap((segment) => decodeAll(segment));
    expect(decoded.map(({ seq }) => seq)).toEqual(Array.from({ length: 20_100 }, (_, index) => index + 501));
    expect(decoded[700]?.line).toBe(lineOf(plain(1200)));
  });

  it("keeps a summary small if every entry has a different type", () => {
    const batch = Array.from({ length: 9000 }, (_, index) => ({ ...plain(index), type: `${index}`.padStart(30, "x") }));
    const segments = [...encodeSegments(PROJECT, slices([batch]), { firstSeq: 1, lastSeq: 9000 })];
    for (const { summary } of segments) expect(summary.length).toBeLessThanOrEqual(SEGMENT_LIMITS.summaryBytes);
    const types = segments.flatMap(({ summary }) => [...readSummary(summary)].map(({ type }) => type));
    expect(new Set(types).size).toBe(9000);
  });

  it("separates late entries, so that the other segment spans a short time", () => {
    const day = 86_400_000;
    const batch = Array.from({ length: 1000 }, (_, index) =>
      plain(index, 1_795_183_200_000 + index - (index % 100 === 7 ? 5 * day : 0)),
    );
    const segments = [...encodeSegments(PROJECT, slices([batch]), { firstSeq: 1, lastSeq: 1000 })];
    expect(segments.map(({ part, count, firstSeq, lastSeq }) => [part, count, firstSeq, lastSeq])).toEqual([
      [0, 990, 1, 1000],
      [1, 10, 1, 1000],
    ]);
    expect(segments.map(({ minTimestamp, maxTimestamp }) => maxTimestamp - minTimestamp)).toEqual([999, 900]);
  });

  it("does not separate evenly spread entries", () => {
    const hour = 3_600_000;
    const batch = Array.from({ length: 200 }, (_, index) => plain(index, 1_795_183_200_000 + index * 2 * hour));
    expect([...encodeSegments(PROJECT, slices([batch]), { firstSeq: 1, lastSeq: 200 })]).toHaveLength(1);
  });

  it("writes the same filters and counts as stored segments have, so that queries hash alike", () => {
    const batches = Array.from({ length: 40 }, (_, at) =>
      Array.from({ length: 50 }, (_, i) => pinned(at * 50 + i, at % 10 === 9)),
    );
    const [segment] = encodeSegments(PROJECT, slices(batches), { firstSeq: 1, lastSeq: 2000 });
    if (segment === undefined) throw new Error("There is a segment.");
    const { filter, blockFilter, summary, levels } = segment;
    const hashes = { filter, blockFilter, summary, levels };
    expect(Object.fromEntries(Object.entries(hashes).map(([name, blob]) => [name, sha256(blob)]))).toEqual(PINNED);
  });

  it("rejects an entry whose time is not at the position that every line has it at", () => {
    const [{ body: _, ...rest } = { body: null }] = slices([[plain(0)]]);
    for (const line of [
      '{"message":"m","timestamp":"2026-11-20T14:04:05.678Z","level":"info","category":"custom","type":"log"}',
      '{"timestamp":"2026","level":"info","category":"custom","type":"log","message":"m"}',
    ]) {
      const batch = { firstSeq: 1, count: 1, commit: 1, receivedAt: 0, ...rest, body: new TextEncoder().encode(line) };
      expect(() => [...encodeSegments(PROJECT, [batch], { firstSeq: 1, lastSeq: 1 })]).toThrow(RangeError);
    }
  });

  it("rejects batches that lack an entry of the range", () => {
    const source = slices([[plain(0)], [plain(1)], [plain(2)]]);
    const encode = (batches: typeof source) => [...encodeSegments(PROJECT, batches, { firstSeq: 1, lastSeq: 3 })];
    expect(() => encode(source.filter((_, index) => index !== 1))).toThrow(RangeError);
    expect(() => encode(source.slice(0, 2))).toThrow(RangeError);
    expect(() => encode(source.flatMap((slice) => [slice, slice]))).toThrow(RangeError);
  });

  it("sets every category bit", () => {
    const batch = [...BUILT_IN_CATEGORIES, "own"].map((category, index) => ({ ...plain(index), category }));
    const [segment] = encodeSegments(PROJECT, slices([batch]), { firstSeq: 1, lastSeq: batch.length });
    expect(segment?.categoryMask).toBe(2 ** batch.length - 1);
  });
});

describe("a corrupt segment", () => {
  const entries = Array.from({ length: 1000 }, (_, index) => {
    const { timestamp, ...entry } = benchEntryAt(index, 1_795_183_200_000 + index);
    return { ...plain(index, Date.parse(timestamp)), message: entry.message, session: entry.session };
  });
  const [segment] = encodeSegments(PROJECT, slices([entries]), { firstSeq: 1, lastSeq: 1000 });
  if (segment === undefined) throw new Error("There is a segment.");
  const right = decodeAll(segment);

  it("is detected, whichever bit of its body is wrong", () => {
    fc.assert(
      fc.property(fc.nat({ max: segment.body.length * 8 - 1 }), (bit) => {
        const body = Uint8Array.from(segment.body);
        body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const outcome = attempt(() => decodeAll({ ...segment, body }));
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(CorruptSegment);
        // A bit that zstd ignores changes nothing.
        else expect(outcome).toEqual(right);
      }),
      { numRuns: 300 },
    );
  });

  it("is detected if its body or its batch table is truncated", () => {
    const cut = (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 1);
    expect(() => decodeAll({ ...segment, body: cut(segment.body) })).toThrow(CorruptSegment);
    expect(() => decodeAll({ ...segment, batchTable: cut(segment.batchTable) })).toThrow(CorruptSegment);
    expect(() => decodeAll({ ...segment, count: 999 })).toThrow(CorruptSegment);
  });

  it("is read block by block", () => {
    const blocks = readBlockIndex(segment);
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.reduce((sum, { lines }) => sum + lines, 0)).toBe(1000);
    expect(blocks.at(-1)?.end).toBe(segment.body.length);
  });
});

function attempt<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}
