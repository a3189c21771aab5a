import type { LogEntry } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import type { QueryRequest } from "./actions/curl.ts";
import { type Filters, requestBody } from "./filters.ts";
import type { Interval, Stats } from "./histogram/buckets.ts";

/** The response of `POST /logger/query`. */
export interface QueryPage {
  logs: LogEntry[];
  pagination: { offset: number; limit: number; hasMore: boolean; nextCursor: string | null; total?: number };
  /** `false` if the budget ran out before the page was full or everything was scanned. */
  complete: boolean;
  asOf: string;
  stats: { scanned: number; recent: number; stored: number; tookMs: number };
}

export interface StatsRequest {
  projectId?: string;
  filters: Filters;
  interval: Interval;
  groupBy: "level" | "category" | "type";
}

export async function queryLogs(workspaceId: string, body: QueryRequest, signal: AbortSignal): Promise<QueryPage> {
  const { data } = await authorized<QueryPage>("/logger/query", { workspaceId, body: requestBody(body), signal });
  return data;
}

/** Returns the most frequent values of a field, and whether all entries were counted. */
export async function countValues(
  workspaceId: string,
  { field, ...request }: { projectId?: string; filters: Filters; field: string },
  signal: AbortSignal,
): Promise<{ counts: ReadonlyMap<string, number>; complete: boolean }> {
  const body = {
    ...requestBody(request),
    aggregations: [{ fn: "count", as: "count" }],
    groupBy: [field],
    sort: { by: "count" },
    limit: VALUES,
  };
  const { data } = await authorized<{ rows: unknown[][]; complete: boolean }>("/logger/stats", {
    workspaceId,
    body,
    signal,
  });
  const named = data.rows.flatMap(([name, count]): [string, number][] =>
    typeof name === "string" && typeof count === "number" ? [[name, count]] : [],
  );
  return { counts: new Map(named), complete: data.complete };
}

/** Values of a field that the page lists. */
const VALUES = 100;

export async function countLogs(workspaceId: string, body: StatsRequest, signal: AbortSignal): Promise<Stats> {
  const { data } = await authorized<Stats>("/logger/stats", { workspaceId, body: requestBody(body), signal });
  return data;
}
