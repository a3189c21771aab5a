import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { EntryPlace } from "../context/use-neighbours.ts";
import { placeText, readPlace } from "./entry-place.ts";

/**
 * Parameters that name an entry: it is shown in its context whatever the filters, which leave both away when they change.
 * `entry`, which links to an entry have, also opens it.
 */
const LINKED = "entry";
const CONTEXT = "context";

/** The whole address that opens an entry. */
export function entryLink(origin: string, workspaceId: string, { projectId, id }: EntryPlace): string {
  return `${origin}/w/${workspaceId}/p/${projectId}?${new URLSearchParams({ [LINKED]: id })}`;
}

export interface ShownEntry {
  /** The entry that the address names; null where it names none. */
  shown: EntryPlace | null;
  /** Whether everything that it has is to be shown at once. */
  isOpened: boolean;
  /** Shows an entry in its context: one more step for the back button, unless another one is shown already. */
  show: (entry: EntryPlace) => void;
  /** Takes it out of the address, and leaves the rest. */
  close: () => void;
}

/** Which entry is shown in its context is said by the address, so a reload, a link and the back button keep it. */
export function useShownEntry(projectId: string | null): ShownEntry {
  const { query, route } = useLocation();
  const linked = projectId === null ? null : readPlace(query[LINKED], projectId);
  const shown = linked ?? readPlace(query[CONTEXT], projectId);
  /** The step before is this page without it. */
  const isOwnStep = useRef(false);
  const isShown = shown !== null;
  useEffect(() => {
    if (!isShown) isOwnStep.current = false;
  }, [isShown]);
  const go = (place: EntryPlace | null, replace: boolean): void => {
    const params = new URLSearchParams(location.search);
    params.delete(LINKED);
    params.delete(CONTEXT);
    if (place !== null) params.set(CONTEXT, placeText(place, projectId));
    route(`${location.pathname}${params.size > 0 ? `?${params}` : ""}`, replace);
  };
  return {
    shown,
    isOpened: linked !== null,
    show(entry) {
      if (!isShown) isOwnStep.current = true;
      go(entry, isShown);
    },
    close() {
      const params = new URLSearchParams(location.search);
      // A change of the filters has taken it out already.
      if (!params.has(LINKED) && !params.has(CONTEXT)) return;
      if (isOwnStep.current) history.back();
      else go(null, true);
    },
  };
}
