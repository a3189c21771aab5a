import { useLocation } from "preact-iso";
import type { EntryPlace } from "../context/use-neighbours.ts";

/** The parameter that names an entry: it is shown whatever the filters, which leave it away when they change. */
const NAME = "entry";

/** The whole address that opens an entry. */
export function entryLink(origin: string, workspaceId: string, { projectId, id }: EntryPlace): string {
  return `${origin}/w/${workspaceId}/p/${projectId}?${new URLSearchParams({ [NAME]: id })}`;
}

interface LinkedEntry {
  /** The entry that the address names; null where it names none. */
  linked: EntryPlace | null;
  /** Takes it out of the address, and leaves the rest. */
  unlink: () => void;
}

export function useLinkedEntry(projectId: string | null): LinkedEntry {
  const { query, route } = useLocation();
  const id = query[NAME];
  return {
    linked: projectId !== null && id ? { projectId, id } : null,
    unlink() {
      const params = new URLSearchParams(location.search);
      // A change of the filters has taken it out already.
      if (!params.has(NAME)) return;
      params.delete(NAME);
      route(`${location.pathname}${params.size > 0 ? `?${params}` : ""}`, true);
    },
  };
}
