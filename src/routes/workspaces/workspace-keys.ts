import { success } from "../../http/envelope.ts";
import { integerParameter, optionalParameter, pageOf, pageQuery, refuseCursor } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { keyData, keySchema } from "./keys.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_DAYS = 365;

const keysQuery = pageQuery.extend({
  unusedForDays: optionalParameter(
    integerParameter(1, MAX_DAYS).optional(),
    "Only keys that were neither created nor used in so many days.",
  ),
});

export const workspaceKeys = resource();

workspaceKeys.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/keys",
    operation: "workspaceKey.list",
    tag: "API keys",
    summary: "List the valid API keys of all projects",
    description: "Neither revoked nor expired, in order of creation. For example to find keys that nothing uses.",
    security: "accessToken",
    query: keysQuery,
    status: 200,
    response: pageOf(keySchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "key.list", from: "path" })],
  async (c, { query: { cursor, limit, unusedForDays } }) => {
    const unusedSince = unusedForDays === undefined ? null : Date.now() - unusedForDays * DAY_MS;
    const page = await manage(c, "listWorkspaceKeys", { unusedSince }, cursor ?? null, limit);
    if (page === null) return refuseCursor();
    const items = page.items.map((key) => keyData(key, key.projectId));
    return success({ items, nextCursor: page.nextCursor }, c.get("requestId"));
  },
);
