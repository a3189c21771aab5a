import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { CONTEXTS, type ContextBy, type EntryRef, entryRefText, readEntryRef } from "./entry-ref.ts";

/**
 * Parameters that identify the entry of the context view. A change of the filters removes both. `entry`, used in links
 * to an entry, also opens the entry.
 */
const LINKED = "entry";
const CONTEXT = "context";
/** Parameter of the neighbours that are shown; absent: by arrival. */
const BY = "by";

/** Absolute URL of a page that opens the entry. */
export function entryLink(origin: string, workspaceId: string, { projectId, id }: EntryRef): string {
  return `${origin}/w/${workspaceId}/p/${projectId}?${new URLSearchParams({ [LINKED]: id })}`;
}

export interface ShownEntry {
  /** The entry that the address identifies, or `null`. */
  shown: EntryRef | null;
  /** Whether the entry's details are open. */
  isOpened: boolean;
  /** Which neighbours are shown. */
  by: ContextBy;
  showBy: (by: ContextBy) => void;
  /** Shows an entry in its context. Adds a history entry, unless another one is already shown. */
  show: (entry: EntryRef) => void;
  /** Removes the entry from the address. */
  close: () => void;
}

/** The entry of the context view is in the address, so that a reload, a link and the back button keep it. */
export function useShownEntry(projectId: string | null): ShownEntry {
  const { query, route } = useLocation();
  const linked = projectId === null ? null : readEntryRef(query[LINKED], projectId);
  const shown = linked ?? readEntryRef(query[CONTEXT], projectId);
  /** Whether the previous history entry is this page without the context view. */
  const isOwnStep = useRef(false);
  const isShown = shown !== null;
  useEffect(() => {
    if (!isShown) isOwnStep.current = false;
  }, [isShown]);
  const go = (place: EntryRef | null, replace: boolean): void => {
    const params = new URLSearchParams(location.search);
    params.delete(LINKED);
    params.delete(CONTEXT);
    if (place === null) params.delete(BY);
    if (place !== null) params.set(CONTEXT, entryRefText(place, projectId));
    route(`${location.pathname}${params.size > 0 ? `?${params}` : ""}`, replace);
  };
  return {
    shown,
    isOpened: linked !== null,
    by: CONTEXTS.find((each) => each === query[BY]) ?? "arrival",
    showBy(by) {
      const params = new URLSearchParams(location.search);
      if (by === "arrival") params.delete(BY);
      else params.set(BY, by);
      route(`${location.pathname}?${params}`, true);
    },
    show(entry) {
      if (!isShown) isOwnStep.current = true;
      go(entry, isShown);
    },
    close() {
      const params = new URLSearchParams(location.search);
      // A change of the filters may have removed it.
      if (!params.has(LINKED) && !params.has(CONTEXT)) return;
      if (isOwnStep.current) history.back();
      else go(null, true);
    },
  };
}
