import { type Entry, LEVELS } from "./entry.ts";

const LEVEL_NAMES: ReadonlySet<unknown> = new Set(LEVELS);

/**
 * What a stored line says; null where it is not what was put in. Every line was written by `JSON.stringify` of an `Entry`,
 * but a disk may give back something else, and one entry lost must not cost the others.
 */
export function parseStoredLine(line: string): Entry | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  return isEntry(value) ? value : null;
}

/** The members that readers rely on. */
function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  if (!("timestamp" in value && "level" in value && "category" in value && "type" in value)) return false;
  const { timestamp, level, category, type } = value;
  if (typeof timestamp !== "string" || Number.isNaN(Date.parse(timestamp)) || !LEVEL_NAMES.has(level)) return false;
  return typeof category === "string" && typeof type === "string" && "message" in value;
}
