import { z } from "zod";
import { success } from "../../http/envelope.ts";
import type { ErrorCode } from "../../http/errors.ts";
import { requiredNameSchema } from "../../http/fields.ts";
import { pageOf, pageQuery, refuseCursor } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import type { ProjectRow } from "../../workspace/projects.ts";
import { manage, workspaceGuard } from "../guards/member.ts";

/** Errors that every route of a workspace may return. */
export const WORKSPACE_ERRORS = [
  "VALIDATION_ERROR",
  "UNAUTHORIZED",
  "INVALID_ACCESS_TOKEN",
  "ACCESS_TOKEN_EXPIRED",
  "SESSION_REVOKED",
  "FORBIDDEN",
  "NOT_FOUND",
  "RATE_LIMITED",
] as const satisfies readonly ErrorCode[];

const nameBody = z.strictObject({ name: requiredNameSchema });

const projectSchema = z.object({
  id: z.string(),
  name: z.string(),
  workspaceId: z.string(),
  createdAt: z.iso.datetime(),
  lastSeq: z.int().describe("`seq` of the newest entry, or 0 without entries."),
});

function projectData(project: ProjectRow, workspaceId: string): z.output<typeof projectSchema> {
  const { id, name, createdAt, lastSeq } = project;
  return { id, name, workspaceId, createdAt: new Date(createdAt).toISOString(), lastSeq };
}

export const projects = resource();

projects.route(
  {
    method: "POST",
    path: "/projects",
    operation: "project.create",
    tag: "Projects",
    summary: "Create a project",
    security: "accessToken",
    body: nameBody,
    example: { name: "shop" },
    status: 201,
    response: projectSchema,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "project.create", from: "header" })],
  async (c, { body }) => {
    const workspaceId = c.get("workspaceId");
    const project = await manage(c, "createProject", body.name);
    c.get("log").projectId = project.id;
    return success(projectData(project, workspaceId), c.get("requestId"), 201);
  },
);

projects.route(
  {
    method: "GET",
    path: "/projects",
    operation: "project.list",
    tag: "Projects",
    summary: "List projects",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(projectSchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "project.list", from: "header" })],
  async (c, { query: { cursor, limit } }) => {
    const workspaceId = c.get("workspaceId");
    const from = projectCursor(cursor);
    const rows = await manage(c, "listProjects", from, limit + 1);
    const page = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? String(page.at(-1)?.num) : null;
    const items = page.map((project) => projectData(project, workspaceId));
    return success({ items, nextCursor }, c.get("requestId"));
  },
);

/** Parses a cursor of a list of projects; 0 without one. Ends the request with 400 for any other text. */
export function projectCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  return refuseCursor();
}

projects.route(
  {
    method: "GET",
    path: "/projects/:projectId",
    operation: "project.get",
    tag: "Projects",
    summary: "Get a project",
    security: "accessToken",
    status: 200,
    response: projectSchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "project.get", from: "header" })],
  async (c) => {
    const workspaceId = c.get("workspaceId");
    const projectId = c.req.param("projectId") ?? "";
    const project = await manage(c, "getProject", projectId);
    return success(projectData(project, workspaceId), c.get("requestId"));
  },
);

projects.route(
  {
    method: "PATCH",
    path: "/projects/:projectId",
    operation: "project.rename",
    tag: "Projects",
    summary: "Rename a project",
    security: "accessToken",
    body: nameBody,
    example: { name: "web shop" },
    status: 200,
    response: projectSchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "project.rename", from: "header" })],
  async (c, { body }) => {
    const workspaceId = c.get("workspaceId");
    const projectId = c.req.param("projectId") ?? "";
    const project = await manage(c, "renameProject", projectId, body.name);
    return success(projectData(project, workspaceId), c.get("requestId"));
  },
);

projects.route(
  {
    method: "DELETE",
    path: "/projects/:projectId",
    operation: "project.delete",
    tag: "Projects",
    summary: "Delete a project",
    description: "Its keys are refused from the next request on, and queries no longer return its logs.",
    security: "accessToken",
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "project.delete", from: "header" })],
  async (c) => {
    const projectId = c.req.param("projectId") ?? "";
    await manage(c, "deleteProject", projectId);
    c.get("log").projectId = projectId;
    return success({ deleted: true }, c.get("requestId"));
  },
);
