import { z } from "zod";
import type { Env } from "../../env.ts";
import { originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse } from "../../http/errors.ts";
import { requiredNameSchema } from "../../http/fields.ts";
import { pageOf, pageQuery, timeCursor, timePage } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { newId } from "../../ids.ts";
import { RETENTION_DAYS } from "../../logs/entry.ts";
import type { Origin } from "../../platform/origin.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { claimWorkspace, listedWorkspaces } from "../../workspace/listing.ts";
import { type CreationPorts, createWorkspace } from "../../workspace/provision.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { userGuard, verifiedUser } from "../guards/user.ts";
import { resultOf } from "../guards/workspace.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { withOwnershipQuota, workspaceData, workspaceShape } from "./shared.ts";

const TAG = "Workspaces";

const workspaceName = requiredNameSchema;
const slugSchema = z
  .string()
  .max(40)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase letters and digits, in groups joined by single hyphens");

export const workspaces = resource();

workspaces.route(
  {
    method: "POST",
    path: "/workspaces",
    operation: "workspace.create",
    tag: TAG,
    summary: "Create a workspace",
    description: [
      "Requires a confirmed e-mail address. Without `slug`, it is derived from the name, with a suffix if it is taken; a requested slug",
      "is granted unchanged or refused with 409. An account owns at most 10 workspaces beside its personal",
      "one (409), unless the operator has set another number.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ name: workspaceName, slug: slugSchema.optional() }),
    example: { name: "Web shop" },
    status: 201,
    response: workspaceShape,
    errors: ["VALIDATION_ERROR", "EMAIL_NOT_VERIFIED", "CONFLICT", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [
    userGuard({ count: "user" }),
    async (c, next) => {
      await verifiedUser(c);
      await next();
    },
  ],
  async (c, { body: { name, slug } }) => {
    const { userId } = c.get("user");
    const id = newId("ws");
    c.get("log").workspaceId = id;
    const creation = { id, name, ownerId: userId, slug: slug ?? null };
    const created = await withOwnershipQuota(c, userId, id, () =>
      createWorkspace(creationPorts(c.env, originOf(c)), creation, Date.now()),
    );
    if (!created.ok && created.reason === "taken") return refuse("CONFLICT", "The slug is taken.");
    if (!created.ok) {
      const headers = { "Retry-After": "1" };
      return refuse("SERVICE_UNAVAILABLE", "Creating the workspace took too long. Try again.", { headers });
    }
    const info = await resultOf(
      c,
      await callWorkspace(c.env, id, "replay-safe", (stub) => stub.getWorkspaceInfo(userId)),
    );
    return success(workspaceData(info), c.get("requestId"), 201);
  },
);

function creationPorts(env: Env, origin: Origin): CreationPorts {
  return {
    provision: (workspace) =>
      callWorkspace(env, workspace.id, "replay-safe", (stub) => stub.provision(workspace, origin)),
    claim: (claim) => claimWorkspace(env.DB, claim),
    confirm: (id, slug) => callWorkspace(env, id, "replay-safe", (stub) => stub.confirm(slug)),
    discard: (id) => callWorkspace(env, id, "replay-safe", (stub) => stub.destroy(origin)),
  };
}

workspaces.route(
  {
    method: "GET",
    path: "/workspaces",
    operation: "workspace.list",
    tag: TAG,
    summary: "List the workspaces that the caller is a member of",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(workspaceShape),
    errors: ["VALIDATION_ERROR", "RATE_LIMITED"],
  },
  [userGuard({ count: "user" })],
  async (c, { query: { cursor, limit } }) => {
    const { userId } = c.get("user");
    const rows = await listedWorkspaces(c.env.DB, userId, timeCursor(cursor), limit + 1);
    const { page, nextCursor } = timePage(rows, limit, ({ createdAt, id }) => [createdAt, id]);
    const answers = await Promise.all(
      page.map(({ id }) => callWorkspace(c.env, id, "replay-safe", (stub) => stub.getWorkspaceInfo(userId))),
    );
    // The directory may lag: a workspace that it lists and the object denies has just been deleted.
    const items = answers.flatMap((answer) => (answer.ok ? [workspaceData(answer.value)] : []));
    return success({ items, nextCursor }, c.get("requestId"));
  },
);

workspaces.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId",
    operation: "workspace.get",
    tag: TAG,
    summary: "Get a workspace",
    security: "accessToken",
    status: 200,
    response: workspaceShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "workspace.get", from: "path" })],
  async (c) => {
    return success(workspaceData(await manage(c, "getWorkspaceInfo")), c.get("requestId"));
  },
);

workspaces.route(
  {
    method: "PATCH",
    path: "/workspaces/:workspaceId",
    operation: "workspace.update",
    tag: TAG,
    summary: "Rename a workspace, or change its retention",
    description: "The slug does not change.",
    security: "accessToken",
    body: z.strictObject({
      name: workspaceName.optional(),
      retentionDays: z.int().min(RETENTION_DAYS.min).max(RETENTION_DAYS.max).optional(),
    }),
    example: { name: "Web shop", retentionDays: 90 },
    status: 200,
    response: workspaceShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "workspace.update", from: "path" })],
  async (c, { body }) => {
    return success(workspaceData(await manage(c, "changeSettings", body)), c.get("requestId"));
  },
);

workspaces.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId",
    operation: "workspace.delete",
    tag: TAG,
    summary: "Delete a workspace with everything in it",
    description: [
      "From the next request on the workspace does not exist: its keys are refused, and no query returns its logs. A personal",
      "workspace cannot be deleted (409); it is deleted with its account.",
    ].join("\n"),
    security: "accessToken",
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "workspace.delete", from: "path" })],
  async (c) => {
    await manage(c, "deleteWorkspace");
    return success({ deleted: true }, c.get("requestId"));
  },
);
