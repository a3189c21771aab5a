import type { LogFilter } from "../logs/query/filter.ts";

/** What a tail may be narrowed by: the simple filters of a query. */
export type TailFilter = Pick<LogFilter, "levelMask" | "categories" | "types" | "session" | "traceId" | "search">;

/** One text per meaning: tails of the same text are filtered once. */
export function tailFilterText({ levelMask, categories, types, session, traceId, search }: TailFilter): string {
  return JSON.stringify([levelMask, listed(categories), listed(types), session, traceId, search]);
}

/** @param text as `tailFilterText` wrote it */
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

/** @param oldest entries with an earlier timestamp are past the retention, epoch milliseconds; null where none can be */
export function toLogFilter(filter: TailFilter, oldest: number | null): LogFilter {
  return { ...filter, from: oldest, to: null, data: [] };
}

function listed(names: readonly string[] | null): string[] | null {
  return names && [...new Set(names)].sort();
}
