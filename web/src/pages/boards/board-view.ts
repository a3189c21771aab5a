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
}

export function readBoardView(search: string): BoardView {
  const seconds = Number(new URLSearchParams(search).get("refresh"));
  return { range: readView(search).view.range, refresh: REFRESHES.find((each) => each === seconds) ?? 0 };
}

/** Query string of a board, empty or with its "?". */
export function boardSearch({ range, refresh }: BoardView): string {
  const times = viewSearch({ range, order: "desc", live: false });
  if (refresh === 0) return times;
  return `${times === "" ? "?" : `${times}&`}refresh=${refresh}`;
}
