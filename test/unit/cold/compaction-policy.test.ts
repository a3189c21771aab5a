import { describe, expect, test } from "vitest";
import {
  type Candidate,
  chooseMerge,
  compactionLimits,
  GOAL_ENTRIES,
  partOf,
} from "../../../src/logs/cold/compaction/policy.ts";

const LIMITS = compactionLimits(30, true);
const MINUTE = 60_000;

/** A candidate of a number of entries, a minute long. */
function candidate(firstSeq: number, count: number, more: Partial<Candidate> = {}): Candidate {
  return {
    firstSeq,
    lastSeq: firstSeq + count - 1,
    part: 0,
    count,
    minTimestamp: firstSeq,
    maxTimestamp: firstSeq + MINUTE,
    fileBytes: count * 29,
    footerBytes: 4000,
    levelsBytes: 20,
    summaryBytes: 200,
    isFile: true,
    ...more,
  };
}

/** Consecutive candidates of these sizes. */
function ranges(...counts: number[]): Candidate[] {
  let next = 1;
  return counts.map((count) => {
    const made = candidate(next, count);
    next += count;
    return made;
  });
}

describe("the choice of segments to merge", () => {
  test("takes the oldest ranges together that reach the goal, once the next one does not fit", () => {
    const full = ranges(...new Array(25).fill(10_000));
    expect(chooseMerge(full, LIMITS, 0)).toEqual({ merge: null, doneSeq: 0 });
    const more = ranges(...new Array(26).fill(10_000));
    expect(chooseMerge(more, LIMITS, 0)).toEqual({ merge: more.slice(0, 25), doneSeq: 0 });
  });

  test("leaves a range that is large enough, and continues behind it", () => {
    const found = chooseMerge(ranges(GOAL_ENTRIES, 200_000, 100_000, 100_000, 60_000), LIMITS, 0);
    expect(found.merge?.map(({ count }) => count)).toEqual([100_000, 100_000]);
    expect(found.doneSeq).toBe(450_000);
  });

  test("16.6: never merges over a gap, which a recovery or another database may fill", () => {
    const small = ranges(...new Array(40).fill(400));
    const gapped = small.filter((_, at) => at !== 20);
    expect(chooseMerge(gapped, LIMITS, 0)).toEqual({ merge: small.slice(0, 20), doneSeq: 0 });
    const [merged, rest] = [candidate(1, 8000), small.slice(21)];
    expect(chooseMerge([merged, ...rest], LIMITS, 0)).toEqual({ merge: null, doneSeq: 8000 });
    // Once it is filled, what is left is merged with what follows.
    expect(chooseMerge(small.slice(20), LIMITS, 8000)).toEqual({ merge: null, doneSeq: 8000 });
  });

  test("merges 32 small ranges before the goal, and those larger ones again only when they are 32", () => {
    const small = ranges(...new Array(31).fill(400));
    expect(chooseMerge(small, LIMITS, 0).merge).toBeNull();
    expect(chooseMerge(ranges(...new Array(32).fill(400)), LIMITS, 0).merge).toHaveLength(32);
    const grown = ranges(12_800, ...new Array(32).fill(400));
    expect(chooseMerge(grown, LIMITS, 0).merge).toHaveLength(32);
    expect(chooseMerge(grown.slice(0, 32), LIMITS, 0).merge).toBeNull();
  });

  test("rewrites each entry about twice, whatever the size of its ranges", () => {
    for (const size of [10, 150, 1000, 7000, 10_000]) {
      let segments: Candidate[] = [];
      let [next, written, done] = [1, 0, 0];
      for (let flushes = 0; flushes < 3000; flushes++) {
        const made = candidate(next, size, { minTimestamp: 0, maxTimestamp: 1, summaryBytes: 1, footerBytes: 300 });
        segments.push(made);
        next += size;
        for (;;) {
          const { merge, doneSeq } = chooseMerge(
            segments.filter(({ firstSeq }) => firstSeq > done),
            LIMITS,
            done,
          );
          done = doneSeq;
          if (merge === null) break;
          const count = merge.reduce((sum, own) => sum + own.count, 0);
          written += count;
          const merged = { ...candidate(merge[0]?.firstSeq ?? 0, count), minTimestamp: 0, maxTimestamp: 1, part: 16 };
          segments = [
            ...segments.filter((own) => !merge.includes(own)),
            { ...merged, summaryBytes: 1, footerBytes: 300 },
          ];
          segments.sort((a, b) => a.firstSeq - b.firstSeq);
        }
      }
      expect(segments.reduce((sum, { count }) => sum + count, 0)).toBe(size * 3000);
      expect(written / (size * 3000)).toBeLessThan(2.6);
      expect(segments.length).toBeLessThan(150);
    }
  });

  test("keeps the parts of a range together, and merges them part by part", () => {
    const parts = ranges(...new Array(26).fill(10_000)).flatMap((main, index) =>
      index % 10 === 3
        ? [
            { ...main, count: 9990 },
            { ...main, part: 1, count: 10, minTimestamp: 0 },
          ]
        : [main],
    );
    const { merge } = chooseMerge(parts, LIMITS, 0);
    expect(merge?.filter((own) => partOf(own) === 1)).toHaveLength(3);
    expect(merge?.at(-1)?.lastSeq).toBe(250_000);
  });

  test("ends a segment before it spans more than a tenth of the retention, or its row becomes too large", () => {
    const days = ranges(...new Array(10).fill(5000)).map((own, day) => ({
      ...own,
      minTimestamp: day * 86_400_000,
      maxTimestamp: day * 86_400_000 + MINUTE,
    }));
    expect(chooseMerge(days, LIMITS, 0).merge).toHaveLength(3);
    const wide = ranges(...new Array(10).fill(5000)).map((own) => ({ ...own, summaryBytes: 20_000 }));
    expect(chooseMerge(wide, LIMITS, 0).merge).toHaveLength(3);
    // Without a bucket the file is in its row.
    const inRow = chooseMerge(ranges(...new Array(10).fill(5000)), compactionLimits(30, false), 0);
    expect(inRow.merge).toHaveLength(4);
  });

  test("rewrites blocks of lines without waiting for the goal", () => {
    const old = ranges(10_000, 10_000).map((own) => ({ ...own, isFile: false }));
    expect(chooseMerge(old, LIMITS, 0).merge).toHaveLength(2);
    expect(chooseMerge(old.slice(0, 1), LIMITS, 0).merge).toHaveLength(1);
  });
});
