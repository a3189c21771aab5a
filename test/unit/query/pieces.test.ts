import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { isInPieces } from "../../../src/logs/query/needles.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { entryAt, time } from "./arbitraries.ts";
import { bodyOf, TestStore } from "./store.ts";

/** Of two different bytes, so that what is looked for is often there, or nearly. */
const bytes = (constraints: fc.ArrayConstraints) =>
  fc.array(fc.constantFrom(97, 98), constraints).map((list) => Buffer.from(list));

/** The same bytes cut at any places, empty pieces included. */
function cutAt(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
}

describe("a body in pieces", () => {
  it("holds what it holds in one, wherever it is cut", () => {
    fc.assert(
      fc.property(
        bytes({ maxLength: 40 }),
        bytes({ minLength: 1, maxLength: 6 }),
        fc.array(fc.nat()),
        (body, wanted, cuts) => {
          expect(isInPieces(wanted, cutAt(body, cuts))).toBe(body.includes(wanted));
        },
      ),
      { numRuns: 5000 },
    );
  });

  it("is passed over only where no entry of it can pass", () => {
    const entries = fc.array(entryAt(time), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(entries, fc.nat(), fc.array(fc.nat(), { maxLength: 4 }), (batch, chosen, cuts) => {
        const { session, traceId } = batch[chosen % batch.length] ?? {};
        const ids = { ...(session ? { session } : {}), ...(traceId ? { traceId } : {}) };
        const matcher = new BatchMatcher(QueryBody.parse({ filters: ids }).filter);
        expect(matcher.mayMatch(cutAt(bodyOf(batch), cuts))).toBe(true);
        const other = new BatchMatcher(QueryBody.parse({ filters: { traceId: "of-no-entry" } }).filter);
        expect(other.mayMatch(cutAt(bodyOf(batch), cuts))).toBe(false);
      }),
    );
  });

  it("gives an entry that lies across two pieces, and counts what was passed over as looked through", async () => {
    const store = new TestStore();
    const project = "proj_00000000000a";
    const list = (traceId: (index: number) => string) =>
      Array.from({ length: 1000 }, (_, index) => ({
        timestamp: 1_800_000_000_000 + index,
        level: "info" as const,
        category: "custom",
        type: "log",
        message: "m".repeat(300),
        traceId: traceId(index),
      }));
    // Pieces are of 128 KiB, lines of about 430 bytes: the ids are long enough for some to be cut.
    store.add(
      project,
      list((index) => `${index}-${"x".repeat(90)}`),
    );
    // The second and the third are told by their filters; the fourth one has none.
    for (let batch = 2; batch <= 4; batch++) {
      store.add(
        project,
        list(() => "other"),
      );
    }
    for (const index of [0, 304, 305, 306, 609, 610, 611, 999]) {
      const query = QueryBody.parse({ filters: { traceId: `${index}-${"x".repeat(90)}` } });
      const result = await runQuery(store.logs(5), query, () => 0);
      expect(result).toMatchObject({ ok: true, page: { complete: true, stats: { scanned: 2000 } } });
      expect(result.ok && result.page.logs.map(({ seq }) => seq)).toEqual([index + 1]);
    }
  });
});
