import type { TokenTable } from "../../../src/logs/cold/filter/token-table.ts";

/** The content of a table, sorted: tokens, and pairs of token and block. */
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
