import type { Context } from "hono";
import { z } from "zod";
import { findByUserId } from "../../accounts/directory.ts";
import {
  type FlowMode,
  hashOf,
  issueExchangeCode,
  issueLinkCode,
  randomSecret,
  SECRET_TEXT,
  takeExchangeCode,
} from "../../accounts/oauth/flows.ts";
import { type ProviderSignIn, resolveProviderSignIn } from "../../accounts/oauth/identities.ts";
import { PROVIDERS, type ProviderProfile } from "../../accounts/oauth/provider.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit, countByAddress } from "../guards/address.ts";
import {
  arrivalPorts,
  expireFlowCookie,
  failToFrontend,
  finishFlow,
  redirect,
  startFlow,
  toFrontend,
} from "./oauth-flow.ts";
import { linkFor } from "./oauth-link.ts";
import { signedInAnswer, signedInShape, startSession } from "./sign-in.ts";

export const oauth = resource();

const TAG = "Accounts";

const RETRY_SOON = { headers: { "Retry-After": "1" } } as const;

/** Tokens in a URL may have been seen there, so their refresh token is valid for half an hour only. */
const ROTATE_WITHIN_MS = 30 * 60 * 1000;

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

const startQuery = z
  .strictObject({
    mode: z.literal("code").optional().describe("Requests a code instead of tokens in the redirect."),
    code_challenge: z
      .string()
      .regex(SECRET_TEXT, "must be the base64url of a SHA-256, 43 characters")
      .optional()
      .describe("With `mode=code`: the PKCE challenge (S256) of the verifier for the exchange."),
    code_challenge_method: z.literal("S256").optional(),
  })
  .refine(({ mode, code_challenge }) => (mode === undefined) === (code_challenge === undefined), {
    path: ["code_challenge"],
    message: "mode=code and code_challenge must be sent together",
  });

/** A GET handler also answers HEAD, which must neither begin nor end a flow. */
function isHead(c: Context<AppEnv>): boolean {
  return c.req.method === "HEAD";
}

function nothing(): Response {
  return new Response(null, { headers: { "Cache-Control": "no-store" } });
}

