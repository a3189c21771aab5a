import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import { pageOf, pageQuery } from "../../http/paging.ts";
import { MEMORY_RETRY_SECONDS, resource } from "../../http/resource.ts";
import { isId } from "../../ids.ts";
import { filePrefix } from "../../logs/cold/format/file-key.ts";
import { recoverFiles } from "../../logs/cold/recovery/recover-files.ts";
import { checkFiles } from "../../logs/cold/store/file-check.ts";
import { queryMemory } from "../../platform/isolate-memory.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { operatorGuard } from "../guards/user.ts";
import { orUnavailable } from "../logs/reader.ts";

/** The operator's comparison of the bucket with the catalog. */
export const operatorFiles = resource();

/** A key without the prefix of its workspace. */
const CURSOR = /^[\w./-]{1,200}$/;

operatorFiles.route(
  {
    method: "POST",
    path: "/operator/workspaces/:workspaceId/files",
    operation: "operator.files",
    tag: "Operations",
    summary: "Compare the files of a workspace with its segments",
    description: [
      "Finds files that a segment names and that the bucket does not have, up to 1,000 at a time whatever the `limit`.",
      "Files that no segment names are noted and deleted 7 days later. Operators only.",
    ].join("\n"),
    security: "operatorToken",
    query: pageQuery,
    status: 200,
    response: pageOf(
      z.object({
        file: z.string(),
        projectId: z.string(),
        firstSeq: z.int(),
        lastSeq: z.int(),
        entries: z.int(),
        problem: z.enum(["missing", "size"]).describe("`size`: the file has other bytes than its segment expects."),
      }),
    ).extend({
      compared: z.int().describe("Files in the bucket that were compared for this page."),
      noted: z.int().describe("Files that no segment names and that were not noted before."),
    }),
    errors: ["VALIDATION_ERROR", "UNAUTHORIZED", "NOT_FOUND", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [operatorGuard],
  async (c, { query: { cursor } }) => {
    const workspaceId = workspaceOf(c);
    if (cursor !== undefined && !CURSOR.test(cursor)) return refuseCursor();
    const prefix = filePrefix(workspaceId);
    const after = cursor === undefined ? null : prefix + cursor;
    const { damaged, compared, noted, next } = await orUnavailable(
      c,
      checkFiles(c.env, workspaceId, after, Date.now()),
    );
    const nextCursor = next === null ? null : next.slice(prefix.length);
    return success({ items: damaged, nextCursor, compared, noted }, c.get("requestId"));
  },
);

/** Bytes of a row group, its decoded columns and its restored lines. */
const RECOVERY_BYTES = 12 * 1024 * 1024;
const MEMORY_MS = 10_000;
const MEMORY_RETRY = { headers: { "Retry-After": MEMORY_RETRY_SECONDS } } as const;

operatorFiles.route(
  {
    method: "POST",
    path: "/operator/workspaces/:workspaceId/projects/:projectId/recover",
    operation: "operator.recover",
    tag: "Operations",
    summary: "Rebuild the catalog of a project from its files",
    description: [
      "Inserts segments for files in the bucket whose entries the catalog lacks, up to some 100,000 entries at a time",
      "whatever the `limit`. `items` are files that cannot be read. Operators only.",
    ].join("\n"),
    security: "operatorToken",
    query: pageQuery,
    status: 200,
    response: pageOf(z.object({ file: z.string() })).extend({
      segments: z.int().describe("Segments that were inserted."),
      entries: z.int().describe("Entries of these segments."),
    }),
    errors: ["VALIDATION_ERROR", "UNAUTHORIZED", "NOT_FOUND", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [operatorGuard],
  async (c, { query: { cursor } }) => {
    const workspaceId = workspaceOf(c);
    const projectId = c.req.param("projectId") ?? "";
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return refuseCursor();
    const project = await callWorkspace(c.env, workspaceId, "replay-safe", (stub) =>
      stub.flushedRanges(projectId, 0, 1),
    );
    if (project === null) return refuse("NOT_FOUND", "Project not found.");
    const lease = await queryMemory.take(RECOVERY_BYTES, MEMORY_MS);
    if (lease === null) return refuse("SERVICE_UNAVAILABLE", "Too many logs are being read at once.", MEMORY_RETRY);
    try {
      const { flushedSeq, quarantined = [] } = project;
      const scope = { workspaceId, projectId, flushedSeq, quarantined, after: Number(cursor ?? 0) };
      const { segments, entries, unreadable, next } = await orUnavailable(c, recoverFiles(c.env, scope));
      const items = unreadable.map((file) => ({ file }));
      const nextCursor = next === null ? null : String(next);
      return success({ items, nextCursor, segments, entries }, c.get("requestId"));
    } finally {
      lease.release();
    }
  },
);

function workspaceOf(c: Context<AppEnv>): string {
  const id = c.req.param("workspaceId") ?? "";
  // A call creates an object, so only a well-formed id may reach one.
  if (!isId("ws", id)) return refuse("NOT_FOUND", "Workspace not found.");
  c.get("log").workspaceId = id;
  return id;
}

function refuseCursor(): never {
  return refuseFields([
    { path: "query.cursor", code: "invalid_format", message: "Invalid cursor. Send nextCursor of the previous page." },
  ]);
}
