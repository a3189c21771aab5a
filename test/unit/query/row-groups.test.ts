import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { runTable } from "../../../src/logs/stats/run-table.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { type FileRange, R2Files } from "../../../src/platform/bucket.ts";
import { MemoryBucket } from "../../support/bucket/memory-bucket.ts";
import { open } from "../segments/support.ts";
import { answered, type SegmentKind, type TestEntry, TestStore } from "./store.ts";

const PROJECT = "proj_00000000000a";
const START = 1_795_183_200_000;

const entryAt = (at: number, more: Partial<TestEntry> = {}): TestEntry => ({
  timestamp: START + at,
  level: "info",
  category: "custom",
  type: "log",
  message: `m${at}`,
  data: { at, text: "x".repeat(500) },
  ...more,
});

/** A store with as many segments of 20 entries each. */
function storeOf(segments: number, kind: SegmentKind): TestStore {
  const store = new TestStore(PROJECT);
  for (let segment = 0; segment < segments; segment++) {
    store.add(
      PROJECT,
      Array.from({ length: 20 }, (_, at) => entryAt(segment * 20 + at)),
    );
    store.flush(PROJECT, 1, kind);
  }
  return store;
}

/** The sources of a store, with the faults that a read reports and its rounds of the bucket. */
function spied(store: TestStore) {
  const faults: [message: string, entries: number][] = [];
  const rounds: (readonly FileRange[])[] = [];
  const source = store.stats(10);
  const readBodies = store.bodies(Number.POSITIVE_INFINITY);
  const readFiles = async (ranges: readonly FileRange[]) => {
    rounds.push(ranges);
    return ranges.map(({ key, start, end }) => {
      const bytes = store.files.get(key);
      return bytes ? new Uint8Array(bytes.subarray(start, end)) : null;
    });
  };
  const report = ({ message }: Error, entries: number) => faults.push([message, entries]);
  return { source: { ...source, cold: { ...source.cold, readBodies, readFiles }, report }, faults, rounds };
}

async function messagesOf(source: ReturnType<typeof spied>["source"], body: object): Promise<string[]> {
  const result = await runQuery(source, QueryBody.parse(body), () => 0);
  if (!result.ok) throw new Error(result.reason);
  return answered(result.page).logs.map(({ message }) => message);
}

