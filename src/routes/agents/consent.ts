import { z } from "zod";
import { workspacesOf } from "../../accounts/directory.ts";
import type { GrantInfo } from "../../grants/actions.ts";
import { answerUrl, receiverOf } from "../../grants/redirect-uri.ts";
import { success } from "../../http/envelope.ts";
import { refuseFields } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { AGENT_SCOPES } from "../../keys/scopes.ts";
import { callWorkspace, isUnknownMethod } from "../../rpc/call.ts";
import { emailsOf } from "../../workspace/listing.ts";
import { MAX_PROJECTS } from "../../workspace/projects.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { userGuard } from "../guards/user.ts";
import { WORKSPACE_ERRORS } from "../workspaces/projects.ts";
import { grantService } from "./oauth-metadata.ts";
import { openRequest } from "./requesting-client.ts";

/** The user's side of agents' sign-in: the consent, and the grants that it gives. */
export const grants = resource();

const TAG = "Agents";
/** Number of workspaces that are asked for their grants at once. */
const AT_ONCE = 20;

const scopeSchema = z.enum(AGENT_SCOPES);

const requestText = z.string().max(16_384).describe("The query of the authorization request, as the client made it.");

const clientShape = z.object({
  name: z.string(),
  host: z
    .string()
    .nullable()
    .describe(
      "Publishes the client's metadata; `null`: the client has registered itself, and the name is not verified.",
    ),
  receiver: z
    .string()
    .describe("Where the client gets its access: a host, `this computer`, or the scheme of a program."),
});

grants.route(
  {
    method: "POST",
    path: "/oauth/requests",
    operation: "grant.request",
    tag: TAG,
    summary: "Check the authorization request of an agent",
    description: "For the consent page. Fetches the metadata document of the client, if its id is a URL.",
    security: "accessToken",
    body: z.strictObject({ request: requestText }),
    example: { request: "response_type=code&client_id=cl_" },
    status: 200,
    response: z.object({
      valid: z.boolean(),
      message: z.string().nullable().describe("What is wrong with an invalid request."),
      client: clientShape.extend({ id: z.string() }).nullable(),
      scopes: z.array(scopeSchema).describe("What the client asks for."),
      refuseUrl: z
        .string()
        .nullable()
        .describe("Takes a refusal, or what is wrong, to the client; `null` if its receiver is unknown."),
    }),
    errors: ["VALIDATION_ERROR", "RATE_LIMITED"],
  },
  [userGuard({ count: "user" })],
  async (c, { body }) => {
    const opened = await openRequest(c, body.request);
    if (!opened.ok) {
      const { message, redirectTo: refuseUrl } = opened;
      return success({ valid: false, message, client: null, scopes: [], refuseUrl }, c.get("requestId"));
    }
    const { client, request } = opened;
    const { id, name, host } = client;
    const { issuer: iss } = grantService(c.get("settings"));
    const denied = { error: "access_denied", error_description: "The user has refused.", state: request.state, iss };
    const data = {
      valid: true,
      message: null,
      client: { id, name, host, receiver: receiverOf(request.redirectUri) },
      scopes: request.scopes,
      refuseUrl: answerUrl(request.redirectUri, denied),
    };
    return success(data, c.get("requestId"));
  },
);

const grantShape = z.object({
  id: z.string(),
  workspaceId: z.string(),
  client: clientShape,
  scopes: z.array(scopeSchema),
  projects: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .nullable()
    .describe("`null`: all projects of the workspace."),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().describe("If it is not used again."),
});

function grantData(workspaceId: string, grant: GrantInfo): z.output<typeof grantShape> {
  const { userId: _, createdAt, lastUsedAt, expiresAt, ...shown } = grant;
  return {
    ...shown,
    workspaceId,
    createdAt: iso(createdAt),
    lastUsedAt: lastUsedAt === null ? null : iso(lastUsedAt),
    expiresAt: iso(expiresAt),
  };
}

