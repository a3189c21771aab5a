import type { LogLevel } from "./types.ts";

/** By severity: the index is the severity. */
export const LEVELS: readonly LogLevel[] = ["trace", "debug", "log", "info", "warn", "error", "fatal"];

/** Characters of a category or type, as the service takes them. */
const MAX_NAME = 64;

/** The types of each category the service checks; the first is the default. */
export const CATEGORY_TYPES: Readonly<Record<string, readonly string[]>> = {
  ai: "llm interaction step action response summary embedding tool-call".split(" "),
  http: "request response redirect".split(" "),
  system: "startup shutdown error debug info warn".split(" "),
  database: "query transaction migration slow-query connection".split(" "),
  auth: "login logout token-refresh permission-denied registration".split(" "),
  queue: "enqueue dequeue process retry dead-letter".split(" "),
  cache: "hit miss set evict invalidate".split(" "),
};

/** A category and type the service takes, and for `data` the type that its category does not have. */
export interface Place {
  category: string;
  type: string;
  note?: { invalidType: string };
}

export function placeOf(wanted: unknown, kind: unknown): Place {
  const category = nameOf(wanted, "custom");
  const types = Object.hasOwn(CATEGORY_TYPES, category) ? CATEGORY_TYPES[category] : undefined;
  const type = nameOf(kind, types?.[0] ?? "log");
  return !types || types.includes(type)
    ? { category, type }
    : { category, type: types[0] ?? "", note: { invalidType: type } };
}

function nameOf(value: unknown, fallback: string): string {
  return `${value ?? ""}`.slice(0, MAX_NAME).toWellFormed() || fallback;
}
