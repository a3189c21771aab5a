import { parse } from "../../../../src/query-language/parse.ts";
import type { Panel, PanelKind, SavedRange } from "../../model/boards.ts";
import { lastRange, type Range, type Times } from "../explorer/view/range.ts";

/** Queries of one request. */
export const BATCH = 20;

/** A query of `POST /logger/search/batch`. */
export interface BatchQuery {
  query: string;
  projectId?: string;
  from?: string;
  to?: string;
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Resolves a stored range at one moment. */
export function boundsOf(range: SavedRange, now: number): { from?: string; to?: string } {
  if (range === null) return {};
  if (!("last" in range)) {
    return { ...(range.from === null ? {} : { from: range.from }), ...(range.to === null ? {} : { to: range.to }) };
  }
  const ms = Number.parseInt(range.last, 10) * (UNITS[range.last.slice(-1)] ?? 0);
  return { from: new Date(now - ms).toISOString() };
}

/** Returns the range of a view as it is stored. */
export function savedRange(range: Range): SavedRange {
  if (range.kind === "all") return null;
  return range.kind === "last" ? { last: range.preset } : { from: range.from, to: range.to };
}

/** Returns a stored range as the range of a view. A duration over a year begins at a fixed time and has no end. */
export function viewRange(range: SavedRange, now: number): Range {
  if (range === null) return { kind: "all" };
  if ("last" in range) {
    return lastRange(range.last) ?? { kind: "between", from: boundsOf(range, now).from ?? null, to: null };
  }
  return range.from === null && range.to === null ? { kind: "all" } : { kind: "between", ...range };
}

/** Returns the query of a panel. A panel without a range of its own has that of the board. */
export function queryOf({ query, range }: Panel, times: Times, projectId: string | null, now: number): BatchQuery {
  const { from, to } = range === undefined ? times : boundsOf(range, now);
  return {
    query,
    ...(projectId === null ? {} : { projectId }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** Returns the kind that fits a query best, for a new panel. */
export function usualKind(query: string): PanelKind {
  return kindsOf(query)[0] ?? "table";
}

/** Returns the kinds in which a query can be shown, the usual one first: without spans of time there are no lines and areas. */
export function kindsOf(query: string): readonly PanelKind[] {
  const result = parse(query);
  if (!result.ok || result.columns === null) return ["table"];
  if (result.columns.some(({ type }) => type === "time")) return ["bars", "line", "area", "number", "table"];
  if (result.columns.length === 1) return ["number", "table"];
  return ["table", "bars", "number"];
}
