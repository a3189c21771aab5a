import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CATEGORY_TYPES, INGEST_LIMITS } from "../../../src/logs/entry.ts";
import { countsOf, idFiltersOf, readSummary, SummaryBuilder } from "../../../src/logs/summary.ts";
import { ByteReader, ByteWriter } from "../../../src/platform/varint.ts";

type Added = [timestamp: number, level: number, category: string, type: string];

const pairs: [string, string][] = Object.entries(CATEGORY_TYPES).flatMap(([category, types]) =>
  types.map((type): [string, string] => [category, type]),
);
const ownName = fc.constantFrom("custom", "own", "__proto__", "constructor", "漢字", "log", "http", "a".repeat(64));
const pair = fc.oneof(fc.constantFrom(...pairs), fc.tuple(ownName, ownName));
const timestamp = fc.oneof(
  fc.integer({ min: 1_795_000_000_000, max: 1_795_000_200_000 }),
  fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
);
const added: fc.Arbitrary<Added> = fc
  .tuple(timestamp, fc.nat(6), pair)
  .map(([time, level, [category, type]]) => [time, level, category, type]);

function counts(rows: Iterable<{ key: string; count: number }>): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { key, count } of rows) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}

describe("a summary", () => {
  test("returns the added counts by minute, level, category and type", () => {
    fc.assert(
      fc.property(fc.array(added, { maxLength: 200 }), (entries) => {
        const builder = new SummaryBuilder();
        for (const entry of entries) builder.add(...entry);
        const rows = [...readSummary(builder.pack())];
        const packed = rows.map((row) => ({
          key: JSON.stringify([row.minute, row.level, row.category, row.type]),
          count: row.count,
        }));
        const naive = entries.map(([time, level, category, type]) => ({
          key: JSON.stringify([Math.floor(time / 60_000), level, category, type]),
          count: 1,
        }));
        expect(counts(packed)).toEqual(counts(naive));
        // One row per kind, with rising minutes.
        expect(new Set(packed.map(({ key }) => key)).size).toBe(rows.length);
        expect(rows.map(({ minute }) => minute)).toEqual(rows.map(({ minute }) => minute).sort((a, b) => a - b));
      }),
    );
  });

  test("carries a filter of ids, which counting ignores and which can be removed", () => {
    fc.assert(
      fc.property(fc.array(added, { maxLength: 50 }), fc.uint8Array({ maxLength: 3000 }), (entries, ids) => {
        const builder = new SummaryBuilder();
        for (const entry of entries) builder.add(...entry);
        const plain = builder.pack();
        const carrying = builder.pack(ids);
        expect(idFiltersOf(carrying)).toEqual([ids]);
        expect([...readSummary(carrying)]).toEqual([...readSummary(plain)]);
        expect(new Uint8Array(countsOf(carrying))).toEqual(plain);
        expect(idFiltersOf(plain)).toBeNull();
        for (const end of [0, 1, 2, 3]) expect(idFiltersOf(carrying.subarray(0, end))?.[0]?.length ?? 0).toBe(0);
        expect(countsOf(plain)).toBe(plain);
      }),
    );
  });

  test("holds as many custom names as a batch can have", () => {
    const builder = new SummaryBuilder();
    for (let i = 0; i < INGEST_LIMITS.entries; i++) builder.add(i * 60_000, i % 7, `category ${i}`, `type ${i}`);
    const rows = [...readSummary(builder.pack())];
    expect(rows).toHaveLength(INGEST_LIMITS.entries);
    rows.forEach((row, i) => {
      expect(row).toEqual({ minute: i, level: i % 7, category: `category ${i}`, type: `type ${i}`, count: 1 });
    });
  });
});

describe("packed bytes", () => {
  const item = fc.oneof(
    fc.maxSafeNat().map((value) => ({ value })),
    fc.constantFrom(0, 127, 128, 16_383, 16_384, 2 ** 32, Number.MAX_SAFE_INTEGER).map((value) => ({ value })),
    fc.uint8Array({ maxLength: 300 }).map((blob) => ({ blob })),
  );

  test("are read as they were written", () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 60 }), (items) => {
        const writer = new ByteWriter();
        for (const each of items) "blob" in each ? writer.blob(each.blob) : writer.varint(each.value);
        const reader = new ByteReader(writer.toBytes());
        for (const each of items) {
          if ("blob" in each) expect(Buffer.from(reader.blob())).toEqual(Buffer.from(each.blob));
          else expect(reader.varint()).toBe(each.value);
        }
        expect(reader.done).toBe(true);
      }),
    );
  });

  test("are an error if they are truncated", () => {
    expect(() => new ByteReader(new Uint8Array([0x80])).varint()).toThrow(RangeError);
    expect(() => new ByteReader(new Uint8Array([5, 1, 2])).blob()).toThrow(RangeError);
    expect(() => new ByteReader(new Uint8Array([])).varint()).toThrow(RangeError);
  });

  test("can be overwritten from an earlier position", () => {
    const writer = new ByteWriter();
    writer.varint(7);
    const { length } = writer;
    writer.varint(2 ** 40);
    writer.length = length;
    writer.varint(9);
    expect([...writer.toBytes()]).toEqual([7, 9]);
  });
});
