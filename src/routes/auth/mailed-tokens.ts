import type { Context } from "hono";
import { z } from "zod";
import { FIRST_EPOCH } from "../../accounts/account.ts";
import { findByEmail, findByUserId } from "../../accounts/directory.ts";
import { emailObjectName } from "../../accounts/email.ts";
import { type OpenedOneTimeToken, openOneTimeToken } from "../../accounts/one-time-token.ts";
import { hashPassword, passwordSchema } from "../../accounts/password.ts";
import type { ProvenSession } from "../../accounts/proofs.ts";
import { dropAddressToken, redeemAddressToken, type TokenRefusal } from "../../accounts/tokens.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorCode, refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { logEvent } from "../../platform/log.ts";
import { callAddress, callUser } from "../../rpc/call.ts";
import type { PurgeUnfinished } from "../../rpc/user.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import { refuseWeakPassword } from "../guards/password.ts";
import { confirmPage, noStore } from "../site/pages.ts";
import { newFamily, type SignedIn, signedIn, signedInAnswer, signedInShape, signUp, startSession } from "./sign-in.ts";

/** Effects of the links in mails: sign in, verify or reject an address, reset a password. */
export const authMailedTokens = resource();

const TAG = "Accounts";

const LIMITED: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];
const TOKEN_ERRORS: readonly ErrorCode[] = ["VALIDATION_ERROR", "INVALID_TOKEN", "TOKEN_EXPIRED", ...LIMITED];

const RETRY_SOON = { headers: { "Retry-After": "1" } } as const;

const tokenBody = z.strictObject({ token: z.string() });
/** Mail services add parameters to links, so unknown ones are accepted here. */
const tokenQuery = z.object({ token: z.string() });

const PAGE_NOTE =
  "A request whose `Accept` lists `text/html` gets a page that asks for a click. Neither the page nor HEAD uses the token.";

const magicShape = signedInShape.extend({ isNewUser: z.boolean() });

authMailedTokens.route(
  {
    method: "GET",
    path: "/auth/magic-link/verify",
    operation: "auth.magic-link.verify",
    tag: TAG,
    summary: "Sign in with a mailed link",
    description: PAGE_NOTE,
    security: "none",
    query: tokenQuery,
    status: 200,
    response: magicShape,
    errors: TOKEN_ERRORS,
  },
  [noStore, authLimit],
  (c, { query }) => confirmPage(c, "magic-link") ?? signInWithLink(c, query.token),
);

authMailedTokens.route(
  {
    method: "POST",
    path: "/auth/magic-link/verify",
    operation: "auth.magic-link.verify",
    tag: TAG,
    summary: "Sign in with a mailed link, the token in the body",
    security: "none",
    body: tokenBody,
    example: { token: EXAMPLE.token },
    status: 200,
    response: magicShape,
    errors: TOKEN_ERRORS,
  },
  [authLimit],
  (c, { body }) => signInWithLink(c, body.token),
);

const verifiedShape = z.object({ verified: z.literal(true) });

authMailedTokens.route(
  {
    method: "GET",
    path: "/auth/verify-email",
    operation: "auth.verify-email",
    tag: TAG,
    summary: "Confirm an address with a mailed link",
    description: PAGE_NOTE,
    security: "none",
    query: tokenQuery,
    status: 200,
    response: verifiedShape,
    errors: TOKEN_ERRORS,
  },
  [noStore, authLimit],
  (c, { query }) => confirmPage(c, "verify-email") ?? verify(c, query.token),
);

authMailedTokens.route(
  {
    method: "POST",
    path: "/auth/verify-email",
    operation: "auth.verify-email",
    tag: TAG,
    summary: "Confirm an address with a mailed link, the token in the body",
    security: "none",
    body: tokenBody,
    example: { token: EXAMPLE.token },
    status: 200,
    response: verifiedShape,
    errors: TOKEN_ERRORS,
  },
  [authLimit],
  (c, { body }) => verify(c, body.token),
);

authMailedTokens.route(
  {
    method: "POST",
    path: "/auth/verify-email/reject",
    operation: "auth.verify-email.reject",
    tag: TAG,
    summary: "Reject a registration of this address",
    description:
      "Removes everything that was added before: password, linked providers, sessions, mailed links and API keys.",
    security: "none",
    body: tokenBody,
    example: { token: EXAMPLE.token },
    status: 200,
    response: z.object({ rejected: z.literal(true) }),
    errors: TOKEN_ERRORS,
  },
  [authLimit],
  async (c, { body }) => {
    const { userId, hash } = openedForUser(c, body.token);
    const proof = await callUser(c.env, userId, "once", (stub) => stub.rejectEmail(hash, originOf(c)));
    return proof.ok ? success({ rejected: true }, c.get("requestId")) : refuseToken(proof.code);
  },
);

