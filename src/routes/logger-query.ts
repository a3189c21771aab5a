import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { type ErrorDetail, refuseFields } from "../http/errors.ts";
import type { Resource } from "../http/resource.ts";
import { pageTexts } from "../logs/query/answer.ts";
import { rowBytes } from "../logs/query/collector.ts";
import { queryPageSchema } from "../logs/query/page-schema.ts";
import { type QueryFailure, runQuery } from "../logs/query/run-query.ts";
import { skipOf } from "../logs/query/scan.ts";
import { QueryBody } from "../logs/query/schema.ts";
import { logSource, readerBody, readerOf } from "./log-reader.ts";
import { withReadMemory } from "./read-memory.ts";

export function addQuery(logger: Resource): void {
  logger.route(
    {
      method: "POST",
      path: "/logger/query",
      operation: "workspace.query",
      tag: "Logs",
      summary: "Query log entries",
      description: [
        "By timestamp, then `seq`. The pages of one query are a snapshot: entries that arrive meanwhile neither shift nor",
        "repeat a row. Takes an API key with `logs:read`, which reads its own project, or an access token with",
        "`X-Workspace-Id`.",
      ].join("\n"),
      security: "either",
      documentedBody: { "application/json": QueryBody },
      headers: { "X-Workspace-Id": "With an access token: the workspace to read." },
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
  return withReadMemory(c, skipOf(wanted) + wanted.limit, async (memory) => {
    const result = await runQuery(logSource(c, reader, wanted.projectId), wanted, Date.now, undefined, memory);
    if (!result.ok) return refuseFields([FAILURES[result.reason]]);
    const { page, work } = result;
    const { scanned, tookMs } = page.stats;
    const rows = page.rows.length;
    Object.assign(c.get("log"), { rows, scanned, work: Math.round(work), tookMs, complete: page.complete });
    return { data: pageTexts(page), bytes: page.rows.reduce((sum, row) => sum + rowBytes(row), 0) };
  });
}

const FAILURES: Record<QueryFailure, ErrorDetail> = {
  foreign_cursor: {
    path: "pagination.cursor",
    code: "custom",
    message: "The cursor belongs to a query with other filters or another project.",
  },
  future_snapshot: { path: "asOf", code: "custom", message: "There is no such snapshot yet." },
};
