import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenTable } from "../../../src/logs/cold/filter/token-table.ts";
import { tokensOf } from "./tokens-of.ts";

const half = fc.oneof(fc.constantFrom(0, 1, 0xffffffff), fc.integer({ min: 0, max: 0xffffffff }));
const hashes = fc.array(fc.tuple(half, half), { maxLength: 1500 });

describe("TokenTable", () => {
  it("holds each token once", () => {
    fc.assert(
      fc.property(hashes, hashes, (first, second) => {
        const table = new TokenTable();
        const all = new Set<string>();
        for (const [a, b] of [...first, ...second, ...first]) {
          // Also as signed numbers, because a hash has 32 bits.
          table.add(a | 0, b);
          all.add(`${a} ${b}`);
        }
        expect(tokensOf(table)).toEqual([...all].sort());
        expect(table.size).toBe(all.size);
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
  });
});
