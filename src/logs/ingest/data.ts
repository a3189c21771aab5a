import { INGEST_LIMITS } from "../entry.ts";
import { InexactInteger, mayBeInexact } from "./exact-json.ts";
import { MaybeInexact, reject } from "./rejection.ts";

/**
 * Checks what `data` may hold: nesting of at most 32, and numbers that survive being written again.
 * @param isExact whether the value comes from `parseExactly`, so that its large integers are known to be whole
 * @returns how many values there are, itself included
 * @throws EntryRejected INVALID_DATA
 */
export function checkData(value: object, isExact: boolean, depth = 1): number {
  if (depth > INGEST_LIMITS.dataDepth) reject("INVALID_DATA", `data is nested deeper than ${INGEST_LIMITS.dataDepth}.`);
  let values = 1;
  if (Array.isArray(value)) {
    for (const item of value) values += checkValue(item, isExact, depth);
    return values;
  }
  // SAFETY: the value comes from JSON.parse, so it is a plain object.
  const members = value as Record<string, unknown>;
  for (const name in members) values += checkValue(members[name], isExact, depth);
  return values;
}

function checkValue(value: unknown, isExact: boolean, depth: number): number {
  if (typeof value === "object") {
    if (value instanceof InexactInteger) throw new MaybeInexact();
    return value === null ? 1 : checkData(value, isExact, depth + 1);
  }
  if (typeof value === "number") {
    if (!isExact && mayBeInexact(value)) throw new MaybeInexact();
    // 1e999 parses to Infinity, which would come back as null.
    if (!Number.isFinite(value)) reject("INVALID_DATA", "data has a number too large to be kept.");
  }
  return 1;
}
