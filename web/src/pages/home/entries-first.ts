import type { Workspace } from "../../model/types.ts";

/** Returns ids of workspaces: first those that have entries, otherwise in the order of the list. */
export function withEntriesFirst(
  workspaces: readonly Pick<Workspace, "id">[],
  withEntries: ReadonlySet<string>,
): string[] {
  const ids = workspaces.map(({ id }) => id);
  return [...ids.filter((id) => withEntries.has(id)), ...ids.filter((id) => !withEntries.has(id))];
}
