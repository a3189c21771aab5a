import type { LogFilter } from "../logs/query/filter.ts";
import { type RestFilter, restFilterOf } from "../logs/search/rest-filter.ts";
import { parseFilterText } from "../query-language/parse.ts";
import type { TailFilter } from "./filter.ts";

/**
 * Converts a tail's filter into a query filter.
 * @param oldest excludes entries with an earlier timestamp as expired, epoch milliseconds; `null` if no entry can be
 * expired
 */
export function toLogFilter({ rest, ...filter }: TailFilter, oldest: number | null): LogFilter {
  return { ...filter, from: oldest, to: null, data: [], rest: rest === null ? null : readRest(rest) };
}

/** @param text as `RestFilter` has it, so it parses and has no durations */
function readRest(text: string): RestFilter {
  const parsed = parseFilterText(text);
  if (!parsed.ok) throw new RangeError("A filter of the query language cannot be read.");
  return restFilterOf(parsed.query.filter, 0);
}
