import type { AuditItem } from "../../../model/types.ts";

/** Returns the names of targets, by id: the last one that a loaded item has. An item without a change of the name has none. */
export function namesOf(items: readonly AuditItem[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  // The newest comes first.
  for (const { target, targetEmail, before, after } of items) {
    const name = targetEmail ?? after?.name ?? before?.name;
    if (typeof name === "string" && !names.has(target)) names.set(target, name);
  }
  return names;
}

/** Returns the items whose target or actor has a text in its name; all items for an empty text. */
export function ofName(items: readonly AuditItem[], names: ReadonlyMap<string, string>, text: string): AuditItem[] {
  const wanted = text.trim().toLowerCase();
  // Items of `system` and of deleted accounts may have no name at all.
  if (wanted === "") return [...items];
  const has = (value: unknown): boolean => typeof value === "string" && value.toLowerCase().includes(wanted);
  return items.filter(({ target, actorEmail, before, after }) =>
    [names.get(target), actorEmail, before?.name, after?.name].some(has),
  );
}
