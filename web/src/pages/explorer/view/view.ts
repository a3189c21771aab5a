import { QUERY_LIMITS } from "../../../../../src/query-language/parser-state.ts";
import { PANEL_KINDS } from "../../../../../src/workspace/panels.ts";
import type { PanelKind } from "../../../model/boards.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import type { FilterPatch, Filters } from "../filters.ts";
import { DEFAULT_RANGE, PRESETS, type Range } from "./range.ts";

/** Filters without times, which are in the range, and without the query. */
export type ViewFilters = Omit<Filters, "from" | "to" | "q">;

/** Everything in a permalink of the explorer, except workspace and project, which are in its path. */
export interface View {
  /** In the query language, as typed; absent if there is none. */
  query?: string;
  filters: ViewFilters;
  range: Range;
  order: "desc" | "asc";
  /** Whether the explorer follows the project live. */
  live: boolean;
  /** How the table of a query is drawn; absent: as fits the query. */
  chart?: PanelKind;
}

export interface ReadView {
  view: View;
  /** Invalid parameters, shown because a link must not silently show something else. */
  invalidParameters: string[];
}

/** Longest search of the API in characters. */
export const SEARCH_MAX = 512;

export function readView(search: string): ReadView {
  const params = new URLSearchParams(search);
  const invalidParameters: string[] = [];
  const levels = params.getAll("level");
  const minLevel = params.get("minLevel");
  if (levels.some((name) => !isLevel(name))) invalidParameters.push("level");
  if (minLevel !== null && !isLevel(minLevel)) invalidParameters.push("minLevel");
  const filters: ViewFilters = {
    ...listed("level", levels.filter(isLevel)),
    ...(minLevel !== null && isLevel(minLevel) ? { minLevel } : {}),
    ...listed("category", params.getAll("category").filter(Boolean)),
    ...listed("type", params.getAll("type").filter(Boolean)),
    ...listed("service", params.getAll("service").filter(Boolean)),
    ...listed("host", params.getAll("host").filter(Boolean)),
    ...texts(params, invalidParameters),
    ...dataOf(params.get("data"), invalidParameters),
  };
  const query = params.get("q") ?? "";
  // A truncated query would find other entries.
  if (query.length > QUERY_LIMITS.bytes) invalidParameters.push("q");
  const asked = query.trim() === "" || query.length > QUERY_LIMITS.bytes ? {} : { query };
  const drawn = params.get("chart");
  const chart = PANEL_KINDS.find((kind) => kind === drawn);
  if (drawn !== null && chart === undefined) invalidParameters.push("chart");
  const live = params.get("live") === "1";
  const order = params.get("order") === "asc" && !live ? "asc" : "desc";
  const view = { ...asked, filters, range: rangeOf(params, invalidParameters), order, live } as const;
  return { view: { ...view, ...(chart === undefined ? {} : { chart }) }, invalidParameters };
}

/** Query string of a view, empty or with its "?". Equal views give equal strings. */
export function viewSearch({ query, filters, range, order, live, chart }: View): string {
  const params = new URLSearchParams();
  if (query) params.set("q", query);
  const { level, minLevel, category, type, service, host, session, traceId, search, data } = filters;
  for (const name of level ?? []) params.append("level", name);
  if (minLevel) params.set("minLevel", minLevel);
  for (const name of category ?? []) params.append("category", name);
  for (const name of type ?? []) params.append("type", name);
  for (const name of service ?? []) params.append("service", name);
  for (const name of host ?? []) params.append("host", name);
  if (session) params.set("session", session);
  if (traceId) params.set("traceId", traceId);
  if (search) params.set("search", search);
  if (data && Object.keys(data).length > 0) params.set("data", JSON.stringify(data));
  if (range.kind === "last" && !isDefault(range)) params.set("range", range.preset);
  if (range.kind === "all") params.set("range", "all");
  if (range.kind === "between") {
    if (range.from !== null) params.set("from", range.from);
    if (range.to !== null) params.set("to", range.to);
  }
  if (order === "asc") params.set("order", "asc");
  if (live) params.set("live", "1");
  if (chart) params.set("chart", chart);
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** Applies a patch to a view: its members replace existing ones; `data` is merged. */
export function patched(view: View, { from, to, data, ...patch }: FilterPatch): View {
  const before = view.range.kind === "between" ? view.range : { from: null, to: null };
  const range: Range =
    from === undefined && to === undefined
      ? view.range
      : { kind: "between", from: from ?? before.from, to: to ?? before.to };
  const filters = { ...view.filters, ...patch, ...(data ? { data: { ...view.filters.data, ...data } } : {}) };
  return { ...view, filters, range };
}

/** Returns the filters without these members. */
export function without(filters: ViewFilters, ...names: (keyof ViewFilters)[]): ViewFilters {
  // SAFETY: members of the filters, without some optional ones.
  return Object.fromEntries(
    Object.entries(filters).filter(([name]) => !names.some((each) => each === name)),
  ) as ViewFilters;
}

export function hasFilters(filters: ViewFilters): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

export function isLevel(name: string): name is Level {
  return LEVELS.some((level) => level === name);
}

function listed<Name extends string, T>(name: Name, values: readonly T[]): { [key in Name]?: T[] } {
  // SAFETY: one member of that name, or none.
  return (values.length === 0 ? {} : { [name]: [...new Set(values)] }) as { [key in Name]?: T[] };
}

function texts(
  params: URLSearchParams,
  invalidParameters: string[],
): Pick<ViewFilters, "session" | "traceId" | "search"> {
  const session = params.get("session");
  const traceId = params.get("traceId");
  const search = params.get("search");
  // A truncated search would find other entries.
  const isTooLong = search !== null && search.length > SEARCH_MAX;
  if (isTooLong) invalidParameters.push("search");
  return {
    ...(session ? { session } : {}),
    ...(traceId ? { traceId } : {}),
    ...(search && !isTooLong ? { search } : {}),
  };
}

function dataOf(text: string | null, invalidParameters: string[]): Pick<ViewFilters, "data"> {
  if (text === null) return {};
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data !== "object" || data === null || Array.isArray(data)) throw new TypeError("not an object");
    // SAFETY: the API refuses invalid conditions, by path.
    return Object.keys(data).length === 0 ? {} : { data: data as NonNullable<ViewFilters["data"]> };
  } catch {
    invalidParameters.push("data");
    return {};
  }
}

function rangeOf(params: URLSearchParams, invalidParameters: string[]): Range {
  const from = timeOf(params, "from", invalidParameters);
  const to = timeOf(params, "to", invalidParameters);
  if (from !== null || to !== null) return { kind: "between", from, to };
  const name = params.get("range");
  if (name === null) return DEFAULT_RANGE;
  if (name === "all") return { kind: "all" };
  const preset = PRESETS.find((each) => each.name === name);
  if (preset) return { kind: "last", preset: preset.name };
  invalidParameters.push("range");
  return DEFAULT_RANGE;
}

/** Parses ISO 8601 or epoch milliseconds to ISO 8601. */
function timeOf(params: URLSearchParams, name: "from" | "to", invalidParameters: string[]): string | null {
  const text = params.get(name);
  if (text === null) return null;
  const ms = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(text);
  if (Math.abs(ms) <= 8.64e15) return new Date(ms).toISOString();
  invalidParameters.push(name);
  return null;
}

function isDefault(range: Range): boolean {
  return range.kind === "last" && DEFAULT_RANGE.kind === "last" && range.preset === DEFAULT_RANGE.preset;
}