authMailedTokens.route(
  {
    method: "POST",
    path: "/auth/reset-password",
    operation: "auth.password.reset",
    tag: TAG,
    summary: "Set a new password with a mailed link",
    description: "Ends every session of the account, and revokes every other mailed link.",
    security: "none",
    body: z.strictObject({ token: z.string(), password: passwordSchema }),
    example: { token: EXAMPLE.token, password: EXAMPLE.newPassword },
    status: 200,
    response: z.object({ reset: z.literal(true) }),
    errors: ["WEAK_PASSWORD", ...TOKEN_ERRORS],
  },
  [authLimit],
  async (c, { body }) => {
    const { userId, hash } = openedForUser(c, body.token);
    refuseWeakPassword(c, body.password);
    const passwordHash = await hashPassword(body.password);
    const origin = originOf(c);
    const reset = await callUser(c.env, userId, "once", (stub) => stub.resetPassword(hash, passwordHash, origin));
    if (!reset.ok) return refuseToken(reset.code);
    await tidyAfterReset(c, reset.email);
    return success({ reset: true }, c.get("requestId"));
  },
);

/** The password is set and the token used up by now, so a failure here must not look like a failed reset. */
async function tidyAfterReset(c: Context<AppEnv>, email: string): Promise<void> {
  const { REFRESH_PEPPER, LOG_LEVEL } = c.get("settings");
  const name = emailObjectName(email, REFRESH_PEPPER);
  const results = await Promise.allSettled([
    callAddress(c.env, name, "replay-safe", (stub) => stub.clearLoginFailures()),
    dropAddressToken(c.env.DB, "magic-link", email),
  ]);
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const fault = result.reason instanceof Error ? result.reason.name : "unknown";
    const { userId } = c.get("log");
    const line = { event: "auth.password.reset.tidy", outcome: "failed", requestId: c.get("requestId"), userId, fault };
    logEvent(LOG_LEVEL, "error", line);
  }
}

async function verify(c: Context<AppEnv>, token: string): Promise<Response> {
  const { userId, hash } = openedForUser(c, token);
  const proof = await callUser(c.env, userId, "once", (stub) => stub.verifyEmail(hash, originOf(c)));
  return proof.ok ? success({ verified: true }, c.get("requestId")) : refuseToken(proof.code);
}

async function signInWithLink(c: Context<AppEnv>, token: string): Promise<Response> {
  const opened = openedToken(token);
  const { userId } = opened;
  if (userId === null) return signInNewcomer(c, opened);
  // Looked up before the token is used, so that a failed lookup leaves the token valid.
  const entry = await findByUserId(c.env.DB, userId);
  const family = newFamily(c, { method: "magic_link" });
  if (!entry) return refuseToken("INVALID_TOKEN");
  const session = await callUser<ProvenSession | PurgeUnfinished>(c.env, userId, "once", (stub) =>
    stub.signInByMail(opened.hash, family, originOf(c)),
  );
  if (!session.ok) return refuseToken(session.code);
  return magicAnswer(c, await signedIn(c, entry, family.id, session), false);
}

/** Handles the token of an address without an account when it was mailed. The address may have an account by now. */
async function signInNewcomer(c: Context<AppEnv>, opened: OpenedOneTimeToken): Promise<Response> {
  const used = await redeemAddressToken(c.env.DB, "magic-link", opened.hash, Date.now());
  if (!used.ok) return refuseToken(used.code);
  const email = used.address;
  const method = "magic_link";
  const account = { email, name: null, passwordHash: null, emailVerified: true };
  const registration = await signUp(c.env, account, originOf(c));
  if (registration.ok) {
    const session = await startSession(c, { entry: registration.entry, epoch: FIRST_EPOCH, method });
    if (session) return magicAnswer(c, session, true);
  }
  const entry = await findByEmail(c.env.DB, email);
  if (!entry) return refuse("SERVICE_UNAVAILABLE", "The registration took too long. Request a new link.", RETRY_SOON);
  const family = newFamily(c, { method });
  const session = await callUser<ProvenSession | PurgeUnfinished>(c.env, entry.userId, "once", (stub) =>
    stub.signInProven(family, originOf(c)),
  );
  if (!session.ok) return refuseToken(session.code);
  return magicAnswer(c, await signedIn(c, entry, family.id, session), false);
}

function magicAnswer(c: Context<AppEnv>, data: SignedIn, isNewUser: boolean): Response {
  return signedInAnswer(c, { ...data, isNewUser }, 200);
}

function openedToken(token: string): OpenedOneTimeToken {
  return openOneTimeToken(token) ?? refuseToken("INVALID_TOKEN");
}

/** Opens a token that only a user object can store. */
function openedForUser(c: Context<AppEnv>, token: string): { userId: string; hash: Uint8Array } {
  const { userId, hash } = openedToken(token);
  if (userId === null) return refuseToken("INVALID_TOKEN");
  c.get("log").userId = userId;
  return { userId, hash };
}

function refuseToken(code: (TokenRefusal | PurgeUnfinished)["code"]): never {
  switch (code) {
    case "TOKEN_EXPIRED":
      return refuse(code, "The link has expired. Request a new one.");
    case "INVALID_TOKEN":
      return refuse(code, "The link is not valid, was used, or was replaced by a newer one.");
    case "PURGE_UNFINISHED":
      return refuse(
        "SERVICE_UNAVAILABLE",
        "The link was used, but credentials that were added before could not be removed yet. Request a new link in a minute.",
        { headers: { "Retry-After": "60" } },
      );
  }
}
