import { signal } from "@preact/signals";
import { versionFieldIn } from "./releases.ts";

/**
 * Fields with versions, by workspace and project. They are found in the lists of fields that pages load, and kept, because a query
 * such as `level:error` may leave out the entries that have them.
 */
const found = signal<ReadonlyMap<string, string>>(new Map());

export interface ReleaseScope {
  workspaceId: string;
  /** `null`: all projects. */
  projectId: string | null;
}

/** Looks for a field with versions in a list of fields. */
export function noteFields(scope: ReleaseScope, fields: readonly { name: string; type: string }[]): void {
  const field = versionFieldIn(fields);
  const key = keyOf(scope);
  if (field === null || found.peek().get(key) === field) return;
  found.value = new Map([...found.peek(), [key, field]]);
}

/** Renders the component again when the field is found. */
export function versionField(scope: ReleaseScope): string | null {
  return found.value.get(keyOf(scope)) ?? null;
}

function keyOf({ workspaceId, projectId }: ReleaseScope): string {
  return `${workspaceId} ${projectId ?? ""}`;
}
