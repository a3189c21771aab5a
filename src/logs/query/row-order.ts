export type Order = "asc" | "desc";

/** What rows are ordered by: the time, then `seq`, then the project. No two rows of a workspace are alike in all three. */
export interface RowKey {
  /** Epoch milliseconds. */
  timestamp: number;
  seq: number;
  projectId: string;
}

/** A place between rows: behind the row of this key, or, without `seq`, before every row of this time. */
export type RowPosition = RowKey | { timestamp: number; seq: null };

/** 1 where time rises from row to row, -1 where it falls: times multiplied by it always rise. */
export function direction(order: Order): 1 | -1 {
  return order === "asc" ? 1 : -1;
}

/** Below 0 where `a` comes first. */
export function compareRows(order: Order, a: RowKey, b: RowKey): number {
  const difference =
    a.timestamp - b.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : 0);
  return direction(order) * difference;
}

/** Whether a row is still to come at a position. */
export function isBehind(order: Order, position: RowPosition, row: RowKey): boolean {
  if (position.seq !== null) return compareRows(order, position, row) < 0;
  return direction(order) * (row.timestamp - position.timestamp) >= 0;
}
