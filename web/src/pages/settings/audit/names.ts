import type { AuditItem } from "../../../model/types.ts";

/** Returns the names of targets, by id: the last one that a loaded item has. An item without a change of the name has none. */
export function namesOf(items: readonly AuditItem[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  // The newest comes first.
  for (const { target, targetEmail, before, after } of items) {
    const name = targetEmail ?? after?.name ?? before?.name ?? after?.email ?? before?.email;
    if (typeof name === "string" && !names.has(target)) names.set(target, name);
  }
  return names;
}
