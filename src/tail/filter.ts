import type { LogFilter } from "../logs/query/filter.ts";

/** The filters that a tail accepts: the simple ones of a query. */
export type TailFilter = Pick<LogFilter, "levelMask" | "categories" | "types" | "session" | "traceId" | "search">;

/** Encodes a filter as text. Equal filters have equal texts, so that their tails share one tail group. */
export function tailFilterText({ levelMask, categories, types, session, traceId, search }: TailFilter): string {
  return JSON.stringify([levelMask, listed(categories), listed(types), session, traceId, search]);
}

/**
 * Decodes a filter.
 * @param text as written by `tailFilterText`
 */
export function readTailFilter(text: string): TailFilter {
  // SAFETY: this is the array that `tailFilterText` writes, in its order.
  const [levelMask, categories, types, session, traceId, search] = JSON.parse(text) as [
    number,
    string[] | null,
    string[] | null,
    string | null,
    string | null,
    string | null,
  ];
  return { levelMask, categories, types, session, traceId, search };
}

/**
 * Converts a tail's filter into a query filter.
 * @param oldest excludes entries with an earlier timestamp as expired, epoch milliseconds; `null` if no entry can be
 * expired
 */
export function toLogFilter(filter: TailFilter, oldest: number | null): LogFilter {
  return { ...filter, from: oldest, to: null, data: [] };
}

function listed(names: readonly string[] | null): string[] | null {
  return names && [...new Set(names)].sort();
}
