import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { OPEN_FILTER } from "../../../src/logs/query/filter.ts";
import { readCold } from "../../../src/tail/cold-range.ts";
import { entriesOf, type SeqEntry } from "../../../src/tail/frames.ts";
import { entryAt, time } from "../query/arbitraries.ts";
import { SEGMENT_KINDS, TestStore } from "../query/store.ts";

const PROJECT = "proj_00000000000a";

describe("the cold tier by seq", () => {
  it("16: gives every entry once and in order, whatever the kinds of segments and the steps", async () => {
    const batch = fc.record({
      entries: fc.array(entryAt(time), { minLength: 1, maxLength: 5 }),
      kind: fc.constantFrom(...SEGMENT_KINDS),
      isLastOfRange: fc.boolean(),
    });
    const range = fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 30 }));
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 10 }), range, async (batches, [after, length]) => {
        const store = new TestStore();
        for (const { entries, kind, isLastOfRange } of batches) {
          store.add(PROJECT, entries);
          if (isLastOfRange) store.flush(PROJECT, batches.length, kind);
        }
        store.flush(PROJECT, batches.length, batches[0]?.kind);
        const until = Math.min(store.rows.length, after + length);
        const report = (fault: Error) => {
          throw fault;
        };
        const scope = { workspaceId: store.scope, projectId: PROJECT, report };
        const seen: SeqEntry[] = [];
        for (let at = after; at < until; ) {
          const { units, through } = await readCold(store.cold(), scope, { after: at, until });
          expect(through).toBeGreaterThan(at);
          expect(through).toBeLessThanOrEqual(until);
          const wanted = { after: at, until: through };
          seen.push(...entriesOf(units, new BatchMatcher(OPEN_FILTER), PROJECT, wanted, report));
          at = through;
        }
        const wanted = store.rows.filter(({ seq }) => seq > after && seq <= until);
        expect(seen.map(({ seq, text }) => [seq, JSON.parse(text).message])).toEqual(
          wanted.map(({ seq, entry }) => [seq, entry.message]),
        );
      }),
      { numRuns: 300 },
    );
  });
});
