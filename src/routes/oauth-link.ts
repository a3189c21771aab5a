import type { Context } from "hono";
import { z } from "zod";
import { takeLinkCode } from "../accounts/oauth/codes.ts";
import { releaseClaim } from "../accounts/oauth/identities.ts";
import { linkIdentity } from "../accounts/oauth/link-identity.ts";
import { type Identity, PROVIDERS } from "../accounts/oauth/provider.ts";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { type ErrorCode, refuse } from "../http/errors.ts";
import { resource } from "../http/resource.ts";
import { callUser } from "../objects/stubs.ts";
import { authLimit } from "./address-limits.ts";
import { startFlow } from "./oauth-flow.ts";
import { arrivalPorts } from "./oauth-ports.ts";
import { accessClaims, refuseSession, userGuard } from "./user-guard.ts";

export const oauthLinks = resource();

const TAG = "Accounts";

const LIMITED: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];

const providerShape = z.enum(PROVIDERS);

for (const provider of PROVIDERS) {
  oauthLinks.route(
    {
      method: "POST",
      path: `/auth/link/${provider}`,
      operation: `auth.link.${provider}.start`,
      tag: TAG,
      summary: `Link ${provider} to the account: where to send the browser`,
      description: "Needs a verified e-mail address. The way back ends at `{FRONTEND_URL}/auth/callback`.",
      security: "accessToken",
      status: 200,
      response: z.object({ authorizeUrl: z.string() }),
      errors: ["EMAIL_NOT_VERIFIED", "OAUTH_NOT_CONFIGURED", "OAUTH_PROVIDER_ERROR", ...LIMITED],
    },
    [authLimit],
    async (c) => {
      const { userId, sessionId } = await accessClaims(c);
      const profile = await callUser(c.env, userId, "replay-safe", (stub) => stub.me(sessionId));
      if (!profile) return refuseSession(c);
      if (!profile.emailVerified) return refuseUnverifiedAccount();
      const { authorizeUrl, cookie } = await startFlow(c, provider, { mode: "link", userId, sessionId });
      const response = success({ authorizeUrl: authorizeUrl.href }, c.get("requestId"));
      response.headers.set("Cache-Control", "no-store");
      response.headers.set("Set-Cookie", cookie);
      return response;
    },
  );

  oauthLinks.route(
    {
      method: "DELETE",
      path: `/auth/link/${provider}`,
      operation: `auth.link.${provider}.remove`,
      tag: TAG,
      summary: `Unlink ${provider} from the account`,
      description: "Refused for the last way to sign in: a password or a provider must remain.",
      security: "accessToken",
      status: 200,
      response: z.object({ unlinked: z.literal(true) }),
      errors: ["NOT_FOUND", "LAST_AUTH_METHOD", ...LIMITED],
    },
    [authLimit],
    async (c) => {
      const { userId, sessionId } = await accessClaims(c);
      const unlinked = await callUser(c.env, userId, "once", (stub) => stub.unlink(sessionId, provider));
      if (!unlinked.ok) {
        switch (unlinked.reason) {
          case "session ended":
            return refuseSession(c);
          case "not linked":
            return refuse("NOT_FOUND", "This provider is not linked to the account.");
          case "last method":
            return refuse(
              "LAST_AUTH_METHOD",
              "This is the only way to sign in. Set a password or link a provider first.",
            );
        }
      }
      // Should this not happen, the claims that nobody holds are taken away by whoever meets them.
      await Promise.all(unlinked.released.map((link) => releaseClaim(c.env.DB, link, link.claim)));
      return success({ unlinked: true }, c.get("requestId"));
    },
  );
}

oauthLinks.route(
  {
    method: "POST",
    path: "/auth/link/confirm",
    operation: "auth.link.confirm",
    tag: TAG,
    summary: "Complete a link that came back to another browser",
    description: "With the `linkCode` of the redirect: by the user who began the link, once, within 60 seconds.",
    security: "accessToken",
    body: z.strictObject({ linkCode: z.string().max(200) }),
    status: 200,
    response: z.object({ linked: providerShape }),
    errors: ["INVALID_TOKEN", "TOKEN_EXPIRED", "EMAIL_NOT_VERIFIED", "PROVIDER_ALREADY_LINKED", ...LIMITED],
  },
  // As a guard: without a session a request hears of that before its body is read.
  [authLimit, userGuard({ count: "none" })],
  async (c, { body }) => {
    const { userId, sessionId } = c.get("user");
    const taken = await takeLinkCode(c.env.DB, body.linkCode, userId, Date.now());
    if (!taken.ok) {
      if (taken.reason === "expired") return refuse("TOKEN_EXPIRED", "The code has expired. Link the provider again.");
      return refuse("INVALID_TOKEN", "The code is unknown, was used already, or is another user's.");
    }
    await linkFor(c, userId, sessionId, taken.value);
    return success({ linked: taken.value.provider }, c.get("requestId"));
  },
);

oauthLinks.route(
  {
    method: "GET",
    path: "/auth/methods",
    operation: "auth.methods",
    tag: TAG,
    summary: "The account's ways to sign in",
    security: "accessToken",
    status: 200,
    response: z.object({ hasPassword: z.boolean(), providers: z.array(providerShape) }),
    errors: LIMITED,
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    const methods = await callUser(c.env, userId, "replay-safe", (stub) => stub.methods(sessionId));
    return methods ? success(methods, c.get("requestId")) : refuseSession(c);
  },
);

/** Links an identity on the word of a session, or ends the request with what stands against it. */
export async function linkFor(
  c: Context<AppEnv>,
  userId: string,
  sessionId: string,
  identity: Identity,
): Promise<void> {
  const outcome = await linkIdentity(arrivalPorts(c.env), userId, identity, { by: "session", sessionId });
  if (outcome.ok) return;
  switch (outcome.reason) {
    case "gone":
    case "session ended":
      return refuseSession(c);
    case "unverified":
      return refuseUnverifiedAccount();
    case "another user's":
      return refuse("PROVIDER_ALREADY_LINKED", "This provider account is linked to another user.");
    case "busy":
      return refuse("SERVICE_UNAVAILABLE", "The account is changing right now. Please try again.", {
        headers: { "Retry-After": "1" },
      });
  }
}

function refuseUnverifiedAccount(): never {
  return refuse("EMAIL_NOT_VERIFIED", "Verify the e-mail address of the account first.");
}
