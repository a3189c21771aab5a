import { useCallback, useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { language } from "./language.ts";
import { type ReadView, readView, type View, viewSearch } from "./view.ts";

export interface ViewState extends ReadView {
  /** Shows another view. Adds a history entry, unless the view is the same or differs in its columns alone. */
  change: (change: (view: View) => View) => void;
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
  const latest = useRef({ path, search, view: read.view, route });
  latest.current = { path, search, view: read.view, route };
  const change = useCallback((next: (view: View) => View) => {
    const { path, search, view, route } = latest.current;
    const after = next(view);
    if (viewSearch(after) === viewSearch(view)) return;
    if (foundBy(after) !== foundBy(view)) {
      route(`${path}${viewSearch(after)}`);
      return;
    }
    // The same entries: what is open stays open.
    const params = new URLSearchParams(search);
    params.delete("columns");
    if (after.columns && after.columns.length > 0) params.set("columns", language()?.columnsText(after.columns) ?? "");
    route(`${path}${params.size > 0 ? `?${params}` : ""}`, true);
  }, []);
  return { ...read, change };
}
