import type { Level } from "../../../model/types.ts";
import type { FilterPatch } from "../filters.ts";
import type { Column } from "./columns.ts";
import { LANGUAGE } from "./load-language.ts";
import { between, isOpen, type Times, zoomedOut } from "./range.ts";
import type { ViewState } from "./use-view.ts";
import { withQuery } from "./view.ts";

export interface ViewChanges {
  onQuery: (query: string) => void;
  /** Shows other columns; none are the default. */
  onColumns: (columns: readonly Column[]) => void;
  onFilter: (patch: FilterPatch) => void;
  /** Adds a level to the query, or removes it. */
  onLevel: (level: Level) => void;
  /** Shows a range in epoch milliseconds. */
  onZoom: (start: number, end: number) => void;
  onZoomOut: () => void;
  /** Shows the entries of another query in a range. */
  onShow: (query: string, start: number, end: number) => void;
}

/** What the parts of the page change in its view. A range with an end is not live: new entries are outside of it. */
export function viewChanges({ view, change, showPart }: ViewState, times: Times): ViewChanges {
  const onQuery = (query: string): void => change((before) => withQuery(before, query));
  return {
    onQuery,
    onColumns: (columns) =>
      void LANGUAGE.load().then(() =>
        change(({ columns: _, ...before }) => (columns.length === 0 ? before : { ...before, columns })),
      ),
    onFilter: (patch) => void LANGUAGE.load().then(({ patched }) => change((before) => patched(before, patch))),
    onLevel: (level) =>
      void LANGUAGE.load().then(({ toggled }) => onQuery(toggled(view.query ?? "*", "level", level, "included"))),
    onZoom: (start, end) => change((before) => ({ ...before, range: between(start, end), live: false })),
    onZoomOut: () =>
      change((before) => {
        const range = zoomedOut(before.range, times, Date.now());
        return { ...before, range, live: before.live && isOpen(range) };
      }),
    onShow: (query, start, end) =>
      showPart((before) => ({ ...withQuery(before, query), range: between(start, end), live: false })),
  };
}
