import type { TokenTable } from "../../../src/logs/cold/filter/token-table.ts";

/** The tokens of a table, sorted. */
export function tokensOf(table: TokenTable): string[] {
  const all: string[] = [];
  table.forEach((a, b) => {
    all.push(`${a} ${b}`);
  });
  return all.sort();
}
