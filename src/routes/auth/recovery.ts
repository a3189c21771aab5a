import { z } from "zod";
import { workspacesOf } from "../../accounts/directory.ts";
import { releaseClaim } from "../../accounts/oauth/identities.ts";
import { PROVIDERS } from "../../accounts/oauth/provider.ts";
import type { Env } from "../../env.ts";
import { originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorCode, refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import type { OwnKeys } from "../../keys/actions.ts";
import { SCOPES } from "../../keys/scopes.ts";
import { callUser, callWorkspace } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import {
  REAUTHENTICATION_NOTE,
  reauthenticationOf,
  reauthenticationPassword,
  refuseUnproven,
} from "../guards/password.ts";
import { accessClaims, refuseSession } from "../guards/user.ts";

/** For an owner who has set a new password or had a session stolen: shows what may have been added to the account. */
export const authRecovery = resource();

const TAG = "Accounts";

const LIMITED: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];

/** Keys of one response, and number of workspaces that are asked for their keys at once. */
const MAX_KEYS = 200;
const AT_ONCE = 20;

const keyShape = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  projectId: z.string(),
  projectName: z.string(),
  workspaceId: z.string(),
  workspaceName: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
});

authRecovery.route(
  {
    method: "GET",
    path: "/auth/recovery",
    operation: "auth.recovery.show",
    tag: TAG,
    summary: "List what was added to the account in the last 30 days",
    description: [
      "For an owner who has just set a new password or whose session was stolen. Lists the providers that were linked after",
      "`since` (except the one that created the account), the number of other sessions, and the API keys that the account created",
      "since then in every workspace and that are still valid, newest first. Revoke a key with",
      "`DELETE /projects/{projectId}/keys/{keyId}` and `X-Workspace-Id`.",
    ].join("\n"),
    security: "accessToken",
    status: 200,
    response: z.object({
      since: z.iso.datetime(),
      otherSessions: z.int(),
      providers: z.array(z.object({ provider: z.enum(PROVIDERS), linkedAt: z.iso.datetime() })),
      keys: z.array(keyShape),
      complete: z.boolean().describe(`\`false\` if there are more than ${MAX_KEYS} keys.`),
    }),
    errors: LIMITED,
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    const recovery = await callUser(c.env, userId, "replay-safe", (stub) => stub.recovery(sessionId));
    if (!recovery) return refuseSession(c);
    const { since, otherSessions, providers, workspaceId } = recovery;
    const { keys, complete } = await keysOf(c.env, userId, workspaceId, since);
    const data = {
      since: iso(since),
      otherSessions,
      providers: providers.map(({ provider, linkedAt }) => ({ provider, linkedAt: iso(linkedAt) })),
      keys: keys.map(({ createdAt, lastUsedAt, ...key }) => ({
        ...key,
        createdAt: iso(createdAt),
        lastUsedAt: lastUsedAt === null ? null : iso(lastUsedAt),
      })),
      complete,
    };
    return success(data, c.get("requestId"));
  },
);

authRecovery.route(
  {
    method: "POST",
    path: "/auth/recovery",
    operation: "auth.recovery.act",
    tag: TAG,
    summary: "Sign out everywhere else, and unlink the providers of the last 30 days",
    description: `Both or nothing. Refused if neither a password nor another provider would remain: set a password first. ${REAUTHENTICATION_NOTE}`,
    security: "accessToken",
    body: z.strictObject({ password: reauthenticationPassword }),
    example: { password: EXAMPLE.password },
    status: 200,
    response: z.object({
      revoked: z.int().describe("Number of ended sessions."),
      unlinked: z.array(z.enum(PROVIDERS)),
    }),
    errors: ["VALIDATION_ERROR", "INVALID_CREDENTIALS", "REAUTHENTICATION_REQUIRED", "LAST_AUTH_METHOD", ...LIMITED],
  },
  [
    authLimit,
    async (c, next) => {
      await accessClaims(c);
      await next();
    },
  ],
  async (c, { body: { password } }) => {
    const { userId } = c.get("user");
    const shown = await reauthenticationOf(c, password);
    const recovered = await callUser(c.env, userId, "once", (stub) => stub.recover(shown, originOf(c)));
    if (!recovered.ok) {
      switch (recovered.reason) {
        case "session ended":
          return refuseSession(c);
        case "unproven":
          return refuseUnproven();
        case "last method":
          return refuse("LAST_AUTH_METHOD", "No sign-in method would remain. Set a password first.");
      }
    }
    const { ended, released } = recovered;
    // If this fails, the next request that finds such a claim without a link deletes it.
    await Promise.all(released.map((link) => releaseClaim(c.env.DB, link, link.claim)));
    const unlinked = [...new Set(released.map(({ provider }) => provider))].sort();
    return success({ revoked: ended, unlinked }, c.get("requestId"));
  },
);

/** Returns the user's recent keys in all workspaces, newest first. */
async function keysOf(env: Env, userId: string, personal: string, since: number): Promise<OwnKeys> {
  const workspaces = [...new Set([personal, ...(await workspacesOf(env.DB, userId))])];
  const found: OwnKeys = { keys: [], complete: true };
  for (let from = 0; from < workspaces.length; from += AT_ONCE) {
    const some = workspaces.slice(from, from + AT_ONCE);
    const answers = await Promise.all(
      some.map((id) => callWorkspace(env, id, "replay-safe", (stub) => stub.keysMadeBy(userId, since))),
    );
    for (const { keys, complete } of answers) {
      found.keys.push(...keys);
      found.complete &&= complete;
    }
    found.keys.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
    if (found.keys.length > MAX_KEYS) {
      found.keys.length = MAX_KEYS;
      found.complete = false;
    }
  }
  return found;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
