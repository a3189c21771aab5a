import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PARTS } from "../../../src/logs/cold/compaction/policy.ts";
import {
  chooseRanges,
  type FileFacts,
  hasQuarantined,
  rangesOfFiles,
} from "../../../src/logs/cold/recovery/choose-files.ts";

function file(firstSeq: number, lastSeq: number, more: Partial<FileFacts> = {}): FileFacts {
  const { part = 0, encoder = 1 } = more;
  return {
    key: `${firstSeq}-${part}-${encoder}`,
    firstSeq,
    part,
    lastSeq,
    count: lastSeq - firstSeq + 1,
    encoder,
    ...more,
  };
}

const keysOf = (files: readonly FileFacts[]) =>
  chooseRanges(rangesOfFiles(files)).flatMap((range) => range.files.map(({ key }) => key));

describe("the files for a catalog", () => {
  it("are all parts of a range", () => {
    const parts = [file(1, 10, { count: 8 }), file(1, 4, { part: 1, count: 2 })];
    expect(rangesOfFiles(parts)).toMatchObject([{ firstSeq: 1, lastSeq: 10, count: 10, level: 0 }]);
    expect(keysOf(parts)).toEqual(["1-0-1", "1-1-1"]);
  });

  it("are those of a compaction rather than those that it replaced", () => {
    const flushed = [file(1, 10), file(11, 20), file(21, 30)];
    expect(keysOf([...flushed, file(1, 20, { part: PARTS })])).toEqual([`1-${PARTS}-1`, "21-0-1"]);
    const later = file(1, 30, { part: 2 * PARTS });
    expect(keysOf([...flushed, file(1, 20, { part: PARTS }), later])).toEqual([`1-${2 * PARTS}-1`]);
  });

  it("are those that it replaced if a part of the compaction is missing", () => {
    const merged = file(1, 20, { part: PARTS, count: 15 });
    expect(keysOf([file(1, 10), file(11, 20), merged])).toEqual(["1-0-1", "11-0-1"]);
  });

  it("are of one encoder in a range that two have written", () => {
    const first = [file(1, 10), file(11, 20)];
    const second = [file(1, 8, { encoder: 2 }), file(9, 20, { encoder: 2 })];
    expect(new Set(keysOf([...first, ...second]).map((key) => key.at(-1))).size).toBe(1);
    expect(keysOf([...first, second[0] as FileFacts])).toEqual(["1-0-1", "11-0-1"]);
  });

  it("16.3: are of one attempt at a range that ended elsewhere after a batch was quarantined", () => {
    const before = [file(1, 100, { key: "whole" })];
    const after = [file(1, 60, { key: "begin" }), file(71, 100, { key: "end" })];
    const quarantined = [{ firstSeq: 61, count: 10 }];
    for (const files of [
      [...before, ...after],
      [...after, ...before],
    ]) {
      const ranges = rangesOfFiles(files).filter((range) => !hasQuarantined(range, quarantined));
      expect(chooseRanges(ranges).flatMap((range) => range.files.map(({ key }) => key))).toEqual(["begin", "end"]);
      // Once the batch has expired, its entries are in no other place.
      expect(keysOf(files)).toEqual(["whole"]);
    }
    // A merged file may reach over a quarantined batch that it does not have.
    expect(
      rangesOfFiles([file(1, 100, { part: PARTS, count: 90 })]).some((range) => hasQuarantined(range, quarantined)),
    ).toBe(false);
    // Attempts with parts: those that have every entry of their range.
    const parts = [
      file(1, 100, { count: 97, key: "a0" }),
      file(1, 40, { part: 1, count: 3, key: "a1" }),
      file(1, 60, { count: 60, key: "b0" }),
    ];
    expect(rangesOfFiles(parts).map((range) => range.files.map(({ key }) => key))).toEqual([["a0", "a1"], ["b0"]]);
  });

  it("never overlap, and have the most entries of all choices", () => {
    const arbitrary = fc.record({
      from: fc.integer({ min: 1, max: 12 }),
      length: fc.integer({ min: 1, max: 6 }),
      lost: fc.integer({ min: 0, max: 2 }),
      level: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 9 }), (list) => {
        const files = list.map(({ from, length, lost, level }, index) => {
          const part = level * PARTS;
          return file(from, from + length - 1, { part, encoder: index, count: Math.max(1, length - lost) });
        });
        const groups = rangesOfFiles(files);
        const chosen = chooseRanges(groups);
        for (const [index, range] of chosen.entries()) {
          expect(range.firstSeq).toBeGreaterThan(chosen[index - 1]?.lastSeq ?? 0);
        }
        let most = 0;
        for (let mask = 0; mask < 1 << groups.length; mask++) {
          const some = groups.filter((_, index) => mask & (1 << index)).sort((a, b) => a.firstSeq - b.firstSeq);
          if (some.some((range, index) => range.firstSeq <= (some[index - 1]?.lastSeq ?? 0))) continue;
          most = Math.max(
            most,
            some.reduce((sum, { count }) => sum + count, 0),
          );
        }
        expect(chosen.reduce((sum, { count }) => sum + count, 0)).toBe(most);
      }),
      { numRuns: 200 },
    );
  });
});
