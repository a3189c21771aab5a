import { REDACTED, type Redactor } from "../redact.ts";

/** Nesting levels that are masked. The encoder cuts deeper ones from the entry. */
const MAX_DEPTH = 32;

/** Converts pairs to an object with secrets masked. A name with several values gets a list. */
export function maskedPairs(
  pairs: Iterable<readonly [string, string]>,
  [secrecy, , masked]: Redactor,
): Record<string, unknown> {
  const all: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const shown = secrecy(name) !== 0 ? REDACTED : masked(value, name);
    const known = all[name];
    all[name] = known === undefined ? shown : [known, shown].flat();
  }
  return all;
}

/** Masks the secret members of parsed JSON. */
export function maskedJson(value: unknown, redactor: Redactor, depth = 1, memberName = ""): unknown {
  const [secrecy, suspects, masked] = redactor;
  if (typeof value === "string") return suspects(value) ? masked(value, memberName) : value;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => maskedJson(item, redactor, depth + 1, memberName));
  const all: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(value)) {
    const isSecret = item !== null && typeof item !== "boolean" && secrecy(name) === 2;
    const isText = typeof item !== "number" && typeof item !== "boolean" && item !== null;
    all[name] = isSecret || (isText && secrecy(name) === 1) ? REDACTED : maskedJson(item, redactor, depth + 1, name);
  }
  return all;
}
