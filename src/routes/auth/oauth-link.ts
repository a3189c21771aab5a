import type { Context, MiddlewareHandler } from "hono";
import { z } from "zod";
import { takeLinkCode } from "../../accounts/oauth/flows.ts";
import { linkIdentity, releaseClaim } from "../../accounts/oauth/identities.ts";
import { type Identity, PROVIDERS } from "../../accounts/oauth/provider.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorCode, refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { callUser } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import {
  REAUTHENTICATION_NOTE,
  reauthenticationOf,
  reauthenticationPassword,
  refuseUnproven,
} from "../guards/password.ts";
import { accessClaims, refuseSession, userGuard } from "../guards/user.ts";
import { arrivalPorts, startFlow } from "./oauth-flow.ts";

export const oauthLinks = resource();

const TAG = "Accounts";

const LIMITED: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];

const UNPROVEN: readonly ErrorCode[] = ["VALIDATION_ERROR", "INVALID_CREDENTIALS", "REAUTHENTICATION_REQUIRED"];

const providerShape = z.enum(PROVIDERS);

const shownBody = z.strictObject({ password: reauthenticationPassword });

/** Verifies the access token before the body is read. The action itself checks the session. */
const signedIn: MiddlewareHandler<AppEnv> = async (c, next) => {
  await accessClaims(c);
  await next();
};

for (const provider of PROVIDERS) {
  oauthLinks.route(
    {
      method: "POST",
      path: `/auth/link/${provider}`,
      operation: `auth.link.${provider}.start`,
      tag: TAG,
      summary: `Link ${provider} to the account: get the address for the browser`,
      description: `Requires a verified e-mail address. The flow ends at \`{FRONTEND_URL}/auth/callback\`. ${REAUTHENTICATION_NOTE}`,
      security: "accessToken",
      body: shownBody,
      example: { password: EXAMPLE.password },
      status: 200,
      response: z.object({ authorizeUrl: z.string() }),
      errors: ["EMAIL_NOT_VERIFIED", "OAUTH_NOT_CONFIGURED", "OAUTH_PROVIDER_ERROR", ...UNPROVEN, ...LIMITED],
    },
    [authLimit, signedIn],
    async (c, { body: { password } }) => {
      const { userId, sessionId } = c.get("user");
      const shown = await reauthenticationOf(c, password);
      const allowed = await callUser(c.env, userId, "replay-safe", (stub) => stub.allowLinking(shown));
      if (!allowed.ok) {
        switch (allowed.reason) {
          case "session ended":
            return refuseSession(c);
          case "unverified":
            return refuseUnverifiedAccount();
          case "unproven":
            return refuseUnproven();
        }
      }
      const purpose = { mode: "link", userId, sessionId, checkedEpoch: allowed.epoch } as const;
      const { authorizeUrl, cookie } = await startFlow(c, provider, purpose);
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
      description: `Refused for the last sign-in method: a password or a provider must remain. ${REAUTHENTICATION_NOTE}`,
      security: "accessToken",
      body: shownBody,
      example: { password: EXAMPLE.password },
      status: 200,
      response: z.object({ unlinked: z.literal(true) }),
      errors: ["NOT_FOUND", "LAST_AUTH_METHOD", ...UNPROVEN, ...LIMITED],
    },
    [authLimit, signedIn],
    async (c, { body: { password } }) => {
      const { userId } = c.get("user");
      const shown = await reauthenticationOf(c, password);
      const unlinked = await callUser(c.env, userId, "once", (stub) =>
        stub.unlinkProvider(shown, provider, originOf(c)),
      );
      if (!unlinked.ok) {
        switch (unlinked.reason) {
          case "session ended":
            return refuseSession(c);
          case "unproven":
            return refuseUnproven();
          case "not linked":
            return refuse("NOT_FOUND", "This provider is not linked to the account.");
          case "last method":
            return refuse(
              "LAST_AUTH_METHOD",
              "This is the only sign-in method. Set a password or link another provider first.",
            );
        }
      }
      // If this fails, the next request that finds such a claim without a link deletes it.
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
    summary: "Complete a link that returned to another browser",
    description:
      "Requires the `linkCode` of the redirect and the user who began the link. Works once, within 60 seconds.",
    security: "accessToken",
    body: z.strictObject({ linkCode: z.string().max(200) }),
    example: { linkCode: EXAMPLE.oneTimeCode },
    status: 200,
    response: z.object({ linked: providerShape }),
    errors: [
      "INVALID_TOKEN",
      "TOKEN_EXPIRED",
      "EMAIL_NOT_VERIFIED",
      "REAUTHENTICATION_REQUIRED",
      "PROVIDER_ALREADY_LINKED",
      ...LIMITED,
    ],
  },
  // A guard, so that a request without a session is refused before its body is read.
  [authLimit, userGuard({ count: "none" })],
  async (c, { body }) => {
    const { userId, sessionId } = c.get("user");
    const taken = await takeLinkCode(c.env.DB, body.linkCode, userId, Date.now());
    if (!taken.ok) {
      if (taken.reason === "expired") return refuse("TOKEN_EXPIRED", "The code has expired. Link the provider again.");
      return refuse("INVALID_TOKEN", "The code is unknown, already used, or belongs to another user.");
    }
    const { identity, checkedEpoch } = taken.value;
    await linkFor(c, { userId, sessionId, checkedEpoch }, identity);
    return success({ linked: identity.provider }, c.get("requestId"));
  },
);

oauthLinks.route(
  {
    method: "GET",
    path: "/auth/methods",
    operation: "auth.methods",
    tag: TAG,
    summary: "The account's sign-in methods",
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

/** The user for whom a link is made, and the account's epoch when it was allowed. */
export interface LinkOwner {
  userId: string;
  sessionId: string;
  checkedEpoch: number;
}

/** Links an identity by the authority of a session, or ends the request with the reason. */
export async function linkFor(
  c: Context<AppEnv>,
  { userId, sessionId, checkedEpoch }: LinkOwner,
  identity: Identity,
): Promise<void> {
  const authority = { by: "session", sessionId, checkedEpoch } as const;
  const outcome = await linkIdentity(arrivalPorts(c.env, originOf(c)), userId, identity, authority);
  if (outcome.ok) return;
  switch (outcome.reason) {
    case "gone":
    case "session ended":
      return refuseSession(c);
    case "unverified":
      return refuseUnverifiedAccount();
    case "changed":
      return refuse("REAUTHENTICATION_REQUIRED", "The account has changed since this link was started. Start again.");
    case "another user's":
      return refuse("PROVIDER_ALREADY_LINKED", "This provider account is linked to another user.");
    case "busy":
      return refuse("SERVICE_UNAVAILABLE", "The account is being changed. Try again.", {
        headers: { "Retry-After": "1" },
      });
  }
}

function refuseUnverifiedAccount(): never {
  return refuse("EMAIL_NOT_VERIFIED", "Verify the e-mail address of the account first.");
}
