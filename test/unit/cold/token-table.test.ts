import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenTable } from "../../../src/logs/cold/filter/token-table.ts";
import { tokensOf } from "./tokens-of.ts";

const half = fc.oneof(fc.constantFrom(0, 1, 0xffffffff), fc.integer({ min: 0, max: 0xffffffff }));
const hashes = fc.array(fc.tuple(half, half), { maxLength: 1500 });

describe("TokenTable", () => {
  it("holds each token once, with each block that it was added in", () => {
    fc.assert(
      fc.property(fc.array(hashes, { maxLength: 4 }), hashes, (blocks, often) => {
        const table = new TokenTable();
        const pairs = new Set<string>();
        blocks.forEach((own, block) => {
          for (const [a, b] of [...own, ...often, ...own]) {
            // Also as signed numbers, because a hash has 32 bits.
            table.add(a | 0, b);
            pairs.add(`${a} ${b} ${block}`);
          }
          table.closeBlock();
        });
        const all = new Set([...pairs].map((pair) => pair.replace(/ \d+$/, "")));
        expect(tokensOf(table)).toEqual({ all: [...all].sort(), pairs: [...pairs].sort() });
        expect(table.size).toBe(all.size);
        expect(table.pairCount).toBe(pairs.size);
      }),
      { numRuns: 60 },
    );
  });

  it("is full and has infinite size if no filter could hold its tokens", () => {
    const table = new TokenTable();
    for (let a = 1; a < 80_000; a++) table.add(a, a * 7);
    table.add(1, 7);
    expect(table.size).toBe(79_999);
    for (let a = 80_000; a < 90_000; a++) table.add(a, 1);
    expect(table.size).toBe(Number.POSITIVE_INFINITY);
    expect(table.pairCount).toBe(Number.POSITIVE_INFINITY);
  });
});
