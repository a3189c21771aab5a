import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { type ErrorDetail, refuseFields } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { queryPageSchema } from "../../logs/entry-view.ts";
import { SEARCH_BUDGET } from "../../logs/query/budget.ts";
import { toByteString } from "../../logs/query/case-folding.ts";
import { decodeAsOf, encodeAsOf, encodeCursor } from "../../logs/query/cursor.ts";
import type { LeasedMemory } from "../../logs/query/memory.ts";
import { pageTexts, type QueryFailure, type QueryResult, runQuery } from "../../logs/query/run-query.ts";
import { skipOf } from "../../logs/query/scan.ts";
import { QueryBody } from "../../logs/query/schema.ts";
import { rowBytes } from "../../logs/query/top-rows.ts";
import { STATS_LIMITS, type StatsQuery, statsAnswerSchema } from "../../logs/stats/histogram.ts";
import { runStats } from "../../logs/stats/run-stats.ts";
import { runTable, type TableQuery, tableText } from "../../logs/stats/run-table.ts";
import { StatsBody, tableAnswerSchema } from "../../logs/stats/table-schema.ts";
import { EXAMPLE } from "../examples.ts";
import { logSource, type Reader, readerBody, readerOf, statsSource, withReadMemory } from "./reader.ts";

export function addQuery(logger: Resource): void {
  logger.route(
    {
      method: "POST",
      path: "/logger/query",
      operation: "workspace.query",
      tag: "Logs",
      summary: "Query log entries",
      description: [
        "Ordered by timestamp, then `seq`. The pages of one query read one snapshot: entries that arrive in the meantime neither shift nor",
        "repeat a row. Accepts an API key with `logs:read`, which reads its own project, or an access token with",
        "`X-Workspace-Id`.",
      ].join("\n"),
      security: "either",
      documentedBody: { "application/json": { schema: QueryBody, example: EXAMPLE.query } },
      headers: { "X-Workspace-Id": "Required with an access token: the workspace to read." },
      status: 200,
      response: queryPageSchema,
      errors: ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE"],
    },
    [],
    query,
  );
}

async function query(c: Context<AppEnv>): Promise<Response> {
  const reader = await readerOf(c);
  const wanted = await readerBody(c, reader, QueryBody);
  const source = logSource(c, reader, wanted.projectId);
  const read = async (memory: LeasedMemory) => {
    const result = await runQuery(source, wanted, Date.now, undefined, memory);
    if (!result.ok) return refuseFields([FAILURES[result.reason]]);
    const { page, work } = result;
    if (wanted.instant !== undefined) keepInstant(result, wanted.instant);
    const { scanned, tookMs } = page.stats;
    const rows = page.rows.length;
    Object.assign(c.get("log"), { rows, scanned, work: Math.round(work), tookMs, complete: page.complete });
    return { data: pageTexts(page), bytes: page.rows.reduce((sum, row) => sum + rowBytes(row), 0) };
  };
  return withReadMemory(c, skipOf(wanted) + wanted.limit, read, { isPage: true });
}

/** Adds the time from which relative times count to the cursor and the snapshot of a page. */
function keepInstant({ page, cursor, snapshot }: Extract<QueryResult, { ok: true }>, instant: number): void {
  const { pagination } = page;
  const nextCursor = cursor && encodeCursor({ ...cursor, search: { instant, taken: 0 } });
  page.pagination = { ...pagination, nextCursor };
  page.asOf = encodeAsOf(snapshot.commit, instant);
}

const FAILURES: Record<QueryFailure, ErrorDetail> = {
  foreign_cursor: {
    path: "pagination.cursor",
    code: "custom",
    message: "The cursor belongs to a query with other filters or another project.",
  },
  future_snapshot: { path: "asOf", code: "custom", message: "The snapshot does not exist yet." },
};

export function addStats(logger: Resource): void {
  logger.route(
    {
      method: "POST",
      path: "/logger/stats",
      operation: "workspace.stats",
      tag: "Logs",
      summary: "Count and aggregate log entries",
      description: [
        "A histogram of both tiers: entries by minute, 5 minutes, hour or day, optionally also by level, category, type, service or host.",
        "Without `from` and `to`, counts all retained entries. Always exact; fast if the filters are level, category, type",
        "and times.",
        "",
        "With `aggregations` a table: counts, sums, averages, percentiles and others of any field, by fields and by spans of",
        "time. Reads entries, up to the limit of work of a request. `notes` states what to know about the values.",
        "",
        "Accepts an API key with `logs:read`, which reads its own project, or an access token with `X-Workspace-Id`.",
      ].join("\n"),
      security: "either",
      documentedBody: { "application/json": { schema: StatsBody, example: EXAMPLE.stats } },
      headers: { "X-Workspace-Id": "Required with an access token: the workspace to read." },
      status: 200,
      response: z.union([statsAnswerSchema, tableAnswerSchema]),
      errors: ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE"],
    },
    [],
    stats,
  );
}

/** Memory of a histogram with the most buckets and groups, as rows of a query. A table begins with as much. */
const HISTOGRAM_ROWS = 2048;

async function stats(c: Context<AppEnv>): Promise<Response> {
  const startedAt = Date.now();
  const reader = await readerOf(c);
  const wanted = await readerBody(c, reader, StatsBody);
  return wanted.kind === "table" ? table(c, reader, wanted, startedAt) : histogram(c, reader, wanted, startedAt);
}

function histogram(c: Context<AppEnv>, reader: Reader, wanted: StatsQuery, startedAt: number): Promise<Response> {
  const source = statsSource(c, reader, wanted.projectId);
  return withReadMemory(c, HISTOGRAM_ROWS, async (memory) => {
    const result = await runStats(source, wanted, undefined, memory);
    if (!result.ok) return refuseTooMany();
    const { answer } = result;
    const tookMs = Date.now() - startedAt;
    Object.assign(c.get("log"), { buckets: answer.buckets.length, tookMs, complete: answer.complete });
    const text = toByteString(JSON.stringify(answer));
    return { data: [text].values(), bytes: text.length };
  });
}

function table(c: Context<AppEnv>, reader: Reader, wanted: TableQuery, startedAt: number): Promise<Response> {
  const source = statsSource(c, reader, wanted.projectId);
  return withReadMemory(c, HISTOGRAM_ROWS, async (memory) => {
    const result = await runTable(source, wanted, SEARCH_BUDGET, memory);
    if (!result.ok) return refuseFields([FAILURES[result.reason]]);
    const { work } = result;
    const { instant } = wanted;
    const asOf = instant === undefined ? result.answer.asOf : withInstant(result.answer.asOf, instant);
    const answer = { ...result.answer, asOf };
    const { rows, scanned, complete } = answer;
    const tookMs = Date.now() - startedAt;
    Object.assign(c.get("log"), { rows: rows.length, scanned, work: Math.round(work), tookMs, complete });
    return { data: tableText(answer), bytes: rows.reduce((sum, row) => sum + row.length, 0) };
  });
}

function withInstant(asOf: string, instant: number): string {
  return encodeAsOf(decodeAsOf(asOf) ?? 0, instant);
}

function refuseTooMany(): never {
  const { buckets, groups } = STATS_LIMITS;
  const message = `More than ${buckets} buckets or ${groups} groups. Use a longer interval or a shorter time range.`;
  return refuseFields([{ path: "interval", code: "too_big", message }]);
}
