import { LEVELS } from "../levels.ts";
import { type DataTest, toDataFilter } from "./data-test.ts";
import { usage } from "./failure.ts";

/** The filters of a query or tail. */
export interface Filters {
  levels: readonly string[];
  minLevel: string | null;
  categories: readonly string[];
  types: readonly string[];
  services: readonly string[];
  hosts: readonly string[];
  session: string | null;
  trace: string | null;
  search: string | null;
  /** In the query language, without pipes. */
  q: string | null;
  data: readonly DataTest[];
}

/** Returns a level in lower case. @throws Failure that names the option, for an unknown level */
export function levelOf(option: string, text: string): string {
  const level = text.toLowerCase();
  if ((LEVELS as readonly string[]).includes(level)) return level;
  throw usage(`${option} ${text}: unknown level; must be one of ${LEVELS.join(", ")}.`);
}

/** Returns the members `filters` and `q` of a query. Times are in epoch milliseconds. */
export function toQueryFilters(filters: Filters, from: number | null, to: number | null): Record<string, unknown> {
  return {
    filters: {
      ...simpleFilters(filters),
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
      ...(filters.data.length === 0 ? {} : { data: toDataFilter(filters.data) }),
    },
    ...(filters.q === null ? {} : { q: filters.q }),
  };
}

/** Returns the query parameters of a tail, which has no filters on `data`. */
export function toTailQuery(filters: Filters, since: number | null): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(simpleFilters(filters))) {
    for (const value of [values].flat()) query.append(name, value);
  }
  if (filters.q !== null) query.set("q", filters.q);
  if (since !== null) query.set("since", String(since));
  return query;
}

function simpleFilters(filters: Filters): Record<string, string | string[]> {
  const { levels, minLevel, categories, types, services, hosts, session, trace, search } = filters;
  return {
    ...(levels.length > 0 ? { level: [...levels] } : {}),
    ...(minLevel === null ? {} : { minLevel }),
    ...(categories.length > 0 ? { category: [...categories] } : {}),
    ...(types.length > 0 ? { type: [...types] } : {}),
    ...(services.length > 0 ? { service: [...services] } : {}),
    ...(hosts.length > 0 ? { host: [...hosts] } : {}),
    ...(session === null ? {} : { session }),
    ...(trace === null ? {} : { traceId: trace }),
    ...(search === null ? {} : { search }),
  };
}
