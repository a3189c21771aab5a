/** Panels of boards, for the service and the console. */

export const PANEL_KINDS = ["table", "line", "bars", "area", "number"] as const;

export const BOARD_LIMITS = {
  /** As many as `POST /logger/search/batch` answers at once. */
  panels: 20,
  /** Bytes of JSON of all panels. */
  panelBytes: 64 * 1024,
  /** Columns of the grid, its last row, and rows of the tallest panel. */
  columns: 12,
  rows: 999,
  height: 48,
  /** Characters of a title. */
  title: 200,
  /** Characters of the name of a view or a board. */
  name: 100,
} as const;

/** The times of a view or a panel. `last`: a duration such as `15m`. Times in ISO 8601: `from <= timestamp < to`. */
export type SavedRange = { last: string } | { from: string | null; to: string | null } | null;

/** A query of a board, and where its result is shown. */
export interface Panel {
  /** Unique in the board. */
  id: string;
  title: string;
  /** In the query language. */
  query: string;
  kind: (typeof PANEL_KINDS)[number];
  /** Absent: the range that the reader of the board chooses. */
  range?: SavedRange;
  /** Columns and rows of the grid. */
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Queries of the panel with the slowest paths on the board of a new project: that of this version, and those of earlier ones. */
export const SLOWEST_QUERIES: readonly [string, ...string[]] = [
  'durationMs:* | stats count(), p95(durationMs) as "p95 ms" by path | sort "p95 ms" desc | limit 10',
  "durationMs:* | stats count(), p95(durationMs) as p95 by path | sort p95 desc | limit 10",
];
