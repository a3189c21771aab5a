import type { Range } from "../explorer/view/range.ts";
import { readView, viewSearch } from "../explorer/view/view.ts";

/** Seconds between two refreshes; 0: none. */
export const REFRESHES = [0, 30, 60, 300] as const;
export type Refresh = (typeof REFRESHES)[number];

export const REFRESH_LABELS: Readonly<Record<Refresh, string>> = {
  0: "No refresh",
  30: "Every 30 s",
  60: "Every minute",
  300: "Every 5 min",
};

/** What the address of a board states. */
export interface BoardView {
  range: Range;
  refresh: Refresh;
  /** Whether charts over time mark releases. */
  releases: boolean;
  /** Id of the panel that is scrolled to and marked; absent: none. A change of the view removes it. */
  panel?: string;
}

export function readBoardView(search: string): BoardView {
  const params = new URLSearchParams(search);
  const seconds = Number(params.get("refresh"));
  const panel = params.get("panel");
  return {
    range: readView(search).view.range,
    refresh: REFRESHES.find((each) => each === seconds) ?? 0,
    releases: params.get("releases") !== "0",
    ...(panel === null ? {} : { panel }),
  };
}

/** Query string of a board without a marked panel, empty or with its "?". */
export function boardSearch({ range, refresh, releases }: Omit<BoardView, "panel">): string {
  const times = viewSearch({ range, order: "desc", live: false });
  const own = new URLSearchParams();
  if (refresh > 0) own.set("refresh", String(refresh));
  if (!releases) own.set("releases", "0");
  if (own.size === 0) return times;
  return times === "" ? `?${own}` : `${times}&${own}`;
}
