import { LEVELS, type Level } from "../../../model/types.ts";
import type { FilterPatch, Filters } from "../filters.ts";
import { DEFAULT_RANGE, PRESETS, type Range } from "./range.ts";

/** Filters without times, which the range holds. */
export type ViewFilters = Omit<Filters, "from" | "to">;

/** All that a permalink of the explorer says, apart from workspace and project, which are in its path. */
export interface View {
  filters: ViewFilters;
  range: Range;
  order: "desc" | "asc";
  /** Follows one project as entries arrive. */
  live: boolean;
}

export interface ReadView {
  view: View;
  /** Parameters that could not be understood: shown, for a link that silently shows something else is worse than none. */
  faults: string[];
}

/** The longest search that the API takes, in characters. */
export const SEARCH_MAX = 512;

export function readView(search: string): ReadView {
  const params = new URLSearchParams(search);
  const faults: string[] = [];
  const levels = params.getAll("level");
  const minLevel = params.get("minLevel");
  if (levels.some((name) => !isLevel(name))) faults.push("level");
  if (minLevel !== null && !isLevel(minLevel)) faults.push("minLevel");
  const filters: ViewFilters = {
    ...listed("level", levels.filter(isLevel)),
    ...(minLevel !== null && isLevel(minLevel) ? { minLevel } : {}),
    ...listed("category", params.getAll("category").filter(Boolean)),
    ...listed("type", params.getAll("type").filter(Boolean)),
    ...texts(params, faults),
    ...dataOf(params.get("data"), faults),
  };
  const live = params.get("live") === "1";
  const order = params.get("order") === "asc" && !live ? "asc" : "desc";
  return { view: { filters, range: rangeOf(params, faults), order, live }, faults };
}

/** The query string of a view, empty or with its "?". Equal views give equal texts. */
export function viewSearch({ filters, range, order, live }: View): string {
  const params = new URLSearchParams();
  const { level, minLevel, category, type, session, traceId, search, data } = filters;
  for (const name of level ?? []) params.append("level", name);
  if (minLevel) params.set("minLevel", minLevel);
  for (const name of category ?? []) params.append("category", name);
  for (const name of type ?? []) params.append("type", name);
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
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

/** The view with what a click on an entry adds: members given take the place of those there, `data` is merged. */
export function patched(view: View, { from, to, data, ...patch }: FilterPatch): View {
  const before = view.range.kind === "between" ? view.range : { from: null, to: null };
  const range: Range =
    from === undefined && to === undefined
      ? view.range
      : { kind: "between", from: from ?? before.from, to: to ?? before.to };
  const filters = { ...view.filters, ...patch, ...(data ? { data: { ...view.filters.data, ...data } } : {}) };
  return { ...view, filters, range };
}

/** Without the members named. */
export function without(filters: ViewFilters, ...names: (keyof ViewFilters)[]): ViewFilters {
  // SAFETY: members of the filters, less some that may all be absent.
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

function texts(params: URLSearchParams, faults: string[]): Pick<ViewFilters, "session" | "traceId" | "search"> {
  const session = params.get("session");
  const traceId = params.get("traceId");
  const search = params.get("search");
  // A part of it would find something else.
  const isTooLong = search !== null && search.length > SEARCH_MAX;
  if (isTooLong) faults.push("search");
  return {
    ...(session ? { session } : {}),
    ...(traceId ? { traceId } : {}),
    ...(search && !isTooLong ? { search } : {}),
  };
}

function dataOf(text: string | null, faults: string[]): Pick<ViewFilters, "data"> {
  if (text === null) return {};
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data !== "object" || data === null || Array.isArray(data)) throw new TypeError("not an object");
    // SAFETY: what is no condition in it the API refuses, by name.
    return Object.keys(data).length === 0 ? {} : { data: data as NonNullable<ViewFilters["data"]> };
  } catch {
    faults.push("data");
    return {};
  }
}

function rangeOf(params: URLSearchParams, faults: string[]): Range {
  const from = timeOf(params, "from", faults);
  const to = timeOf(params, "to", faults);
  if (from !== null || to !== null) return { kind: "between", from, to };
  const name = params.get("range");
  if (name === null) return DEFAULT_RANGE;
  if (name === "all") return { kind: "all" };
  const preset = PRESETS.find((each) => each.name === name);
  if (preset) return { kind: "last", preset: preset.name };
  faults.push("range");
  return DEFAULT_RANGE;
}

/** ISO 8601 or epoch milliseconds, as ISO 8601. */
function timeOf(params: URLSearchParams, name: "from" | "to", faults: string[]): string | null {
  const text = params.get(name);
  if (text === null) return null;
  const ms = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(text);
  if (Math.abs(ms) <= 8.64e15) return new Date(ms).toISOString();
  faults.push(name);
  return null;
}

function isDefault(range: Range): boolean {
  return range.kind === "last" && DEFAULT_RANGE.kind === "last" && range.preset === DEFAULT_RANGE.preset;
}
