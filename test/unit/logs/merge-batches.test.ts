import fc from "fast-check";
import { expect, test } from "vitest";
import { type Batch, decodeBlocks, decodeBody, encodeBody } from "../../../src/logs/batch.ts";
import { idHashesOf, mayContainIds } from "../../../src/logs/id-filter.ts";
import { buildBatch } from "../../../src/logs/ingest/build-batch.ts";
import { SharedRow } from "../../../src/logs/merge-batches.ts";
import { countsOf, idFiltersOf, mergeSummaries, readSummary } from "../../../src/logs/summary.ts";

const NOW = Date.UTC(2026, 10, 20);

const entry = fc.record({
  message: fc.string({ minLength: 1, unit: "binary" }),
  timestamp: fc.integer({ min: NOW - 300_000, max: NOW }),
  category: fc.constantFrom("custom", "http", "own", "\u0000"),
  session: fc.constantFrom("s1", "s2", "s3"),
  traceId: fc.uuid(),
});

function built(values: readonly object[]): Batch {
  const { batch } = buildBatch(values, { now: NOW, oldest: null });
  if (batch === null) throw new Error("No entry is valid.");
  return batch;
}

/** Batches that are plain or compressed. */
const batches = fc.array(
  fc.tuple(fc.array(entry, { minLength: 1, maxLength: 4 }), fc.boolean()).map(([values, isLong]) => {
    const all = isLong ? values.map((value) => ({ ...value, data: { pad: "x".repeat(600) } })) : values;
    return { values, batch: built([...all, ...(isLong ? all : [])]) };
  }),
  { minLength: 1, maxLength: 20 },
);

function merged(list: readonly Batch[]): Batch {
  const row = new SharedRow();
  for (const batch of list) {
    expect(SharedRow.mayShare(batch) && row.hasRoomFor(batch)).toBe(true);
    row.add(batch);
  }
  return row.merged();
}

const linesOf = ({ encoding, body }: Batch) => Buffer.from(decodeBody(encoding, body)).toString().split("\n");
const sorted = (packed: Uint8Array) => [...readSummary(packed)].map((row) => JSON.stringify(row)).sort();

test("issue 16, point 7: small batches of a group become one, with the same entries, counts and ids", () => {
  fc.assert(
    fc.property(batches, (list) => {
      const all = list.map(({ batch }) => batch);
      const one = merged(all);
      const lines = all.flatMap(linesOf);
      expect(linesOf(one)).toEqual(lines);
      expect(one.count).toBe(lines.length);
      expect(one.size).toBe(Buffer.byteLength(lines.join("\n")));
      // A block is valid until the next one is requested.
      let bytes = 0;
      for (const block of decodeBlocks(one.encoding, one.body)) bytes += block.length;
      expect(bytes).toBe(one.size);
      const times = lines.map((line) => Date.parse(JSON.parse(line).timestamp));
      expect([one.minTimestamp, one.maxTimestamp]).toEqual([Math.min(...times), Math.max(...times)]);
      const counts = new Map<string, number>();
      for (const { summary } of all) {
        for (const { count, ...row } of readSummary(summary)) {
          const key = JSON.stringify(row);
          counts.set(key, (counts.get(key) ?? 0) + count);
        }
      }
      const wanted = [...counts].map(([key, count]) => JSON.stringify({ ...JSON.parse(key), count })).sort();
      expect(sorted(one.summary)).toEqual(wanted);
      expect(sorted(countsOf(one.summary))).toEqual(wanted);
      for (const { values } of list) {
        for (const { session, traceId } of values) {
          expect(mayContainIds(idFiltersOf(one.summary), idHashesOf({ session, traceId }))).toBe(true);
        }
      }
      expect(idFiltersOf(one.summary)).toHaveLength(all.length);
    }),
    { numRuns: 200 },
  );
});

test("issue 16, point 7: ids of two requests in one row are not mistaken for ids of one entry", () => {
  const one = merged([
    built([{ message: "a", session: "s1", traceId: "t1" }]),
    built([{ message: "b", session: "s2", traceId: "t2" }]),
  ]);
  const may = (session: string, traceId: string) =>
    mayContainIds(idFiltersOf(one.summary), idHashesOf({ session, traceId }));
  expect([may("s1", "t1"), may("s2", "t2"), may("s1", "t2")]).toEqual([true, true, false]);
  // A batch of a version without filters may have any id.
  const plain = { ...built([{ message: "c" }]), summary: countsOf(one.summary) };
  expect(idFiltersOf(mergeSummaries([one.summary, plain.summary]))).toBeNull();
});

test("issue 16, point 7: large batches share no row, and a row has at most 1,000 entries and 128 KiB", () => {
  const noise = crypto.getRandomValues(new Uint8Array(20_000));
  expect(SharedRow.mayShare({ ...built([{ message: "m" }]), ...encodeBody(noise) })).toBe(false);
  const row = new SharedRow();
  const batch = built(Array.from({ length: 300 }, (_, i) => ({ message: `m${i}` })));
  let added = 0;
  for (; row.hasRoomFor(batch); added++) row.add(batch);
  expect(added).toBe(3);
});
