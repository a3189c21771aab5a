import { PANEL_KINDS } from "../../../../../src/workspace/panels.ts";
import type { PanelKind } from "../../../model/boards.ts";
import type { Column } from "./columns.ts";
import { language } from "./language.ts";
import { DEFAULT_RANGE, isAccepted, lastRange, type Range } from "./range.ts";

/** Everything in a permalink of the explorer, except workspace and project, which are in its path. */
export interface View {
  /** In the query language, as typed; absent if there is none. All filters are in it. */
  query?: string;
  range: Range;
  order: "desc" | "asc";
  /** Whether the explorer follows the project live. */
  live: boolean;
  /** How the table of a query is drawn; absent: as fits the query. */
  chart?: PanelKind;
  /** Columns of the list; absent: those that vary, in one line. */
  columns?: readonly Column[];
}

export interface ReadView {
  view: View;
  /** Invalid parameters, shown because a link must not silently show something else. */
  invalidParameters: string[];
}

export function readView(search: string): ReadView {
  const params = new URLSearchParams(search);
  const invalidParameters: string[] = [];
  const query = language()?.queryOf(params, invalidParameters) ?? params.get("q") ?? "";
  const drawn = params.get("chart");
  const chart = PANEL_KINDS.find((kind) => kind === drawn);
  if (drawn !== null && chart === undefined) invalidParameters.push("chart");
  const live = params.get("live") === "1";
  const order = params.get("order") === "asc" && !live ? "asc" : "desc";
  // An address with columns has loaded the language.
  const columns = language()?.readColumns(params.get("columns")) ?? null;
  if (columns === null && params.has("columns")) invalidParameters.push("columns");
  const view: View = {
    ...(query === "" ? {} : { query }),
    range: rangeOf(params, invalidParameters),
    order,
    live,
    ...(chart === undefined ? {} : { chart }),
    ...(columns === null || columns.length === 0 ? {} : { columns }),
  };
  return { view, invalidParameters };
}

/** Query string of a view, empty or with its "?". Equal views give equal strings. */
export function viewSearch({ query, range, order, live, chart, columns }: View): string {
  const params = new URLSearchParams();
  if (query) params.set("q", query);
  if (range.kind === "last" && !isDefault(range)) params.set("range", range.preset);
  if (range.kind === "all") params.set("range", "all");
  if (range.kind === "between") {
    if (range.from !== null) params.set("from", range.from);
    if (range.to !== null) params.set("to", range.to);
  }
  if (order === "asc") params.set("order", "asc");
  if (live) params.set("live", "1");
  if (chart) params.set("chart", chart);
  if (columns && columns.length > 0) params.set("columns", language()?.columnsText(columns) ?? "");
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** Returns a view with another query; without a query if it is empty. */
export function withQuery({ query: _, ...view }: View, query: string): View {
  return query.trim() === "" || query.trim() === "*" ? view : { ...view, query };
}

function rangeOf(params: URLSearchParams, invalidParameters: string[]): Range {
  const from = timeOf(params, "from", invalidParameters);
  const to = timeOf(params, "to", invalidParameters);
  if (from !== null || to !== null) return { kind: "between", from, to };
  const name = params.get("range");
  if (name === null) return DEFAULT_RANGE;
  if (name === "all") return { kind: "all" };
  const last = lastRange(name);
  if (last !== null) return last;
  invalidParameters.push("range");
  return DEFAULT_RANGE;
}

/** Parses ISO 8601 or epoch milliseconds to ISO 8601. */
export function timeOf(params: URLSearchParams, name: string, invalidParameters: string[]): string | null {
  const text = params.get(name);
  if (text === null) return null;
  // Browsers read other texts, too: `-1` as a day of 2001.
  const ms = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(/^\d{4}-/.test(text) ? text : "");
  if (isAccepted(ms)) return new Date(ms).toISOString();
  invalidParameters.push(name);
  return null;
}

function isDefault(range: Range): boolean {
  return range.kind === "last" && DEFAULT_RANGE.kind === "last" && range.preset === DEFAULT_RANGE.preset;
}
