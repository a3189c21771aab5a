import { z } from "zod";
import { success } from "../../http/envelope.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import { pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { isId } from "../../ids.ts";
import { filePrefix } from "../../logs/cold/format/file-key.ts";
import { checkFiles } from "../../logs/cold/store/file-check.ts";
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
    const workspaceId = c.req.param("workspaceId") ?? "";
    if (!isId("ws", workspaceId)) return refuse("NOT_FOUND", "Workspace not found.");
    c.get("log").workspaceId = workspaceId;
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

function refuseCursor(): never {
  return refuseFields([
    { path: "query.cursor", code: "invalid_format", message: "Invalid cursor. Send nextCursor of the previous page." },
  ]);
}
