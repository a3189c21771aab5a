import type { Context } from "hono";
import { z } from "zod";
import { workspacesOf } from "../../accounts/directory.ts";
import { openOneTimeToken } from "../../accounts/one-time-token.ts";
import type { Env } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { randomBase62 } from "../../ids.ts";
import { callUser, callWorkspace } from "../../rpc/call.ts";
import type { Result } from "../../rpc/result.ts";
import type { WorkspaceInfo } from "../../rpc/workspace.ts";
import { type OpenInvitation, UNKNOWN_INVITATION } from "../../workspace/invitations.ts";
import { ROLES } from "../../workspace/permissions.ts";

export const roleSchema = z.enum(ROLES);

/** A workspace as one of its members sees it. */
export const workspaceShape = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  personal: z.boolean(),
  role: roleSchema.describe("The caller's own role."),
  retentionDays: z.int(),
  createdAt: z.iso.datetime(),
});

export function workspaceData({ createdAt, ...info }: WorkspaceInfo): z.output<typeof workspaceShape> {
  return { ...info, createdAt: new Date(createdAt).toISOString() };
}

/** Number of workspaces whose ownership is checked at once. */
const AT_ONCE = 20;
/** Number of characters of an attempt's id: 131 bits. */
const ATTEMPT_ID_LENGTH = 22;

/**
 * Runs `become`, which makes a user an owner of a workspace, unless the user owns the maximum number of shared
 * workspaces. Exact under concurrency: an attempt stays in the user object until its outcome shows in the workspace,
 * and a later attempt counts the earlier ones. The only caller of `beginOwnership` and `endOwnershipAttempt`.
 * @throws ApiError CONFLICT if the limit is reached
 */
export async function withOwnershipQuota<T>(
  c: Context<AppEnv>,
  userId: string,
  workspaceId: string,
  become: () => Promise<T>,
): Promise<T> {
  const { MAX_OWNED_WORKSPACES: max } = c.get("settings");
  const attempt = { id: randomBase62(ATTEMPT_ID_LENGTH), workspaceId };
  const earlier = await callUser(c.env, userId, "replay-safe", (stub) => stub.beginOwnership(attempt));
  try {
    const others = earlier.filter((id) => id !== workspaceId);
    if (others.length >= max || (await ownedBy(c.env, userId, workspaceId, others, max)) >= max) {
      return refuse("CONFLICT", `An account owns at most ${max} workspaces beside its personal one.`);
    }
    return await become();
  } finally {
    // Without this call the attempt counts for five more minutes. A failure must not hide the outcome of the request.
    await callUser(c.env, userId, "replay-safe", (stub) => stub.endOwnershipAttempt(attempt.id)).catch(() => undefined);
  }
}

/** Counts the shared workspaces that a user owns or may own at any moment, except one; stops at `max`. */
async function ownedBy(env: Env, userId: string, except: string, pending: string[], max: number): Promise<number> {
  const taken = new Set([except, ...pending]);
  const listed = (await workspacesOf(env.DB, userId)).filter((id) => !taken.has(id));
  let owned = pending.length;
  for (let from = 0; from < listed.length && owned < max; from += AT_ONCE) {
    const some = listed.slice(from, from + AT_ONCE);
    const answers = await Promise.all(
      some.map((id) => callWorkspace(env, id, "replay-safe", (stub) => stub.isOwnedBy(userId))),
    );
    owned += answers.filter((isOwned) => isOwned).length;
  }
  return owned;
}

/** Returns the workspace and the token hash of an invitation token; `null` for a text that is not such a token. */
export function openInvitationToken(token: string): { workspaceId: string; hash: Uint8Array } | null {
  const opened = openOneTimeToken(token);
  // The locator is the random part of the id whose object stores the token: here a workspace's.
  if (!opened || opened.userId === null) return null;
  return { workspaceId: opened.userId.replace(/^usr_/, "ws_"), hash: opened.hash };
}

/** Returns the invitation of a token. The token was mailed to the invited address, so its holder reads mail there. */
export async function openInvitation(c: Context<AppEnv>, token: string): Promise<Result<OpenInvitation>> {
  const opened = openInvitationToken(token);
  if (!opened) return UNKNOWN_INVITATION;
  const { workspaceId, hash } = opened;
  return callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.openInvitation(hash));
}
