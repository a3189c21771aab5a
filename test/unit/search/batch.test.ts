import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SEARCH_BUDGET } from "../../../src/logs/query/budget.ts";
import { BatchShares, MAX_QUERIES } from "../../../src/logs/search/batch.ts";

describe("BatchShares", () => {
  it("gives each query an equal part of what is left, and all of them together no more than one search has", () => {
    const spent = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
      {
        minLength: 1,
        maxLength: MAX_QUERIES,
      },
    );
    fc.assert(
      fc.property(spent, (queries) => {
        const shares = new BatchShares(SEARCH_BUDGET, queries.length);
        let [work, bytes] = [0, 0];
        for (const [at, [ofWork, ofBytes]] of queries.entries()) {
          const next = shares.next();
          const left = queries.length - at;
          expect(next.work).toBe(Math.floor((SEARCH_BUDGET.work - work) / left));
          expect(next.answerBytes).toBe(Math.floor((SEARCH_BUDGET.answerBytes - bytes) / left));
          const used = [Math.floor(next.work * ofWork), Math.floor(next.answerBytes * ofBytes)] as const;
          shares.used(...used);
          work += used[0];
          bytes += used[1];
        }
        expect(work).toBeLessThanOrEqual(SEARCH_BUDGET.work);
        expect(bytes).toBeLessThanOrEqual(SEARCH_BUDGET.answerBytes);
      }),
    );
  });

  it("leaves nothing to queries after one that exceeded its share", () => {
    const shares = new BatchShares(SEARCH_BUDGET, 2);
    expect(shares.isSpent).toBe(false);
    shares.used(2 * SEARCH_BUDGET.work, 2 * SEARCH_BUDGET.answerBytes);
    expect(shares.next()).toMatchObject({ work: 0, answerBytes: 0 });
    expect(shares.isSpent).toBe(true);
  });
});
