import { INGEST_LIMITS } from "../entry.ts";
import { InexactInteger, mayBeInexact } from "./exact-json.ts";
import { MaybeInexact, reject } from "./rejection.ts";

/**
 * Checks what `data` may hold: nesting of at most 32, and numbers that survive being written again.
 * @param isExact whether the value comes from `parseExactly`, so that its large integers are known to be whole
 * @returns a lower bound of the value's bytes as sent, so that most requests never need to measure their entries
 * @throws EntryRejected INVALID_DATA
 */
export function checkData(value: object, isExact: boolean, depth = 1): number {
  if (depth > INGEST_LIMITS.dataDepth) reject("INVALID_DATA", `data is nested deeper than ${INGEST_LIMITS.dataDepth}.`);
  // Two brackets, less the comma that the first member does not have.
  let bytes = 1;
  if (Array.isArray(value)) {
    for (const item of value) bytes += 1 + checkValue(item, isExact, depth);
    return bytes;
  }
  // SAFETY: the value comes from JSON.parse, so it is a plain object.
  const members = value as Record<string, unknown>;
  for (const name in members) bytes += name.length + 4 + checkValue(members[name], isExact, depth);
  return bytes;
}

function checkValue(value: unknown, isExact: boolean, depth: number): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "object":
      if (value instanceof InexactInteger) throw new MaybeInexact();
      return value === null ? 4 : checkData(value, isExact, depth + 1);
    case "number":
      if (!isExact && mayBeInexact(value)) throw new MaybeInexact();
      // 1e999 parses to Infinity, which would come back as null.
      return Number.isFinite(value) ? 1 : reject("INVALID_DATA", "data has a number too large to be kept.");
    default:
      return 4;
  }
}
