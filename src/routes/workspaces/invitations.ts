import type { Context } from "hono";
import { z } from "zod";
import { findByEmail } from "../../accounts/directory.ts";
import { emailObjectName, emailSchema } from "../../accounts/email.ts";
import { newSeed } from "../../accounts/one-time-token.ts";
import { INVITATIONS_PER_DAY } from "../../accounts/user-quotas.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse, refuseTooMany } from "../../http/errors.ts";
import { pageOf, pageQuery, timeCursor, timePage } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { newId } from "../../ids.ts";
import { callAddress, callUser, callWorkspace } from "../../rpc/call.ts";
import type { WorkspaceInfo } from "../../rpc/workspace.ts";
import { FOR_ANOTHER, type Invitation } from "../../workspace/invitations.ts";
import { emailsOf } from "../../workspace/listing.ts";
import { EXAMPLE } from "../examples.ts";
import { publicLimit } from "../guards/address.ts";
import { manage, managed, workspaceGuard } from "../guards/member.ts";
import { refuseSession, userGuard, verifiedUser } from "../guards/user.ts";
import { refuseFailure, resultOf } from "../guards/workspace.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import {
  openInvitation,
  openInvitationToken,
  roleSchema,
  withOwnershipQuota,
  workspaceData,
  workspaceShape,
} from "./shared.ts";

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
    summary: "Invite a user by e-mail",
    description: [
      "The mail's link works once, for 7 days, for a confirmed account with the same address, which may be created after the",
      "mail has arrived. A new invitation to an address replaces the previous one. At most 20 in any 24 hours from one account,",
      "and 20 to one workspace. Like all mails that other users can trigger, at most one a minute and five an hour",
      "reach one address: beyond that, the invitation is created without a mail, and the link of the last mail stays valid. Only an owner",
      "invites an owner.",
    ].join("\n"),
    security: "accessToken",
    body: z.strictObject({ email: emailSchema, role: roleSchema }),
    example: { email: EXAMPLE.invitee, role: "member" },
    status: 201,
    response: invitationShape,
    errors: [...WORKSPACE_ERRORS, "EMAIL_NOT_VERIFIED", "CONFLICT"],
  },
  // First, because an invitation that is refused for its role must not spend what user and address may send.
  [workspaceGuard({ action: "invitation.create", from: "path", admits: "first" })],
  async (c, { body: { email, role } }) => {
    const { id: userId, email: inviter, name: inviterName } = await verifiedUser(c);
    const { sessionId } = c.get("user");
    const id = newId("inv");
    // Before the mail is counted: a refused invitation sends none.
    const own = await callUser(c.env, userId, "replay-safe", (stub) => stub.admitInvitation(sessionId, id));
    if (!own) return refuseSession(c);
    if (!own.admitted)
      refuseTooMany(`At most ${INVITATIONS_PER_DAY} invitations in 24 hours by this user.`, own.retryAfter);
    const name = emailObjectName(email, c.get("settings").REFRESH_PEPPER);
    const invitee = await findByEmail(c.env.DB, email);
    const isMailed = await callAddress(c.env, name, "once", (stub) => stub.admitInvite());
    const inviteeId = invitee?.userId ?? null;
    const request = { id, email, role, inviteeId, inviter, inviterName, seed: newSeed(), isMailed };
    const invitation = await managed(c, "invite", request);
    if (!invitation.ok) await callUser(c.env, userId, "replay-safe", (stub) => stub.forgetInvitation(id));
    return success(invitationData(await resultOf(c, invitation)), c.get("requestId"), 201);
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
    const from = timeCursor(cursor);
    const rows = await manage(c, "listInvitations", from, limit + 1);
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
    summary: "Revoke an invitation",
    security: "accessToken",
    status: 200,
    response: z.object({ revoked: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "invitation.revoke", from: "path" })],
  async (c) => {
    const invitationId = c.req.param("invitationId") ?? "";
    await manage(c, "revokeInvitation", invitationId);
    return success({ revoked: true }, c.get("requestId"));
  },
);

/** Routes that show and accept an invitation. The token names the workspace. */
export const acceptances = resource();

