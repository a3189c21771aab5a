import { signal } from "@preact/signals";
import type { Fields } from "./field-facts.ts";
import type { SearchScope } from "./use-fields.ts";

/** The fields that the list of fields has loaded, and of which entries they are. */
export interface LoadedFields {
  scope: SearchScope;
  /** Without pipes; `*` for all entries. */
  filter: string;
  fields: Fields;
}

/** The last ones. Completion offers them without a request of its own. */
const last = signal<LoadedFields | null>(null);

export function noteLoadedFields(loaded: LoadedFields): void {
  last.value = loaded;
}

/** The fields that are loaded of a project; `null` if there are none. Renders the component again when others are loaded. */
export function loadedFields(workspaceId: string, projectId: string | null): LoadedFields | null {
  const { value } = last;
  return value?.scope.workspaceId === workspaceId && value.scope.projectId === projectId ? value : null;
}
