import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import type { Exchanged, GrantExchange, PresentedGrantToken } from "../../grants/exchange.ts";
import { clientIdOf, registrationOf, registrationShape } from "../../grants/registered-client.ts";
import { openGrantToken, parseAgentToken, parseCode } from "../../grants/tokens.ts";
import { type AppEnv, finishAfterDisconnect, originOf } from "../../http/context.ts";
import { jsonBody, type Resource } from "../../http/resource.ts";
import { callUser, callWorkspace } from "../../rpc/call.ts";
import { publicLimit, registrationLimit } from "../guards/address.ts";
import { answerLikeOAuth, FORM, formOf, type OAuthForm, oauthError, oauthJson } from "./oauth-answers.ts";

/** What clients of OAuth call without a user: authorization (a redirect to the console), token, revocation, registration. */

const TAG = "Agents";
/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const TOKEN_PARAMETERS = [
  "grant_type",
  "client_id",
  "code",
  "redirect_uri",
  "code_verifier",
  "refresh_token",
  "scope",
] as const;

export function addOAuthEndpoints(resource: Resource): void {
  const foreign = { tag: TAG, security: "none", isForeign: true, answerLike: answerLikeOAuth } as const;
  resource.route(
    {
      ...foreign,
      method: "GET",
      path: "/oauth/authorize",
      operation: "oauth.authorize",
      summary: "Ask a user for access (OAuth 2.1)",
      description:
        "For a browser: redirects to the console's consent page, with the same query. PKCE (S256) is required. The answer at the redirect URI has `code`, `state` and `iss`.",
      documentedQuery: z.looseObject({
        response_type: z.string().optional().describe("`code`"),
        client_id: z.string().optional().describe("The https URL of a client metadata document, or a registered id."),
        redirect_uri: z.string().optional(),
        scope: z.string().optional(),
        state: z.string().optional(),
        code_challenge: z.string().optional(),
        code_challenge_method: z.string().optional().describe("`S256`"),
        resource: z.string().optional().describe("The `resource` of the metadata."),
      }),
      status: 302,
      response: z.null(),
      errors: [],
    },
    [publicLimit],
    (c) => {
      const headers = {
        Location: `${c.get("settings").FRONTEND_URL}/auth/consent${new URL(c.req.url).search}`,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
      };
      return new Response(null, { status: 302, headers });
    },
  );
  resource.route(
    {
      ...foreign,
      method: "POST",
      path: "/oauth/token",
      operation: "oauth.token",
      summary: "Exchange a code or a refresh token for tokens",
      description:
        "Access tokens are valid for an hour, a grant for 30 days without use and for 90 days in all. Refresh tokens rotate; one that is presented again ends the grant.",
      documentedBody: {
        [FORM]: {
          schema: z.looseObject({
            grant_type: z.string().describe("`authorization_code` or `refresh_token`"),
            client_id: z.string(),
            code: z.string().optional(),
            redirect_uri: z.string().optional(),
            code_verifier: z.string().optional(),
            refresh_token: z.string().optional(),
            scope: z.string().optional(),
            resource: z.string().optional(),
          }),
          example: {
            grant_type: "refresh_token",
            client_id: "https://app.example.com/client.json",
            refresh_token: "or_",
          },
        },
      },
      status: 200,
      documentedResponse: {
        "application/json": {
          schema: z.object({
            access_token: z.string(),
            token_type: z.literal("Bearer"),
            expires_in: z.int(),
            refresh_token: z.string(),
            scope: z.string(),
          }),
          example: {
            access_token: "oa_",
            token_type: "Bearer",
            expires_in: 3600,
            refresh_token: "or_",
            scope: "logs:read",
          },
        },
      },
      errors: ["VALIDATION_ERROR"],
    },
    [answersLikeOAuth, publicLimit],
    (c) => finishAfterDisconnect(c, token(c)),
  );
  resource.route(
    {
      ...foreign,
      method: "POST",
      path: "/oauth/revoke",
      operation: "oauth.revoke",
      summary: "Revoke a token (RFC 7009)",
      description: "Ends the whole grant of an access token or a refresh token. 200 for unknown tokens, too.",
      documentedBody: {
        [FORM]: {
          schema: z.looseObject({ token: z.string(), client_id: z.string().optional() }),
          example: { token: "or_" },
        },
      },
      status: 200,
      documentedResponse: { "application/json": { schema: z.object({}), example: {} } },
      errors: ["VALIDATION_ERROR"],
    },
    [answersLikeOAuth, publicLimit],
    (c) => finishAfterDisconnect(c, revoke(c)),
  );
  resource.route(
    {
      ...foreign,
      method: "POST",
      path: "/oauth/register",
      operation: "oauth.register",
      summary: "Register a client (RFC 7591)",
      description:
        "For clients that have no metadata document. The id contains what is registered, so that nothing is stored. At most 20 an hour from one client IP.",
      documentedBody: {
        "application/json": {
          schema: registrationShape,
          example: { client_name: "Example agent", redirect_uris: ["http://127.0.0.1/callback"] },
        },
      },
      status: 201,
      documentedResponse: {
        "application/json": {
          schema: z.looseObject({ client_id: z.string() }),
          example: { client_id: "cl_", redirect_uris: ["http://127.0.0.1/callback"] },
        },
      },
      errors: ["VALIDATION_ERROR"],
    },
    [answersLikeOAuth, registrationLimit],
    (c) => finishAfterDisconnect(c, register(c)),
  );
}

async function answersLikeOAuth(c: Context<AppEnv>, next: () => Promise<void>): Promise<void> {
  answerLikeOAuth(c);
  await next();
}

