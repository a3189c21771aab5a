import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { ApiError, type ErrorDetail, refuse, refuseFields } from "../http/errors.ts";
import { jsonBody } from "../http/json.ts";
import type { Resource } from "../http/resource.ts";
import { looksLikeApiKey } from "../keys/api-key.ts";
import type { RouteRef } from "../limits/state.ts";
import { queryPageSchema } from "../logs/query/page-schema.ts";
import type { RecentSource } from "../logs/query/recent-feed.ts";
import { type QueryFailure, runQuery } from "../logs/query/run-query.ts";
import { type LogQuery, QueryBody } from "../logs/query/schema.ts";
import { callWorkspace } from "../objects/stubs.ts";
import type { Caller } from "../workspace/caller.ts";
import { PERMISSIONS } from "../workspace/permissions.ts";
import { countByAddress } from "./address-limits.ts";
import { countedRoute } from "./sandbox-budget.ts";
import { authenticateUser, bearerToken } from "./user-guard.ts";
import { namedWorkspace, refuseDenied, requireApiKey } from "./workspace-guard.ts";

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

/** Who reads, which workspace's object decides about it, and what the request counts under there. */
interface Reader {
  caller: Caller;
  workspaceId: string;
  route: RouteRef | null;
}

async function query(c: Context<AppEnv>): Promise<Response> {
  const reader = await readerOf(c);
  const wanted = await readQuery(c, reader);
  const result = await runQuery(recentSource(c, reader, wanted.projectId), wanted, Date.now);
  if (!result.ok) return refuseFields([FAILURES[result.reason]]);
  const { page } = result;
  const { scanned, tookMs } = page.stats;
  Object.assign(c.get("log"), { rows: page.logs.length, scanned, tookMs, complete: page.complete });
  return success(page, c.get("requestId"));
}

const FAILURES: Record<QueryFailure, ErrorDetail> = {
  foreign_cursor: {
    path: "pagination.cursor",
    code: "custom",
    message: "The cursor belongs to a query with other filters or another project.",
  },
  future_snapshot: { path: "asOf", code: "custom", message: "There is no such snapshot yet." },
};

async function readerOf(c: Context<AppEnv>): Promise<Reader> {
  const token = bearerToken(c);
  if (token === null) {
    await countByAddress(c, "API_DEFAULT");
    refuse("UNAUTHORIZED", "Send an API key or an access token as Authorization: Bearer.");
  }
  if (looksLikeApiKey(token)) {
    const key = await requireApiKey(c);
    const { hash, workspaceId } = key;
    c.get("log").workspaceId = workspaceId;
    return { caller: { kind: "key", hash }, workspaceId, route: await countedRoute(c, key, "reads", 1) };
  }
  const { userId } = await authenticateUser(c);
  const workspaceId = await namedWorkspace(c, "header");
  return { caller: { kind: "user", userId }, workspaceId, route: c.get("route") };
}

/** The query. A body that is none still counts, and the caller's own faults are told first. */
async function readQuery(c: Context<AppEnv>, { caller, workspaceId, route }: Reader): Promise<LogQuery> {
  try {
    return await jsonBody(c.req.raw, QueryBody);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const need = { scope: "logs:read", role: PERMISSIONS["logs.read"], projectId: null } as const;
    const answer = await callWorkspace(c.env, workspaceId, "once", (stub) => stub.admit(caller, need, route));
    if (!answer.ok) return refuseDenied(c, answer);
    if (answer.limit) c.set("limit", answer.limit);
    throw error;
  }
}

/** Asks the workspace object. The first page admits the request and counts it; the credential is checked for each. */
function recentSource(c: Context<AppEnv>, reader: Reader, projectId: string | null): RecentSource {
  const { caller, workspaceId } = reader;
  let isCounted = false;
  return async (scan) => {
    const route = isCounted ? null : reader.route;
    const result = await callWorkspace(c.env, workspaceId, isCounted ? "replay-safe" : "once", (stub) =>
      stub.recent({ caller, route, projectId, scan }),
    );
    if (!result.ok) return refuseDenied(c, result);
    if (result.limit) c.set("limit", result.limit);
    isCounted = true;
    return result.page;
  };
}
