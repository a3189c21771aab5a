import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { countLines, wholeLines } from "../../../src/logs/query/lines.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { entryAt, time } from "./arbitraries.ts";
import { answered, bodyOf, TestStore } from "./store.ts";

/** The same bytes cut at any positions, with empty pieces. */
function cutAt(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
}

describe("a body in pieces", () => {
  it("is returned as whole lines, wherever it is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "bcd", "x".repeat(40_000)), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat()),
        (lines, cuts) => {
          const body = Buffer.from(lines.join("\n"));
          // A piece is valid until the next one is requested.
          const pieces = Array.from(wholeLines(cutAt(body, cuts)), (piece) => Buffer.from(piece).toString("latin1"));
          expect(pieces.join("\n")).toBe(body.toString("latin1"));
          expect(pieces.reduce((sum, piece) => sum + countLines(piece, 0), 0)).toBe(lines.length);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("returns the passing entries, wherever it is cut", () => {
    const entries = fc.array(entryAt(time), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(entries, fc.nat(), fc.array(fc.nat(), { maxLength: 4 }), (batch, chosen, cuts) => {
        const { session, traceId } = batch[chosen % batch.length] ?? {};
        const ids = { ...(session ? { session } : {}), ...(traceId ? { traceId } : {}) };
        const matcher = new BatchMatcher(QueryBody.parse({ filters: ids }).filter);
        const found = (pieces: Iterable<Uint8Array>) => {
          const indexes: number[] = [];
          const steps = matcher.steps(
            pieces,
            () => true,
            ({ index }) => indexes.push(index),
            () => expect.fail("All lines are entries."),
          );
          for (const _ of steps);
          return indexes;
        };
        const whole = found([bodyOf(batch)]);
        expect(whole).toContain(chosen % batch.length);
        expect(found(wholeLines(cutAt(bodyOf(batch), cuts)))).toEqual(whole);
      }),
    );
  });

  it("returns an entry that spans two pieces, and counts skipped lines as scanned", async () => {
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
    // Pieces have 128 KiB and lines about 430 bytes, so that some ids are cut.
    store.add(
      project,
      list((index) => `${index}-${"x".repeat(90)}`),
    );
    // The id filters exclude the second and third batch; the fourth one has no filter.
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
      expect(result.ok && answered(result.page).logs.map(({ seq }) => seq)).toEqual([index + 1]);
    }
  });
});
