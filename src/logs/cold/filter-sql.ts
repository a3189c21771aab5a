import { type Probe, probesOf } from "./bloom.ts";
import { toHex } from "./hex.ts";
import type { TokenTest } from "./tokens.ts";

/**
 * A filter's test as SQL, so that filters never leave D1: `instr` looks for the filter's byte among the 128 bytes that
 * have the wanted bit. A segment without the token fails at the first or second probe.
 */

/** Tokens of one statement: it stays far below D1's 100 KB, and each further one tells less. */
const MAX_TOKENS = 64;

/** What `?1` to `?8` of a statement with a filter condition stand for: the bytes that have bit 0, 1 ... 7. */
export const BIT_TABLES: readonly string[] = Array.from({ length: 8 }, (_, bit) =>
  toHex(Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte & (1 << bit)) !== 0)),
);

/** A condition on the columns `filter_kinds` and `filter`; null where the tests cannot tell anything. */
export function filterCondition(tests: readonly TokenTest[]): string | null {
  const conditions: string[] = [];
  let tokens = 0;
  for (const { kind, anyOf } of tests) {
    tokens += anyOf.length;
    if (tokens > MAX_TOKENS) break;
    const held = anyOf.map(({ a, b }) => joined("AND", probesOf(a, b).map(probeSql)));
    conditions.push(`((filter_kinds & ${kind}) = 0 OR ${joined("OR", held)})`);
  }
  return conditions.length === 0 ? null : joined("AND", conditions);
}

function probeSql({ place, bit }: Probe): string {
  return `instr(unhex(?${bit + 1}), substr(filter, 1 + ((${place} * length(filter)) >> 32), 1))`;
}

/** Put together in halves: D1 takes expressions of depth 100. */
function joined(operator: "AND" | "OR", parts: readonly string[]): string {
  const [only] = parts;
  if (parts.length <= 1) return only ?? "";
  const half = parts.length >> 1;
  return `(${joined(operator, parts.slice(0, half))} ${operator} ${joined(operator, parts.slice(half))})`;
}
