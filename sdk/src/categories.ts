import { MAX_PLACE } from "./limits.ts";

/** The types of the categories that the service checks. The first type is the default. */
const CATEGORY_TYPES: ReadonlyMap<string, readonly string[]> = /* @__PURE__ */ new Map(
  [
    "ai llm interaction step action response summary embedding tool-call",
    "http request response redirect",
    "system startup shutdown error debug info warn",
    "database query transaction migration slow-query connection",
    "auth login logout token-refresh permission-denied registration",
    "queue enqueue dequeue process retry dead-letter",
    "cache hit miss set evict invalidate",
  ].map((line) => {
    const [category = "", ...types] = line.split(" ");
    return [category, types];
  }),
);

/** Whether the service checks the types of a category. */
export function isBuiltIn(category: string): boolean {
  return CATEGORY_TYPES.has(category);
}

/** A category and type that the service accepts, and a field of `data` with the type if it was invalid. */
export interface EntryKind {
  category: string;
  type: string;
  note: { invalidType?: string };
}

export function entryKindOf(wanted: unknown, kind: unknown): EntryKind {
  const category = nameOf(wanted, "custom");
  const types = CATEGORY_TYPES.get(category);
  const first = types?.[0] ?? "log";
  const type = nameOf(kind, first);
  return !types || types.includes(type)
    ? { category, type, note: {} }
    : { category, type: first, note: { invalidType: type } };
}

function nameOf(value: unknown, fallback: string): string {
  return `${value ?? ""}`.slice(0, MAX_PLACE).toWellFormed() || fallback;
}
