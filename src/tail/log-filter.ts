import type { LogFilter } from "../logs/query/filter.ts";
import { andFilters, compileFilter } from "../logs/search/compile-filter.ts";
import { parseFilterText } from "../query-language/parse.ts";
import type { TailFilter } from "./filter.ts";

/**
 * Converts a tail's filter into a query filter.
 * @param oldest excludes entries with an earlier timestamp as expired, epoch milliseconds; `null` if no entry can be
 * expired
 */
export function toLogFilter({ rest, ...filter }: TailFilter, oldest: number | null): LogFilter {
  const simple: LogFilter = { ...filter, from: oldest, to: null, data: [], rest: null };
  if (rest === null) return simple;
  const parsed = parseFilterText(rest);
  // The router has parsed the text before it wrote it. Without the filter, a tail would send what is not wanted.
  if (!parsed.ok) throw new RangeError("A filter of the query language cannot be read.");
  // The text has no durations.
  return andFilters(simple, compileFilter(parsed.query.filter, 0));
}