async function token(c: Context<AppEnv>): Promise<Response> {
  const form = await formOf(c);
  if (form === null) return oauthError(c, "invalid_request", `Send the parameters as Content-Type: ${FORM}.`);
  if (form.repeats(TOKEN_PARAMETERS)) return oauthError(c, "invalid_request", "A parameter occurs twice.");
  const clientId = form.get("client_id");
  if (clientId === null) return oauthError(c, "invalid_request", "client_id is required.");
  switch (form.get("grant_type")) {
    case "authorization_code":
      return exchangeCode(c, form, clientId);
    case "refresh_token":
      return refresh(c, form, clientId);
    default:
      return oauthError(c, "unsupported_grant_type", "grant_type must be authorization_code or refresh_token.");
  }
}

function exchangeCode(c: Context<AppEnv>, form: OAuthForm, clientId: string): Response | Promise<Response> {
  const verifier = form.get("code_verifier");
  const redirectUri = form.get("redirect_uri");
  if (verifier === null || !VERIFIER.test(verifier) || redirectUri === null) {
    return oauthError(c, "invalid_request", "code, redirect_uri and code_verifier are required.");
  }
  const code = parseCode(form.get("code") ?? "");
  if (code === null) return invalidGrant(c);
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const sent = { codeHash: code.hash, clientId, redirectUri, challenge, resources: form.all("resource") };
  return exchange(c, code.workspaceId, { kind: "code", sent, origin: originOf(c) });
}

function refresh(c: Context<AppEnv>, form: OAuthForm, clientId: string): Response | Promise<Response> {
  const opened = openGrantToken(form.get("refresh_token") ?? "", c.get("settings").REFRESH_PEPPER);
  if (opened === null) return invalidGrant(c);
  const scopes =
    form
      .get("scope")
      ?.split(" ")
      .filter((scope) => scope !== "") ?? null;
  const sent = { token: opened, clientId, resources: form.all("resource"), scopes };
  return exchange(c, opened.workspaceId, { kind: "refresh", sent, origin: originOf(c) });
}

function invalidGrant(c: Context<AppEnv>): Response {
  return oauthError(
    c,
    "invalid_grant",
    "The code or refresh token is not valid, has been used, or its grant has ended.",
  );
}

async function exchange(c: Context<AppEnv>, workspaceId: string, call: GrantExchange): Promise<Response> {
  c.get("log").workspaceId = workspaceId;
  const exchanged: Exchanged = await callWorkspace(c.env, workspaceId, "once", (stub) => stub.exchangeGrant(call));
  if (exchanged.ok) {
    const { accessToken, refreshToken, expiresIn, scopes } = exchanged.tokens;
    const common = { token_type: "Bearer", expires_in: expiresIn, scope: scopes.join(" ") };
    return oauthJson({ access_token: accessToken, ...common, refresh_token: refreshToken });
  }
  if (exchanged.ended) await mailEnd(c, exchanged.ended.grant.userId);
  switch (exchanged.error) {
    case "invalid_grant":
      return invalidGrant(c);
    case "invalid_scope":
      return oauthError(c, "invalid_scope", "The grant does not have these scopes.");
    case "invalid_target":
      return oauthError(c, "invalid_target", "The grant is for another resource.");
  }
}

/** Mails the user that the access of an agent has ended. A failure is logged: the grant has ended, and its audit item is stored. */
async function mailEnd(c: Context<AppEnv>, userId: string): Promise<void> {
  const origin = originOf(c);
  try {
    await callUser(c.env, userId, "replay-safe", (stub) => stub.agentEnded(origin));
  } catch {
    c.get("log").mail = "failed";
  }
}

async function revoke(c: Context<AppEnv>): Promise<Response> {
  const form = await formOf(c);
  if (form === null) return oauthError(c, "invalid_request", `Send the parameters as Content-Type: ${FORM}.`);
  const text = form.repeats(["token", "client_id"]) ? null : form.get("token");
  if (text === null) return oauthError(c, "invalid_request", "token is required, once.");
  const clientId = form.get("client_id");
  const access = parseAgentToken(text);
  const opened = access === null ? openGrantToken(text, c.get("settings").REFRESH_PEPPER) : null;
  const workspaceId = access?.workspaceId ?? opened?.workspaceId;
  if (workspaceId === undefined) return oauthJson({});
  c.get("log").workspaceId = workspaceId;
  const presented: PresentedGrantToken | null = access
    ? { kind: "access", hash: access.hash, clientId }
    : opened && { kind: "refresh", token: opened, clientId };
  if (presented !== null) {
    const origin = originOf(c);
    await callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.revokeGrantToken(presented, origin));
  }
  return oauthJson({});
}

async function register(c: Context<AppEnv>): Promise<Response> {
  const sent = registrationShape.safeParse(await jsonBody(c.req.raw, z.unknown()));
  if (!sent.success) {
    const [issue] = sent.error.issues;
    const place = issue?.path.join(".") ?? "";
    const isRedirect = issue?.path[0] === "redirect_uris";
    return oauthError(
      c,
      isRedirect ? "invalid_redirect_uri" : "invalid_client_metadata",
      `${place === "" ? "metadata" : place}: ${issue?.message ?? "Invalid."}`,
    );
  }
  const registration = registrationOf(sent.data);
  const clientId = clientIdOf(registration, c.get("settings").REFRESH_PEPPER);
  if (clientId === null) return oauthError(c, "invalid_client_metadata", "The metadata is too long.");
  const { name, redirectUris } = registration;
  const metadata = {
    client_id: clientId,
    client_id_issued_at: Math.floor(Date.now() / 1000),
    client_name: name,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  return oauthJson(metadata, 201);
}