describe("row groups of segment files", () => {
  it("16: costs its own entries alone if a file is missing, and is reported", async () => {
    const store = storeOf(3, "bucket");
    const [, second = ""] = store.files.keys();
    store.files.delete(second);
    for (const filters of [{}, { search: "m" }]) {
      const { source, faults } = spied(store);
      const seen = await messagesOf(source, { filters, pagination: { limit: 100 } });
      expect(seen).toHaveLength(40);
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.reduce((sum, [, entries]) => sum + entries, 0)).toBe(20);
      expect(faults[0]?.[0]).toBe(`Segment ${PROJECT}/21/0 is corrupt: its file is missing or too short.`);
    }
    const { source, faults } = spied(store);
    const counted = await runStats(source, HistogramBody.parse({ filters: { search: "m" }, interval: "1d" }));
    expect(counted).toMatchObject({ ok: true, answer: { total: 40 } });
    expect(faults.reduce((sum, [, entries]) => sum + entries, 0)).toBe(20);
  });

  it("16.3: a row group of which only lines are damaged is counted from its columns, and the lost entries are reported", async () => {
    const store = new TestStore(PROJECT);
    // The label of every fourth entry is only in its line, because it is an array.
    const labelOf = (at: number) => (at % 4 === 3 ? ["a", at] : "a");
    const entries = Array.from({ length: 40 }, (_, at) => entryAt(at, { data: { at, label: labelOf(at) } }));
    store.add(PROJECT, entries);
    store.flush(PROJECT, 1, "bucket", 20);
    const table = TableBody.parse({
      aggregations: [{ fn: "count", as: "n" }],
      groupBy: ["data.label"],
    });
    const { source, faults } = spied(store);
    const { readFiles } = source.cold;
    const [bytes] = store.files.values();
    if (bytes === undefined) throw new Error("There is a file.");
    const { reader } = open(new Uint8Array(bytes));
    const rest = reader.range(0, reader.restColumn);
    source.cold.readFiles = async (ranges) =>
      (await readFiles(ranges)).map((read, index) => {
        const at = rest.end - 2 - (ranges[index]?.start ?? 0);
        if (read && at >= 0 && at < read.length) read[at] = (read[at] ?? 0) ^ 255;
        return read;
      });
    const result = await runTable(source, table);
    expect(result).toMatchObject({ ok: true, answer: { matched: 35, scanned: 40, complete: true } });
    // The five arrays of the first row group.
    expect(faults.map(([, lost]) => lost)).toEqual([5]);
  });

  it("16.3: a file that ends before its footer says costs its own entries alone, and is reported", async () => {
    const store = storeOf(3, "bucket");
    const [, second = ""] = store.files.keys();
    const memory = new MemoryBucket();
    for (const [key, bytes] of store.files)
      await memory.put(key, new Uint8Array(key === second ? bytes.subarray(0, 30) : bytes));
    const bucket = new R2Files(memory.binding);
    for (const filters of [{}, { search: "m" }]) {
      const { source, faults } = spied(store);
      source.cold.readFiles = async (ranges) =>
        (await bucket.readRanges(ranges)).map((bytes) => bytes && new Uint8Array(bytes));
      expect(await messagesOf(source, { filters, pagination: { limit: 100 } })).toHaveLength(40);
      expect(faults.reduce((sum, [, entries]) => sum + entries, 0)).toBe(20);
    }
  });

  it("16: leaves out a file that is gone with its row", async () => {
    const store = storeOf(2, "bucket");
    store.files.clear();
    const { source, faults } = spied(store);
    const { readBodies } = source.cold;
    // The rows are deleted after their footers were read.
    source.cold.readBodies = async (id, ranges) =>
      ranges.some(({ footerBytes = 0 }) => footerBytes > 0) ? readBodies(id, ranges) : ranges.map(() => null);
    expect(await messagesOf(source, {})).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("16.2: takes footers that were read before from memory, also of a file that is gone with its row", async () => {
    const store = new TestStore(PROJECT);
    for (let segment = 0; segment < 3; segment++) {
      // Others than in all other tests.
      store.add(PROJECT, [entryAt(segment, { data: { own: randomBytes(8).toString("hex") } })]);
      store.flush(PROJECT, 1, "bucket");
    }
    const { source, faults } = spied(store);
    const { readBodies } = source.cold;
    let footers = 0;
    source.cold.readBodies = async (id, ranges) => {
      footers += ranges.filter(({ footerBytes = 0 }) => footerBytes > 0).length;
      return readBodies(id, ranges);
    };
    expect(await messagesOf(source, {})).toEqual(["m2", "m1", "m0"]);
    expect(footers).toBe(3);
    expect(await messagesOf(source, {})).toEqual(["m2", "m1", "m0"]);
    expect(footers).toBe(3);
    const [first = ""] = store.files.keys();
    store.files.delete(first);
    source.cold.readBodies = async (_, ranges) => ranges.map(() => null);
    expect(await messagesOf(source, {})).toEqual(["m2", "m1"]);
    expect(faults).toEqual([]);
  });

  it("16.2: reads the footer of a file once for all of its row groups, so that a count has few rounds for many files", async () => {
    const store = new TestStore(PROJECT);
    for (let segment = 0; segment < 12; segment++) {
      const entries = Array.from({ length: 100 }, (_, at) =>
        entryAt(segment * 100 + at, { data: { at, mark: at % 7 } }),
      );
      store.add(PROJECT, entries);
      store.flush(PROJECT, 1, "bucket");
    }
    const { source, rounds } = spied(store);
    const table = TableBody.parse({ aggregations: [{ fn: "count", as: "n" }], groupBy: ["data.mark"] });
    const result = await runTable(source, table);
    expect(result).toMatchObject({ ok: true, answer: { matched: 1200, complete: true } });
    // At most 256 of the 600 row groups are planned for one.
    expect(rounds.length).toBeLessThanOrEqual(4);
  });

  it.each(["inline", "bucket"] as const)("16: costs its own entries alone if a file is damaged (%s)", async (kind) => {
    const store = storeOf(2, kind);
    const { source, faults } = spied(store);
    const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => (index === at ? byte ^ 255 : byte));
    const { readBodies, readFiles } = source.cold;
    source.cold.readBodies = async (id, ranges) =>
      (await readBodies(id, ranges)).map((body, index) =>
        body && ranges[index]?.key.firstSeq === 1 ? { ...body, bytes: flipped(body.bytes, 40) } : body,
      );
    source.cold.readFiles = async (ranges) =>
      (await readFiles(ranges)).map((bytes, index) =>
        bytes && ranges[index]?.key.includes("/0000000000000001-") ? flipped(bytes, 40) : bytes,
      );
    const seen = await messagesOf(source, { filters: { search: "M" }, pagination: { limit: 100 } });
    expect(seen.length).toBeGreaterThanOrEqual(20);
    expect(seen.length).toBeLessThan(40);
    expect(faults.reduce((sum, [, entries]) => sum + entries, 0)).toBe(40 - seen.length);
  });

  it("16: reads a needle in many files in two rounds of the bucket", async () => {
    const store = storeOf(30, "bucket");
    const { source, rounds } = spied(store);
    const found = async (filters: object) => {
      rounds.length = 0;
      const seen = await messagesOf(source, { filters });
      return [seen, rounds.length];
    };
    expect(await found({ data: { at: 333 } })).toEqual([["m333"], 1]);
    expect(await found({ data: { at: { gte: 0, lt: 1 } } })).toEqual([["m0"], 1]);
    expect(await found({ data: { at: -1 } })).toEqual([[], 0]);
    // Nothing excludes a file, so each round reads more of them than the one before.
    const [seen, count] = await found({ search: "m0" });
    expect(seen).toEqual(["m0"]);
    expect(count).toBeLessThanOrEqual(8);
  });

  it("16: are counted from their lines if some of their entries were counted before they moved", async () => {
    const store = new TestStore(PROJECT);
    // More than what is read of a row group at once.
    for (let batch = 0; batch < 3; batch++) {
      store.add(PROJECT, [entryAt(batch, { data: { text: randomBytes(60_000).toString("hex"), at: batch } })]);
    }
    const { source } = spied(store);
    const pages = store.stats(1);
    let page = 0;
    store.beforePage = () => {
      if (++page === 2) store.flush(PROJECT, 3, "bucket");
    };
    const moving = { ...source, recent: pages.recent };
    const counted = await runStats(moving, HistogramBody.parse({ filters: { search: "m" }, interval: "1d" }));
    expect(counted).toMatchObject({ ok: true, answer: { total: 3, complete: true } });
    expect(page).toBeGreaterThan(1);
    expect(store.files.size).toBe(1);
  });

  it("16: puts together only the lines of a page", async () => {
    const store = new TestStore(PROJECT);
    store.add(
      PROJECT,
      Array.from({ length: 900 }, (_, at) => entryAt(at)),
    );
    store.flush(PROJECT, 1, "bucket");
    const { source, rounds } = spied(store);
    expect(await messagesOf(source, { pagination: { limit: 3 } })).toEqual(["m899", "m898", "m897"]);
    expect(await messagesOf(source, { order: "asc", pagination: { limit: 2 } })).toEqual(["m0", "m1"]);
    // Row groups have two entries.
    const bytes = rounds.flat().reduce((sum, { start, end }) => sum + end - start, 0);
    expect(bytes).toBeLessThan([...store.files.values()].reduce((sum, { length }) => sum + length, 0));
  });
});
