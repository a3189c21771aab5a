import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { openInvitationToken } from "../workspace/invitation-token.ts";
import { type OpenInvitation, UNKNOWN_INVITATION } from "../workspace/invitations.ts";
import type { Ruling } from "../workspace/ruling.ts";

/** What the token of an invitation opens. It came by mail to the invited address, so its holder reads mail there. */
export async function openInvitation(c: Context<AppEnv>, token: string): Promise<Ruling<OpenInvitation>> {
  const opened = openInvitationToken(token);
  if (!opened) return UNKNOWN_INVITATION;
  const { workspaceId, hash } = opened;
  return callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.openInvitation(hash));
}
