import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseRange, heldBytes, type UnflushedBatch } from "../../../src/workspace/flush/schedule.ts";

const LIMITS = { entries: 100, bytes: 1600, storedBytes: 300, batches: 10 };

/** Consecutive batches of one project. */
function batches(sizes: readonly { count: number; size: number }[], from = 1): UnflushedBatch[] {
  let firstSeq = from;
  return sizes.map(({ count, size }, index) => {
    firstSeq += count;
    return { commit: 10 + 2 * index, firstSeq: firstSeq - count, count, size, bodyBytes: Math.ceil(size / 2) };
  });
}

const of = (...counts: number[]) => batches(counts.map((count) => ({ count, size: 1 })));

describe("a range", () => {
  it("has as many whole batches as its bounds allow", () => {
    expect(chooseRange(of(50, 30, 20, 1), LIMITS)).toEqual({
      firstSeq: 1,
      lastSeq: 100,
      firstCommit: 10,
      lastCommit: 14,
    });
    expect(chooseRange(of(50, 51), LIMITS)).toMatchObject({ lastSeq: 50 });
    expect(chooseRange(of(...Array(12).fill(1)), LIMITS)).toMatchObject({ lastSeq: 10 });
    const large = batches([
      { count: 1, size: 599 },
      { count: 1, size: 2 },
    ]);
    expect(chooseRange(large, LIMITS)).toMatchObject({ lastSeq: 1 });
  });

  it("is one batch if that batch alone exceeds the bounds, and `null` without batches", () => {
    expect(chooseRange(of(1000, 1), LIMITS)).toMatchObject({ firstSeq: 1, lastSeq: 1000 });
    expect(chooseRange(batches([{ count: 1, size: 5000 }]), LIMITS)).toMatchObject({ lastSeq: 1 });
    expect(chooseRange([], LIMITS)).toBeNull();
  });

  it("ends before a gap", () => {
    const [first, , third] = of(5, 5, 5);
    if (!first || !third) throw new Error("three batches");
    expect(chooseRange([first, third], LIMITS)).toMatchObject({ firstSeq: 1, lastSeq: 5 });
    expect(chooseRange([third], LIMITS)).toMatchObject({ firstSeq: 11, lastSeq: 15 });
  });

  it("holds for any input: whole batches, within bounds, and as many as fit", () => {
    const part = fc.record({ count: fc.integer({ min: 1, max: 60 }), size: fc.integer({ min: 1, max: 400 }) });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 30 }), (parts) => {
        const all = batches(parts);
        const range = chooseRange(all, LIMITS);
        const taken = all.filter(({ firstSeq }) => range && firstSeq <= range.lastSeq);
        const within = (some: readonly UnflushedBatch[]) =>
          some.length <= LIMITS.batches &&
          some.reduce((sum, { count }) => sum + count, 0) <= LIMITS.entries &&
          some.reduce((sum, { size, bodyBytes }) => sum + heldBytes(size, bodyBytes), 0) <= LIMITS.bytes &&
          some.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0) <= LIMITS.storedBytes;
        const last = taken.at(-1);
        expect(range).toEqual({
          firstSeq: 1,
          lastSeq: (last?.firstSeq ?? 0) + (last?.count ?? 0) - 1,
          firstCommit: 10,
          lastCommit: last?.commit,
        });
        expect(taken.length === 1 || within(taken)).toBe(true);
        expect(taken.length === all.length || !within(all.slice(0, taken.length + 1))).toBe(true);
      }),
    );
  });
});
