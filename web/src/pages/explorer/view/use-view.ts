import { useCallback, useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type ReadView, readView, type View, viewSearch } from "./view.ts";

export interface ViewState extends ReadView {
  /** Shows another view. Adds a history entry, unless the view is the same. */
  change: (change: (view: View) => View) => void;
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
    const wanted = viewSearch(next(view));
    if (wanted !== search) route(`${path}${wanted}`);
  }, []);
  return { ...read, change };
}
