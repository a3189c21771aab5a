import type { TokenTable } from "../../../src/logs/cold/filter/token-table.ts";

/** All that a table holds, in an order of its own: tokens, and pairs of token and frame. */
export function tokensOf(table: TokenTable): { all: string[]; pairs: string[] } {
  const all: string[] = [];
  const pairs: string[] = [];
  table.forEach((a, b) => {
    all.push(`${a} ${b}`);
  });
  table.forEachPair((a, b, block) => {
    pairs.push(`${a} ${b} ${block}`);
  });
  return { all: all.sort(), pairs: pairs.sort() };
}
