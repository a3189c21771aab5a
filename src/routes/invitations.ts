import { z } from "zod";
import { findByEmail } from "../accounts/directory.ts";
import { emailSchema } from "../accounts/email.ts";
import { emailObjectName } from "../accounts/email-object.ts";
import { newSeed } from "../accounts/one-time-token.ts";
import { success } from "../http/envelope.ts";
import { refuse } from "../http/errors.ts";
import { originOf } from "../http/origin.ts";
import { pageOf, pageQuery } from "../http/paging.ts";
import { resource } from "../http/resource.ts";
import { timeCursor, timePage } from "../http/time-cursor.ts";
import { newId } from "../ids.ts";
import type { WorkspaceInfo } from "../objects/describe-workspace.ts";
import { callAddress, callUser, callWorkspace } from "../objects/stubs.ts";
import { openInvitationToken } from "../workspace/invitation-token.ts";
import type { Invitation } from "../workspace/invitations.ts";
import { refused } from "../workspace/ruling.ts";
import { owningOneMore } from "./owned-workspaces.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { refuseSession, userGuard } from "./user-guard.ts";
import { verifiedUser } from "./verified-user.ts";
import { granted, ruled, workspaceGuard } from "./workspace-guard.ts";
import { roleSchema, workspaceData, workspaceShape } from "./workspace-shape.ts";

const TAG = "Members";

const invitationShape = z.object({
  id: z.string(),
  email: z.string(),
  role: roleSchema,
  expiresAt: z.iso.datetime(),
});

function invitationData({ id, email, role, expiresAt }: Invitation): z.output<typeof invitationShape> {
  return { id, email, role, expiresAt: new Date(expiresAt).toISOString() };
}

export const invitations = resource();

invitations.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/members",
    operation: "invitation.create",
    tag: TAG,
    summary: "Invite somebody by e-mail",
    description: [
      "The mail's link works once, for 7 days, for a confirmed account of that very address, which may be made after the",
      "mail has arrived. A new invitation of an address replaces the one before. At most 20 in any 24 hours from one account,",
      "and 20 to one workspace; and like every mail that a stranger can trigger, at most one a minute and five an hour",
      "reach one address: beyond that the invitation is made, and the mail that went before stays good. Only an owner",
      "invites an owner.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ email: emailSchema, role: roleSchema }),
    status: 201,
    response: invitationShape,
    errors: [...WORKSPACE_ERRORS, "EMAIL_NOT_VERIFIED", "CONFLICT"],
  },
  [workspaceGuard({ action: "invitation.create", from: "path" })],
  async (c, { body: { email, role } }) => {
    const { id: userId, email: inviter } = await verifiedUser(c);
    const { sessionId } = c.get("user");
    const id = newId("inv");
    // Before any mail is counted: what is refused here reaches nobody.
    const own = await callUser(c.env, userId, "replay-safe", (stub) => stub.admitInvitation(sessionId, id));
    if (!own) return refuseSession(c);
    if (!own.admitted) ruled({ ...refused("RATE_LIMITED", "Too many requests"), retryAfter: own.retryAfter });
    const name = emailObjectName(email, c.get("settings").REFRESH_PEPPER);
    const invitee = await findByEmail(c.env.DB, email);
    const isMailed = await callAddress(c.env, name, "once", (stub) => stub.admitInvite());
    const request = { id, email, role, inviteeId: invitee?.userId ?? null, inviter, seed: newSeed(), isMailed };
    const answer = await callWorkspace(c.env, c.get("workspaceId"), "once", (stub) =>
      stub.invite(userId, request, originOf(c)),
    );
    if (!answer.ok || !answer.value.ok) {
      await callUser(c.env, userId, "replay-safe", (stub) => stub.forgetInvitation(id));
    }
    return success(invitationData(ruled(await granted(c, answer))), c.get("requestId"), 201);
  },
);

invitations.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/invitations",
    operation: "invitation.list",
    tag: TAG,
    summary: "List the invitations that can still be accepted",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(invitationShape),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "invitation.list", from: "path" })],
  async (c, { query: { cursor, limit } }) => {
    const { userId } = c.get("user");
    const from = timeCursor(cursor);
    const rows = await granted(
      c,
      await callWorkspace(c.env, c.get("workspaceId"), "replay-safe", (stub) =>
        stub.listInvitations(userId, from, limit + 1),
      ),
    );
    const { page, nextCursor } = timePage(rows, limit, ({ createdAt, id }) => [createdAt, id]);
    return success({ items: page.map(invitationData), nextCursor }, c.get("requestId"));
  },
);

invitations.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId/invitations/:invitationId",
    operation: "invitation.revoke",
    tag: TAG,
    summary: "Take an invitation back",
    security: "accessToken",
    status: 200,
    response: z.object({ revoked: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "invitation.revoke", from: "path" })],
  async (c) => {
    const { userId } = c.get("user");
    const invitationId = c.req.param("invitationId") ?? "";
    const answer = await callWorkspace(c.env, c.get("workspaceId"), "once", (stub) =>
      stub.revokeInvitation(userId, invitationId, originOf(c)),
    );
    ruled(await granted(c, answer));
    return success({ revoked: true }, c.get("requestId"));
  },
);

/** Accepting names no workspace: the token does, and the request counts in the user object. */
export const acceptances = resource();

acceptances.route(
  {
    method: "POST",
    path: "/invitations/accept",
    operation: "invitation.accept",
    tag: TAG,
    summary: "Accept an invitation",
    description:
      "Needs a confirmed account of the very address that was invited. Gives the workspace. An invitation to own it is refused (409) where the account owns as many as it may.",
    security: "accessToken",
    body: z.strictObject({ token: z.string() }),
    status: 200,
    response: workspaceShape,
    errors: [
      "VALIDATION_ERROR",
      "EMAIL_NOT_VERIFIED",
      "FORBIDDEN",
      "INVALID_TOKEN",
      "TOKEN_EXPIRED",
      "CONFLICT",
      "RATE_LIMITED",
    ],
  },
  [userGuard({ count: "user" })],
  async (c, { body: { token } }) => {
    const { id: userId, email } = await verifiedUser(c);
    const opened = openInvitationToken(token);
    if (!opened) return refuse("INVALID_TOKEN", "The invitation is not valid.");
    const { workspaceId, hash } = opened;
    const accept = async (mayOwn: boolean): Promise<WorkspaceInfo> => {
      const guest = { userId, email, mayOwn };
      const origin = originOf(c);
      return ruled(
        await callWorkspace(c.env, workspaceId, "once", (stub) => stub.acceptInvitation(hash, guest, origin)),
      );
    };
    const offered = await callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.offeredRole(hash, email));
    const workspace =
      offered === "owner" ? await owningOneMore(c, userId, workspaceId, () => accept(true)) : await accept(false);
    c.get("log").workspaceId = workspaceId;
    return success(workspaceData(workspace), c.get("requestId"));
  },
);