grants.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/grants",
    operation: "grant.create",
    tag: TAG,
    summary: "Give an agent access",
    description: [
      "The consent of the user. The client exchanges the code of `redirectTo` within a minute, once. Every grant has `logs:read`; the role of",
      "the member must allow the others. Nothing happens for an invalid request (400).",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({
      request: requestText,
      scopes: z.array(scopeSchema).min(1).max(AGENT_SCOPES.length),
      projectIds: z
        .array(z.string().max(64))
        .min(1)
        .max(MAX_PROJECTS)
        .nullable()
        .describe("`null`: all projects, also later ones."),
    }),
    example: { request: "response_type=code&client_id=cl_", scopes: ["logs:read"], projectIds: null },
    status: 201,
    response: z.object({ redirectTo: z.string().describe("Where the browser continues.") }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "grant.create", from: "path" })],
  async (c, { body }) => {
    const opened = await openRequest(c, body.request);
    if (!opened.ok) return refuseFields([{ path: "request", code: "custom", message: opened.message }]);
    const { client, request } = opened;
    const unasked = body.scopes.find((scope) => !request.scopes.includes(scope));
    if (unasked !== undefined || !body.scopes.includes("logs:read")) {
      const message = unasked === undefined ? "must contain logs:read." : `The client did not ask for ${unasked}.`;
      return refuseFields([{ path: "scopes", code: "custom", message }]);
    }
    const { redirectUri, state, challenge, resource: target, clientId } = request;
    const code = await manage(c, "giveGrant", {
      request: { clientId, redirectUri, challenge, resource: target },
      client: { name: client.name, host: client.host },
      scopes: AGENT_SCOPES.filter((scope) => body.scopes.includes(scope)),
      projectIds: body.projectIds,
    });
    const { issuer: iss } = grantService(c.get("settings"));
    const answer = success({ redirectTo: answerUrl(redirectUri, { code, state, iss }) }, c.get("requestId"), 201);
    answer.headers.set("Cache-Control", "no-store");
    return answer;
  },
);

grants.route(
  {
    method: "GET",
    path: "/oauth/grants",
    operation: "grant.own",
    tag: TAG,
    summary: "List the access that you have given to agents",
    description: "In every workspace of the user, the newest first.",
    security: "accessToken",
    status: 200,
    response: z.object({ items: z.array(grantShape.extend({ workspaceName: z.string() })) }),
    errors: ["RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [userGuard({ count: "user" })],
  async (c) => {
    const { userId } = c.get("user");
    const ids = await workspacesOf(c.env.DB, userId);
    const found: (z.output<typeof grantShape> & { workspaceName: string })[] = [];
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const pages = await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => grantsIn(c.env, id, userId)));
      found.push(...pages.flat());
    }
    const items = found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    return success({ items }, c.get("requestId"));
  },
);

/** Returns a user's grants in a workspace; none if the object is of an older version, which has no grants. */
async function grantsIn(env: Parameters<typeof callWorkspace>[0], workspaceId: string, userId: string) {
  const listed = await callWorkspace(env, workspaceId, "replay-safe", async (stub) => {
    try {
      return await stub.grantsOf(userId);
    } catch (error) {
      if (error instanceof Error && isUnknownMethod(error)) return { workspaceName: "", grants: [] };
      throw error;
    }
  });
  return listed.grants.map((grant) => ({ ...grantData(workspaceId, grant), workspaceName: listed.workspaceName }));
}

grants.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/grants",
    operation: "grant.list",
    tag: TAG,
    summary: "List the access of agents to a workspace",
    description: "An admin sees that of all members, others their own. The newest first, at most 500.",
    security: "accessToken",
    status: 200,
    response: z.object({
      items: z.array(grantShape.extend({ userId: z.string(), email: z.string().nullable() })),
    }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "grant.list", from: "path" })],
  async (c) => {
    const listed = await manage(c, "listGrants", true);
    const emails = await emailsOf(c.env.DB, [...new Set(listed.map(({ userId }) => userId))]);
    const items = listed.map((grant) => {
      const { userId } = grant;
      return { ...grantData(c.get("workspaceId"), grant), userId, email: emails.get(userId) ?? null };
    });
    return success({ items }, c.get("requestId"));
  },
);

grants.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId/grants/:grantId",
    operation: "grant.revoke",
    tag: TAG,
    summary: "End an agent's access",
    description: "From the next request on. Members end their own, admins any.",
    security: "accessToken",
    status: 200,
    response: z.object({ revoked: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "grant.revoke", from: "path" })],
  async (c) => {
    await manage(c, "endGrant", c.req.param("grantId") ?? "");
    return success({ revoked: true }, c.get("requestId"));
  },
);

function iso(at: number): string {
  return new Date(at).toISOString();
}
