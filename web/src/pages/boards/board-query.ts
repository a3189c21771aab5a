import { parse } from "../../../../src/query-language/parse.ts";
import { isAdded, shapeOf } from "../../charts/table-shape.ts";
import { unitOf } from "../../lib/time-units.ts";
import type { Panel, PanelKind, SavedRange } from "../../model/boards.ts";
import { rangeLabel } from "../explorer/view/format.ts";
import { lastRange, type Range, type Times, timesOf } from "../explorer/view/range.ts";

/** Queries of one request. */
export const BATCH = 20;

/** A query of `POST /logger/search/batch`. */
export interface BatchQuery {
  query: string;
  projectId?: string;
  from?: string;
  to?: string;
}

/** Resolves a stored range at one moment. */
export function boundsOf(range: SavedRange, now: number): { from?: string; to?: string } {
  if (range === null) return {};
  if (!("last" in range)) {
    return { ...(range.from === null ? {} : { from: range.from }), ...(range.to === null ? {} : { to: range.to }) };
  }
  const ms = Number.parseInt(range.last, 10) * (unitOf(range.last.slice(-1))?.ms ?? 0);
  // The service refuses times before 1970, and with them the whole board.
  return { from: new Date(Math.max(0, now - ms)).toISOString() };
}

/** Returns the range of a view as it is stored. */
export function savedRange(range: Range): SavedRange {
  if (range.kind === "all") return null;
  return range.kind === "last" ? { last: range.preset } : { from: range.from, to: range.to };
}

/**
 * Returns the ranges that a panel can have of its own where a range is shown, the shown one first. One that moves with the clock is
 * offered with its present times, too, which show the same later.
 */
export function offeredRanges(range: Range, now: number): SavedRange[] {
  const saved = savedRange(range);
  if (range.kind !== "last") return [saved];
  const { from } = boundsOf(saved, now);
  return [saved, { from: from ?? null, to: new Date(now).toISOString() }];
}

/** Whether a range of a panel's own has two times, and does not move with the clock. */
export function isFixed(range: SavedRange): boolean {
  return range !== null && !("last" in range) && range.from !== null && range.to !== null;
}

/** Names the times of a range within a sentence. */
export function ownLabel(range: SavedRange, now: number): string {
  const label = rangeLabel(viewRange(range, now));
  return isFixed(range) ? label : `${label.charAt(0).toLowerCase()}${label.slice(1)}`;
}

/** Says which times a range of a panel's own has: fixed ones, or those before each load. */
export function ownTimeText(range: SavedRange, now: number): string {
  return `${isFixed(range) ? "Fixed" : "Always"}: ${ownLabel(range, now)}`;
}

/** Returns a stored range as the range of a view. A duration over a year begins at a fixed time and has no end. */
export function viewRange(range: SavedRange, now: number): Range {
  if (range === null) return { kind: "all" };
  if ("last" in range) {
    return lastRange(range.last) ?? { kind: "between", from: boundsOf(range, now).from ?? null, to: null };
  }
  return range.from === null && range.to === null ? { kind: "all" } : { kind: "between", ...range };
}

/** Returns what names a panel: a panel without a title has its query. */
export function panelName({ title, query }: Pick<Panel, "title" | "query">): string {
  return title.trim() === "" ? query : title;
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

/** Days of a range without a beginning, for its number of spans. */
const ALL_DAYS = 30;

/** Returns how many spans of time the drawing of a query has in a range; 0 if it is not over time. */
export function spansOf(query: string, range: Range, now: number): number {
  const { binMs } = shapeOf(parse(query));
  if (binMs === null) return 0;
  const { start, end } = timesOf(range, now, ALL_DAYS);
  return Math.ceil((end - start) / binMs);
}

/** Returns the kind that fits a query best, for a new panel. */
export function usualKind(query: string): PanelKind {
  return kindsOf(query)[0] ?? "table";
}

/**
 * Returns the kinds in which a query can be shown, the usual one first: without spans of time there are no lines and areas, and values
 * of groups that cannot be added are lines only.
 */
export function kindsOf(query: string): readonly PanelKind[] {
  const result = parse(query);
  if (!result.ok || result.columns === null) return ["table"];
  if (result.columns.some(({ type }) => type === "time")) {
    const shape = shapeOf(result);
    const hasGroups = shape.keys.some((key) => key !== "time");
    return hasGroups && !result.columns.some(({ name }) => isAdded(shape, name))
      ? ["line", "number", "table"]
      : ["bars", "line", "area", "number", "table"];
  }
  if (result.columns.length === 1) return ["number", "table"];
  return ["table", "bars", "number"];
}

/** Returns the kind in which a query is drawn if one was chosen: values that cannot be stacked are lines. */
export function fittingKind(query: string, kind: PanelKind): PanelKind {
  const fitting = kindsOf(query);
  return (kind === "bars" || kind === "area") && fitting[0] === "line" ? "line" : kind;
}
