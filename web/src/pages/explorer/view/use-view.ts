import { useCallback, useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { language } from "./language.ts";
import { type ReadView, readView, type View, viewSearch } from "./view.ts";

/** Parameter of the address with the search before: an entry that is opened and a link keep it, as they keep other parameters. */
const BEFORE = "before";

export interface ViewState extends ReadView {
  /** The search before, empty or with its "?", if a part of what it found is shown; otherwise `null`. */
  before: string | null;
  /** Shows another view. Adds a history entry, unless the view is the same or differs in its columns alone. */
  change: (change: (view: View) => View) => void;
  /** Like `change`, for a part of what a search found: the page leads back to the search. */
  showPart: (change: (view: View) => View) => void;
}

/** The part of a view that decides what is found. */
function foundBy({ columns: _, ...view }: View): string {
  return viewSearch(view);
}

/** The view is only in the address, so that a reload, a link and the back button show the same. */
export function useView(): ViewState {
  const { url, route } = useLocation();
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const search = mark < 0 ? "" : url.slice(mark);
  const read = useMemo(() => readView(search), [search]);
  const before = useMemo(() => new URLSearchParams(search).get(BEFORE), [search]);
  const latest = useRef({ path, search, view: read.view, before, route });
  latest.current = { path, search, view: read.view, before, route };
  const go = useCallback((next: (view: View) => View, isPart: boolean) => {
    const { path, search, view, before, route } = latest.current;
    const after = next(view);
    if (viewSearch(after) === viewSearch(view)) return;
    if (foundBy(after) !== foundBy(view)) {
      // Of a part of a part, the way back is to the search itself. Another query is a search of its own.
      const kept = isPart ? (before ?? viewSearch(view)) : after.query === view.query ? before : null;
      route(`${path}${withBefore(viewSearch(after), kept)}`);
      return;
    }
    // The same entries: what is open stays open.
    const params = new URLSearchParams(search);
    params.delete("columns");
    if (after.columns && after.columns.length > 0) params.set("columns", language()?.columnsText(after.columns) ?? "");
    route(`${path}${params.size > 0 ? `?${params}` : ""}`, true);
  }, []);
  const change = useCallback((next: (view: View) => View) => go(next, false), []);
  const showPart = useCallback((next: (view: View) => View) => go(next, true), []);
  return { ...read, before, change, showPart };
}

/** Adds the search before to that of a view, unless they are the same. */
function withBefore(search: string, before: string | null): string {
  if (before === null || before === search) return search;
  return `${search === "" ? "?" : `${search}&`}${new URLSearchParams({ [BEFORE]: before })}`;
}
