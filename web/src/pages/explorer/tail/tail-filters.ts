import { dataAt, parseDataPath, valueAt } from "../../../../../src/logs/query/data-path.ts";
import { isOrdered, type NoMembers } from "../../../../../src/logs/query/filter.ts";
import { tailFilterText } from "../../../../../src/tail/filter.ts";
import { TAIL_LIMITS } from "../../../../../src/tail/limits.ts";
import type { LogEntry } from "../../../model/types.ts";
import type { DataCondition, Filters } from "../filters.ts";

/** Query parameters for the filters that the service applies to a tail. */
export function tailParameters(filters: Filters): URLSearchParams {
  const { level, minLevel, category, type, service, host, session, traceId, search, q, ...others } = filters;
  // `remainingTest` applies these. A filter that neither function applies does not compile.
  const { from: _from, to: _to, data: _data, ...ignored } = others;
  ignored satisfies NoMembers;
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries({ level, category, type, service, host })) {
    for (const value of values ?? []) query.append(name, value);
  }
  for (const [name, value] of Object.entries({ minLevel, session, traceId, search, q })) {
    if (value) query.set(name, value);
  }
  return query;
}

/**
 * Whether the service accepts these filters for a tail. Their size is limited because they are stored with the
 * connection.
 */
export function fitsTail({ category, type, service, host, session, traceId, search, q }: Filters): boolean {
  // The service writes them in the query language, with little besides their names.
  const own = [service, host].flatMap((names) => names?.map((name) => JSON.stringify(`    service:=${name}`)) ?? []);
  const text = tailFilterText({
    // Three digits, as the longest mask has.
    levelMask: 127,
    categories: category?.length ? category : null,
    types: type?.length ? type : null,
    session: session || null,
    traceId: traceId || null,
    search: search?.toLowerCase() || null,
    rest: own.join("") + (q ?? "") || null,
  });
  return new TextEncoder().encode(text).length <= TAIL_LIMITS.filterBytes;
}

/**
 * Tests an entry by the filters that a tail does not support (`from`, `to` and `data`), by the rules of the service.
 */
export function remainingTest({ from, to, data }: Filters): (entry: LogEntry) => boolean {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const tests = Object.entries(data ?? {}).map(([path, condition]) => ({ names: parseDataPath(path), condition }));
  return (entry) => {
    const at = Date.parse(entry.timestamp);
    if (!(at >= start && at < end)) return false;
    return tests.every(
      ({ names, condition }) => names !== null && passes(condition, valueAt(dataAt(entry, names), names)),
    );
  };
}

function passes(condition: DataCondition, value: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  const { eq, ne, in: any, exists, ...bounds } = condition;
  if (eq !== undefined && value !== eq) return false;
  if (ne !== undefined && value === ne) return false;
  // An edited link may contain any value. The service refuses the list of such filters.
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
