import { expect, test } from "vitest";
import { missingEntries } from "../../../src/logs/cold/store/missing-ranges.ts";

const RANGES = Array.from({ length: 5 }, (_, at) => ({ firstSeq: 20 * at + 1, lastSeq: 20 * at + 20, isWhole: true }));
type Cover = { firstSeq: number; lastSeq: number; entries: number };

/** Counts what is missing of five ranges of 20 entries, two records a page. @param covers segments in the catalog */
function missing(covers: Cover[], range = { after: 0, until: 100 }): Promise<number> {
  const tier = {
    covers: async (_: string, __: string, { from, to }: { from: number; to: number }) =>
      covers.filter(({ firstSeq, lastSeq }) => firstSeq <= to && lastSeq >= from),
  };
  const records = async (after: number) => ({
    ranges: RANGES.filter(({ firstSeq }) => firstSeq > after).slice(0, 2),
  });
  return missingEntries(tier, "ws", "proj", records, range);
}

const whole = (at: number): Cover => ({ firstSeq: 20 * at + 1, lastSeq: 20 * at + 20, entries: 20 });

test("entries of a range are counted as missing by page, within the range that is asked for", async () => {
  const all = [0, 1, 2, 3, 4].map(whole);
  expect(await missing(all)).toBe(0);
  const lossy = [whole(0), { ...whole(1), entries: 15 }, whole(4)];
  expect(await missing(lossy)).toBe(45);
  expect(await missing(lossy, { after: 50, until: 100 })).toBe(30);
  expect(await missing(lossy, { after: 0, until: 50 })).toBe(15);
  expect(await missing(lossy, { after: 80, until: 100 })).toBe(0);
});

test("the records far before a range are not read", async () => {
  const asked: number[] = [];
  const records = async (after: number) => {
    asked.push(after);
    return after < 4_900_000 ? { ranges: [{ firstSeq: 4_900_001, lastSeq: 5_000_020, isWhole: true }] } : null;
  };
  const range = { after: 5_000_000, until: 5_000_020 };
  expect(await missingEntries({ covers: async () => [] }, "ws", "proj", records, range)).toBe(20);
  expect(asked[0]).toBe(4_000_000);
});

test("a loss that a merge has spread over several ranges is not 0", async () => {
  const merged = [{ firstSeq: 1, lastSeq: 40, entries: 30 }, whole(2), whole(3), whole(4)];
  expect(await missing(merged)).toBeGreaterThan(0);
  expect(await missing(merged, { after: 40, until: 100 })).toBe(0);
});
