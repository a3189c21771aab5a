import { z } from "zod";
import { success } from "../../http/envelope.ts";
import { pageOf, pageQuery, timeCursor, timePage } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { emailsOf } from "../../workspace/listing.ts";
import type { Member } from "../../workspace/members.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { roleSchema, withOwnershipQuota } from "./shared.ts";

const TAG = "Members";

const memberShape = z.object({
  userId: z.string(),
  email: z.string().nullable().describe("`null` for an account that was just deleted."),
  role: roleSchema,
  joinedAt: z.iso.datetime(),
});

function memberData({ joinedAt, ...member }: Member, emails: Map<string, string>): z.output<typeof memberShape> {
  const email = emails.get(member.userId) ?? null;
  return { ...member, email, joinedAt: new Date(joinedAt).toISOString() };
}

export const members = resource();

members.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/members",
    operation: "member.list",
    tag: TAG,
    summary: "List the members of a workspace",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(memberShape),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "member.list", from: "path" })],
  async (c, { query: { cursor, limit } }) => {
    const from = timeCursor(cursor);
    const rows = await manage(c, "listMembers", from, limit + 1);
    const { page, nextCursor } = timePage(rows, limit, (member) => [member.joinedAt, member.userId]);
    const emails = await emailsOf(
      c.env.DB,
      page.map((member) => member.userId),
    );
    return success({ items: page.map((member) => memberData(member, emails)), nextCursor }, c.get("requestId"));
  },
);

members.route(
  {
    method: "PATCH",
    path: "/workspaces/:workspaceId/members/:userId",
    operation: "member.change",
    tag: TAG,
    summary: "Change a member's role",
    description: [
      "Only an owner may make an owner or change an owner's role. The last owner stays owner (409), and so does the person of a",
      "personal workspace. A user who owns the maximum number of workspaces cannot become owner (409). API keys",
      "and invitations that the new role may not create are refused from the next request on.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ role: roleSchema }),
    example: { role: "admin" },
    status: 200,
    response: memberShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "member.change", from: "path" })],
  async (c, { body: { role } }) => {
    const memberId = c.req.param("userId") ?? "";
    const workspaceId = c.get("workspaceId");
    const change = async (): Promise<Member> => {
      return await manage(c, "changeRole", memberId, role);
    };
    // Only an owner makes owners: the quota of the new owner is neither asked nor shown for other callers, whom the
    // workspace refuses, nor for users who are not members.
    const gains =
      role === "owner" &&
      (await manage(c, "getWorkspaceInfo")).role === "owner" &&
      (await callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.getWorkspaceInfo(memberId))).ok;
    const member = gains ? await withOwnershipQuota(c, memberId, workspaceId, change) : await change();
    return success(memberData(member, await emailsOf(c.env.DB, [memberId])), c.get("requestId"));
  },
);

members.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId/members/:userId",
    operation: "member.remove",
    tag: TAG,
    summary: "Remove a member, or leave",
    description: [
      "Every member may leave. Removing another member requires an admin; removing an owner requires an owner. The last owner cannot leave",
      "(409), nor can the person of a personal workspace. The API keys and invitations that the member created",
      "are refused from the next request on.",
    ].join("\n"),
    security: "accessToken",
    status: 200,
    response: z.object({ removed: z.literal(true) }),
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [
    workspaceGuard({
      action: (c) => (c.req.param("userId") === c.get("user").userId ? "member.leave" : "member.remove"),
      from: "path",
    }),
  ],
  async (c) => {
    const memberId = c.req.param("userId") ?? "";
    await manage(c, "removeMember", memberId);
    return success({ removed: true }, c.get("requestId"));
  },
);