for (const provider of PROVIDERS) {
  oauth.route(
    {
      method: "GET",
      path: `/auth/oauth/${provider}`,
      operation: `auth.oauth.${provider}.start`,
      tag: TAG,
      summary: `Sign in with ${provider}: to the provider's page`,
      description:
        "For a browser. The flow ends at `{FRONTEND_URL}/auth/callback`. If `Accept` lists `text/html`, a failure redirects there, too, with its code as `error`.",
      security: "none",
      query: startQuery,
      status: 302,
      response: z.null(),
      errors: ["OAUTH_NOT_CONFIGURED", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
    },
    [failToFrontend("OAUTH_PROVIDER_ERROR"), authLimit],
    async (c, { query }) => {
      if (isHead(c)) return nothing();
      const { code_challenge: codeChallenge } = query;
      const purpose: FlowMode = codeChallenge === undefined ? { mode: "tokens" } : { mode: "code", codeChallenge };
      const { authorizeUrl, cookie } = await startFlow(c, provider, purpose);
      const response = redirect(authorizeUrl);
      response.headers.set("Set-Cookie", cookie);
      return response;
    },
  );

  oauth.route(
    {
      method: "GET",
      path: `/auth/oauth/${provider}/callback`,
      operation: `auth.oauth.${provider}.callback`,
      tag: TAG,
      summary: `Sign in with ${provider}: callback`,
      description:
        "Always a redirect to `{FRONTEND_URL}/auth/callback`: with `accessToken`, `refreshToken` and `isNewUser`; in code mode with `code`; for a link with `linked` or `linkCode`; after any failure with `error`, an error code. With a genuine and unused state of a sign-in that began here, the request does not count under the limit of `/auth`.",
      security: "none",
      status: 302,
      response: z.null(),
      errors: [],
    },
    [expireFlowCookie, failToFrontend("all")],
    async (c) => {
      if (isHead(c)) {
        await countByAddress(c, "AUTH");
        return nothing();
      }
      const { profile, purpose, bound } = await finishFlow(c, provider);
      const settings = c.get("settings");
      switch (purpose.mode) {
        case "tokens": {
          const { entry, epoch, isNewUser } = await arrived(c, profile);
          const session = { entry, epoch, method: provider, rotateWithinMs: ROTATE_WITHIN_MS };
          const tokens = await startSession(c, session);
          if (!tokens) return refuseBusy();
          const { accessToken, refreshToken } = tokens;
          return toFrontend(settings, { accessToken, refreshToken, isNewUser: String(isNewUser) });
        }
        case "code": {
          const { entry, epoch, isNewUser } = await arrived(c, profile);
          const code = randomSecret();
          const { codeChallenge } = purpose;
          const signIn = { userId: entry.userId, epoch, provider, isNewUser, codeChallenge };
          await issueExchangeCode(c.env.DB, code, signIn, Date.now());
          return toFrontend(settings, { code });
        }
        case "link": {
          const { userId, checkedEpoch } = purpose;
          c.get("log").userId = userId;
          if (profile.email === null) return refuseUnverified();
          if (bound) {
            await linkFor(c, purpose, profile);
            return toFrontend(settings, { linked: provider });
          }
          const linkCode = randomSecret();
          await issueLinkCode(c.env.DB, linkCode, userId, { identity: profile, checkedEpoch }, Date.now());
          return toFrontend(settings, { linkCode });
        }
      }
    },
  );
}

oauth.route(
  {
    method: "POST",
    path: "/auth/oauth/exchange",
    operation: "auth.oauth.exchange",
    tag: TAG,
    summary: "Exchange the code of a sign-in for its tokens",
    description:
      "For a sign-in that began with `mode=code`: once, within 60 seconds, with the verifier of its challenge.",
    security: "none",
    body: z.strictObject({
      code: z.string().max(200),
      codeVerifier: z.string().regex(VERIFIER, "must be 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~"),
    }),
    example: { code: EXAMPLE.oneTimeCode, codeVerifier: EXAMPLE.codeVerifier },
    status: 200,
    response: signedInShape.extend({ isNewUser: z.boolean() }),
    errors: ["INVALID_TOKEN", "TOKEN_EXPIRED", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
  },
  [authLimit],
  async (c, { body }) => {
    const taken = await takeExchangeCode(c.env.DB, body.code, Date.now());
    if (!taken.ok && taken.reason === "expired") return refuse("TOKEN_EXPIRED", "The code has expired. Sign in again.");
    if (!taken.ok || hashOf(body.codeVerifier) !== taken.value.codeChallenge) return refuseCode();
    const { userId, epoch, provider: method, isNewUser } = taken.value;
    const entry = await findByUserId(c.env.DB, userId);
    const tokens = entry && (await startSession(c, { entry, epoch, method }));
    if (!tokens) return refuseCode();
    const data = { ...tokens, isNewUser };
    return signedInAnswer(c, data, 200);
  },
);

type Arrived = Extract<ProviderSignIn, { ok: true }>;

async function arrived(c: Context<AppEnv>, profile: ProviderProfile): Promise<Arrived> {
  const arrival = await resolveProviderSignIn(arrivalPorts(c.env, originOf(c)), profile);
  if (arrival.ok) return arrival;
  return arrival.reason === "unverified" ? refuseUnverified() : refuseBusy();
}

function refuseUnverified(): never {
  return refuse("OAUTH_EMAIL_UNVERIFIED", "The provider has no verified e-mail address for this account.");
}

function refuseBusy(): never {
  return refuse("SERVICE_UNAVAILABLE", "The account is being changed. Try again.", RETRY_SOON);
}

function refuseCode(): never {
  return refuse("INVALID_TOKEN", "The code is unknown or already used, or the verifier does not match its challenge.");
}
