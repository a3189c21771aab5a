import { parse } from "../../../../../src/query-language/parse.ts";
import { QUERY_LIMITS } from "../../../../../src/query-language/reader.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import type { Filters } from "../filters.ts";
import { isTestable, testsOf } from "./filter-tests.ts";
import { withTests } from "./query-terms.ts";

/** Filters of the API without times, as addresses of earlier versions and clicks on values have them. */
type ViewFilters = Omit<Filters, "from" | "to" | "q">;

/** Longest search of the API in characters. */
const SEARCH_MAX = 512;

/** Returns the query of an address. Filters that addresses of earlier versions have beside it become tests of it. */
export function queryOf(params: URLSearchParams, invalidParameters: string[]): string {
  const filters = filtersOf(params, invalidParameters);
  const query = params.get("q") ?? "";
  // A truncated query would find other entries.
  if (query.length > QUERY_LIMITS.bytes) invalidParameters.push("q");
  const own = query.trim() === "" || query.length > QUERY_LIMITS.bytes ? "" : query;
  const tests = testsOf(filters);
  if (tests.length === 0) return own;
  const whole = withTests(own === "" ? "*" : own, tests);
  // A query that is wrong is shown as it is, and one that became too long without the filters.
  if (parse(own).ok && parse(whole).ok) return whole;
  invalidParameters.push(...Object.keys(filters));
  return own;
}

function filtersOf(params: URLSearchParams, invalidParameters: string[]): ViewFilters {
  const levels = params.getAll("level");
  const minLevel = params.get("minLevel");
  if (levels.some((name) => !isLevel(name))) invalidParameters.push("level");
  if (minLevel !== null && !isLevel(minLevel)) invalidParameters.push("minLevel");
  return {
    ...listed("level", levels.filter(isLevel)),
    ...(minLevel !== null && isLevel(minLevel) ? { minLevel } : {}),
    ...listed("category", params.getAll("category").filter(Boolean)),
    ...listed("type", params.getAll("type").filter(Boolean)),
    ...listed("service", params.getAll("service").filter(Boolean)),
    ...listed("host", params.getAll("host").filter(Boolean)),
    ...texts(params, invalidParameters),
    ...dataOf(params.get("data"), invalidParameters),
  };
}

function isLevel(name: string): name is Level {
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
    // SAFETY: what is no condition is refused next.
    const conditions = data as NonNullable<ViewFilters["data"]>;
    if (!isTestable(conditions)) throw new TypeError("not testable");
    return Object.keys(data).length === 0 ? {} : { data: conditions };
  } catch {
    invalidParameters.push("data");
    return {};
  }
}
