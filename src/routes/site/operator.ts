import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import { pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { isId } from "../../ids.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { missingOfPage } from "../../logs/cold/store/missing-ranges.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { allWorkspaces } from "../../workspace/listing.ts";
import { operatorGuard } from "../guards/user.ts";
import { orUnavailable } from "../logs/reader.ts";
import { usageData, usageShape } from "../workspaces/usage.ts";

const TAG = "Operations";

/** The operator's view of all workspaces: amounts, never content. */
export const operator = resource();

operator.route(
  {
    method: "GET",
    path: "/operator/workspaces",
    operation: "operator.workspaces",
    tag: TAG,
    summary: "List all workspaces",
    description: "From the directory, ordered by id. Operators only; counts by client IP.",
    security: "operatorToken",
    query: pageQuery,
    status: 200,
    response: pageOf(z.object({ id: z.string(), slug: z.string(), name: z.string(), createdAt: z.iso.datetime() })),
    errors: ["VALIDATION_ERROR", "UNAUTHORIZED", "NOT_FOUND", "RATE_LIMITED"],
  },
  [operatorGuard],
  async (c, { query: { cursor, limit } }) => {
    if (cursor !== undefined && !isId("ws", cursor)) return refuseCursor();
    const rows = await allWorkspaces(c.env.DB, cursor ?? "", limit + 1);
    const page = rows.slice(0, limit);
    const items = page.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }));
    return success({ items, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null }, c.get("requestId"));
  },
);

const projectShape = z.object({
  id: z.string(),
  lastSeq: z.int().describe("`seq` of the newest entry, or 0 without entries."),
  flushedSeq: z.int().describe("Entries up to this `seq` have moved to the cold tier."),
  cold: z
    .object({
      segments: z.int(),
      entries: z.int(),
      firstSeq: z.int().describe("First `seq` that a segment covers."),
      lastSeq: z.int().describe("Last `seq` that a segment covers."),
    })
    .nullable()
    .describe("What the cold tier has of the project, or `null`."),
});

operator.route(
  {
    method: "GET",
    path: "/operator/workspaces/:workspaceId",
    operation: "operator.workspace",
    tag: TAG,
    summary: "Get the content of a workspace in both tiers",
    description: "Its usage and backlog, and its projects page by page. Operators only.",
    security: "operatorToken",
    query: pageQuery,
    status: 200,
    response: z.object({ id: z.string(), usage: usageShape, projects: pageOf(projectShape) }),
    errors: ["VALIDATION_ERROR", "UNAUTHORIZED", "NOT_FOUND", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [operatorGuard],
  async (c, { query: { cursor, limit } }) => {
    const workspaceId = workspaceOf(c);
    const inspected = await callWorkspace(c.env, workspaceId, "replay-safe", (stub) =>
      stub.inspect(numberOf(cursor), limit + 1),
    );
    if (inspected === null) return refuseWorkspace();
    const projects = inspected.projects.slice(0, limit);
    const ids = projects.map(({ id }) => id);
    const coverage = await orUnavailable(c, new ColdTier(c.env).coverageOf(workspaceId, ids));
    const items = projects.map(({ id, lastSeq, flushedSeq }) => {
      const { projectId: _, ...cold } = coverage.get(id) ?? { projectId: id };
      return { id, lastSeq, flushedSeq, cold: "segments" in cold ? cold : null };
    });
    const isMore = inspected.projects.length > limit;
    const nextCursor = isMore ? String(projects.at(-1)?.num ?? 0) : null;
    const usage = await usageData(c, workspaceId, inspected.usage);
    return success({ id: workspaceId, usage, projects: { items, nextCursor } }, c.get("requestId"));
  },
);

const missingShape = pageOf(
  z.object({
    firstSeq: z.int(),
    lastSeq: z.int(),
    stored: z.int().describe("Entries of the range that are in the cold tier."),
  }),
).extend({
  compared: z.int().describe("Ranges that were compared for this page."),
  firstSeq: z
    .int()
    .nullable()
    .describe(
      "Start of the first compared range. Entries before the first page are expired, or were moved by an earlier version without a record.",
    ),
  flushedSeq: z.int(),
});

operator.route(
  {
    method: "GET",
    path: "/operator/workspaces/:workspaceId/projects/:projectId/missing",
    operation: "operator.missing",
    tag: TAG,
    summary: "Find what the cold tier lacks of a project",
    description: [
      "Compares the ranges that the workspace has moved with the cold tier, `limit` ranges at a time. An empty",
      "page is not the end: check `nextCursor`. Expired entries are never reported. Operators only.",
    ].join("\n"),
    security: "operatorToken",
    query: pageQuery,
    status: 200,
    response: missingShape,
    errors: ["VALIDATION_ERROR", "UNAUTHORIZED", "NOT_FOUND", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [operatorGuard],
  async (c, { query: { cursor, limit } }) => {
    const workspaceId = workspaceOf(c);
    const projectId = c.req.param("projectId") ?? "";
    const after = numberOf(cursor);
    const tier = new ColdTier(c.env);
    const recorded = () =>
      callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.flushedRanges(projectId, after, limit));
    const page = await recorded();
    if (page === null) return refuse("NOT_FOUND", "Project not found.");
    const { ranges, flushedSeq } = page;
    const items = await orUnavailable(c, missingOfPage(tier, workspaceId, projectId, { page, again: recorded }));
    const nextCursor = ranges.length === limit ? String(ranges.at(-1)?.firstSeq ?? 0) : null;
    const firstSeq = ranges[0]?.firstSeq ?? null;
    return success({ items, nextCursor, compared: ranges.length, firstSeq, flushedSeq }, c.get("requestId"));
  },
);

function workspaceOf(c: Context<AppEnv>): string {
  const id = c.req.param("workspaceId") ?? "";
  // A call creates an object, so only a well-formed id may reach one.
  if (!isId("ws", id)) return refuseWorkspace();
  c.get("log").workspaceId = id;
  return id;
}

function refuseWorkspace(): never {
  return refuse("NOT_FOUND", "Workspace not found.");
}

function refuseCursor(): never {
  return refuseFields([
    { path: "query.cursor", code: "invalid_format", message: "Invalid cursor. Send nextCursor of the previous page." },
  ]);
}

/** Returns the number in a page's `nextCursor`; 0 without a cursor. */
function numberOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : refuseCursor();
}
