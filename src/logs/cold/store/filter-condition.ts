import { type Probe, probesOf } from "../filter/bloom.ts";
import type { TokenTest } from "../filter/token-tests.ts";
import type { TokenHash } from "../filter/tokens.ts";
import { toHex } from "./hex.ts";

/**
 * Tests the filters of segments. The test is SQL, so that filters never leave D1: `instr` searches the filter's byte among the
 * 128 bytes that have the wanted bit. A segment without the token fails at the first or second probe.
 */

/** Maximum number of tokens in a statement. It stays far below D1's 100 KB, and each further token excludes less. */
const MAX_TOKENS = 64;

/** The values of `?1` to `?8` in a statement with a filter condition: the bytes that have bit 0, 1 ... 7. */
export const BIT_TABLES: readonly string[] = Array.from({ length: 8 }, (_, bit) =>
  toHex(Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte & (1 << bit)) !== 0)),
);

/** Returns a condition on the columns `filter_kinds` and `filter`; `null` if the tests exclude nothing. */
export function filterCondition(tests: readonly TokenTest[]): string | null {
  const conditions: string[] = [];
  let tokens = 0;
  for (const test of tests) {
    const branches = branchesOf(test);
    tokens += branches.reduce((sum, { anyOf }) => sum + anyOf.length, 0);
    if (tokens > MAX_TOKENS) break;
    if (branches.length > 0) conditions.push(`(CASE ${branches.map(branchSql).join(" ")} ELSE 1 END)`);
  }
  return conditions.length === 0 ? null : joined("AND", conditions);
}

/** Tokens of a test for filters that have all of one of these sums of kinds. */
interface Branch {
  kinds: readonly number[];
  anyOf: readonly TokenHash[];
}

/** Grams, and an id without capitals, have the same tokens in both forms. */
function branchesOf({ folded, exact }: TokenTest): Branch[] {
  const forms = [folded, exact].filter((form) => form !== null);
  const [first, second] = forms;
  const isShared =
    first !== undefined &&
    first.anyOf.length === second?.anyOf.length &&
    first.anyOf.every(({ a, b }, at) => a === second.anyOf[at]?.a && b === second.anyOf[at]?.b);
  if (!isShared) return forms.map(({ kinds, anyOf }) => ({ kinds: [kinds], anyOf }));
  return [{ kinds: [...new Set(forms.map(({ kinds }) => kinds))], anyOf: first.anyOf }];
}

function branchSql({ kinds, anyOf }: Branch): string {
  const applies = kinds.map((sum) => `(filter_kinds & ${sum}) = ${sum}`).join(" OR ");
  const held = anyOf.map(({ a, b }) => joined("AND", probesOf(a, b).map(probeSql)));
  return `WHEN ${applies} THEN ${joined("OR", held)}`;
}

function probeSql({ position, bit }: Probe): string {
  return `instr(unhex(?${bit + 1}), substr(filter, 1 + ((${position} * length(filter)) >> 32), 1))`;
}

/** Joins in halves, because D1 accepts expressions of depth 100 at most. */
function joined(operator: "AND" | "OR", parts: readonly string[]): string {
  const [only] = parts;
  if (parts.length <= 1) return only ?? "";
  const half = parts.length >> 1;
  return `(${joined(operator, parts.slice(0, half))} ${operator} ${joined(operator, parts.slice(half))})`;
}