acceptances.route(
  {
    method: "POST",
    path: "/invitations/open",
    operation: "invitation.open",
    tag: TAG,
    summary: "Get the workspace and inviter of an invitation",
    description:
      "For the holder of the mailed token, without an account. Does not use the token. `inviter` is `null` if that account was deleted; its `name` is user text.",
    security: "none",
    body: z.strictObject({ token: z.string() }),
    example: { token: EXAMPLE.invitationToken },
    status: 200,
    response: z.object({
      workspace: z.object({ name: z.string() }),
      inviter: z.object({ email: z.string(), name: z.string().optional() }).nullable(),
      email: z.string().describe("The invited address."),
      role: roleSchema,
      expiresAt: z.iso.datetime(),
    }),
    errors: ["VALIDATION_ERROR", "INVALID_TOKEN", "TOKEN_EXPIRED", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [publicLimit],
  async (c, { body: { token } }) => {
    const { workspace, invitedBy, email, role, expiresAt } = await resultOf(c, await openInvitation(c, token));
    const data = {
      workspace: { name: workspace },
      inviter: await inviterOf(c, invitedBy),
      email,
      role,
      expiresAt: new Date(expiresAt).toISOString(),
    };
    const response = success(data, c.get("requestId"));
    response.headers.set("Cache-Control", "no-store");
    return response;
  },
);

async function inviterOf(c: Context<AppEnv>, userId: string): Promise<{ email: string; name?: string } | null> {
  const [emails, name] = await Promise.all([
    emailsOf(c.env.DB, [userId]),
    callUser(c.env, userId, "replay-safe", (stub) => stub.displayName()),
  ]);
  const email = emails.get(userId);
  if (email === undefined) return null;
  return name === null ? { email } : { email, name };
}

acceptances.route(
  {
    method: "POST",
    path: "/invitations/accept",
    operation: "invitation.accept",
    tag: TAG,
    summary: "Accept an invitation",
    description:
      "Requires a confirmed account with the invited address. Returns the workspace. An invitation as owner is refused (409) if the account owns the maximum number of workspaces. Because the token was mailed to the address, `confirmAddress` confirms it, too.",
    security: "accessToken",
    body: z.strictObject({
      token: z.string(),
      confirmAddress: z
        .boolean()
        .default(false)
        .describe("Confirms that the account is the caller's own. If `false`, an unconfirmed account is refused."),
    }),
    example: { token: EXAMPLE.invitationToken },
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
  async (c, { body: { token, confirmAddress } }) => {
    if (confirmAddress) await confirmByInvitation(c, token);
    const { id: userId, email } = await verifiedUser(c);
    const opened = openInvitationToken(token);
    if (!opened) return refuse("INVALID_TOKEN", "The invitation is not valid.");
    const { workspaceId, hash } = opened;
    const accept = async (mayOwn: boolean): Promise<WorkspaceInfo> => {
      const guest = { userId, email, mayOwn };
      const origin = originOf(c);
      return resultOf(
        c,
        await callWorkspace(c.env, workspaceId, "once", (stub) => stub.acceptInvitation(hash, guest, origin)),
      );
    };
    const offered = await callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.offeredRole(hash, email));
    const workspace =
      offered === "owner" ? await withOwnershipQuota(c, userId, workspaceId, () => accept(true)) : await accept(false);
    c.get("log").workspaceId = workspaceId;
    return success(workspaceData(workspace), c.get("requestId"));
  },
);

/**
 * Verifies the caller's address by the token that was mailed to it. Ends the request if the token is for another
 * address.
 */
async function confirmByInvitation(c: Context<AppEnv>, token: string): Promise<void> {
  const { userId, sessionId } = c.get("user");
  const profile = await callUser(c.env, userId, "replay-safe", (stub) => stub.me(sessionId));
  if (!profile) return refuseSession(c);
  if (profile.emailVerified) return;
  const invitation = await resultOf(c, await openInvitation(c, token));
  if (invitation.email !== profile.email) return refuseFailure(c, FOR_ANOTHER);
  const origin = originOf(c);
  if (!(await callUser(c.env, userId, "replay-safe", (stub) => stub.confirmAddress(sessionId, origin)))) {
    return refuseSession(c);
  }
}
