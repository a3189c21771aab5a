import { isOrdered, parseDataPath, valueAt } from "../../../../../src/logs/query/filter.ts";
import { tailFilterText } from "../../../../../src/tail/filter.ts";
import { TAIL_LIMITS } from "../../../../../src/tail/limits.ts";
import type { LogEntry } from "../../../model/types.ts";
import type { DataCondition, Filters } from "../filters.ts";

/** The filters that the service applies to a tail, as its query parameters. */
export function tailParameters(filters: Filters): URLSearchParams {
  const { level, minLevel, category, type, session, traceId, search } = filters;
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries({ level, category, type })) {
    for (const value of values ?? []) query.append(name, value);
  }
  for (const [name, value] of Object.entries({ minLevel, session, traceId, search })) {
    if (value) query.set(name, value);
  }
  return query;
}

/** Whether the service takes these filters for a tail: it keeps them beside the connection, where there is little room. */
export function fitsTail({ category, type, session, traceId, search }: Filters): boolean {
  const text = tailFilterText({
    // Three digits, as the longest mask has.
    levelMask: 127,
    categories: category?.length ? category : null,
    types: type?.length ? type : null,
    session: session || null,
    traceId: traceId || null,
    search: search?.toLowerCase() || null,
  });
  return new TextEncoder().encode(text).length <= TAIL_LIMITS.filterBytes;
}

/** The filters that a tail knows nothing of, by the service's own rules: `from`, `to` and `data`. */
export function remainingTest({ from, to, data }: Filters): (entry: LogEntry) => boolean {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const tests = Object.entries(data ?? {}).map(([path, condition]) => ({ names: parseDataPath(path), condition }));
  return (entry) => {
    const at = Date.parse(entry.timestamp);
    if (!(at >= start && at < end)) return false;
    return tests.every(({ names, condition }) => names !== null && passes(condition, valueAt(entry.data, names)));
  };
}

function passes(condition: DataCondition, value: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  const { eq, ne, in: any, exists, ...bounds } = condition;
  if (eq !== undefined && value !== eq) return false;
  if (ne !== undefined && value === ne) return false;
  // A link made by hand may hold anything; the list of the same filters is refused by the service.
  if (any !== undefined && !(Array.isArray(any) && any.some((wanted) => value === wanted))) return false;
  if (exists !== undefined && (value !== undefined) !== exists) return false;
  const { gt, gte, lt, lte } = bounds;
  return Object.entries({ gt, gte, lt, lte }).every(([operator, bound]) => {
    if (bound === undefined) return true;
    if (typeof bound !== "number" && typeof bound !== "string") return false;
    // SAFETY: the names are those of the literal above.
    return isOrdered(operator as "gt" | "gte" | "lt" | "lte", value, bound);
  });
}
