import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NearestEntries } from "../../../src/tail/context.ts";

const entries = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 })), { maxLength: 60 });

describe("the nearest entries", () => {
  it("are kept in order, without gaps and within the bound, in any order of arrival", () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 200 }), (sent, seq, most) => {
        const sizes = new Map(sent.map(([at]) => [at, (at % 9) + 1]));
        const nearest = new NearestEntries(seq, most);
        for (const [at] of sent) nearest.add({ seq: at, text: "x".repeat(sizes.get(at) ?? 0) });
        const kept = nearest.entries();
        const distance = Math.max(-1, ...kept.map((entry) => Math.abs(entry.seq - seq)));
        const within = [...sizes.keys()].filter((at) => Math.abs(at - seq) <= distance).sort((a, b) => a - b);
        expect(kept.map((entry) => entry.seq)).toEqual(within);
        const characters = kept.reduce((sum, { text }) => sum + text.length, 0);
        expect(characters <= most || kept.length === 1).toBe(true);
        expect(nearest.isCut).toBe(kept.length < sizes.size);
      }),
    );
  });
});
