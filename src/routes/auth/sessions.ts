import { z } from "zod";
import { ACCESS_TOKEN_SECONDS, mintAccessToken } from "../../accounts/access-token.ts";
import type { SessionInfo } from "../../accounts/families.ts";
import { hashPassword, passwordSchema } from "../../accounts/password.ts";
import { type OpenedRefreshToken, openRefreshToken } from "../../accounts/refresh.ts";
import { dropAddressToken } from "../../accounts/tokens.ts";
import { clientAddress, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorCode, refuse, refuseFields } from "../../http/errors.ts";
import { idempotencyKeyHash, idempotencyKeySchema, resource } from "../../http/resource.ts";
import { isId } from "../../ids.ts";
import { callUser } from "../../rpc/call.ts";
import { EXAMPLE } from "../examples.ts";
import { authLimit } from "../guards/address.ts";
import { checkedEpoch, refuseUnproven, refuseWeakPassword } from "../guards/password.ts";
import { accessClaims, refuseSession, userGuard } from "../guards/user.ts";

export const authSessions = resource();

const TAG = "Accounts";

const LIMITED: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];

/** Longer than any refresh token. A longer text is no token, and must not be hashed. */
const REFRESH_TOKEN_MAX_LENGTH = 512;
const refreshBody = z.strictObject({ refreshToken: z.string().min(1) });

const REFUSALS = {
  INVALID_REFRESH_TOKEN: "The refresh token is not valid, or its session has ended. Sign in again.",
  REFRESH_TOKEN_EXPIRED: "The session has expired. Sign in again.",
  REFRESH_TOKEN_REUSED: "The refresh token was used before. Sign in again.",
} as const;

authSessions.route(
  {
    method: "POST",
    path: "/auth/refresh",
    operation: "auth.refresh",
    tag: TAG,
    summary: "Exchange a refresh token for a new pair",
    description: [
      "The token is superseded immediately. If it is sent again, its whole session ends, unless the request repeats the",
      "`Idempotency-Key` of the superseding request within 30 seconds. In that case the same successor is returned, so that a lost",
      "response has no consequence. Send one refresh at a time, each with a new random key, and repeat it with that key.",
    ].join(" "),
    security: "none",
    headers: { "Idempotency-Key": idempotencyKeySchema.describe("Random, and new for every refresh.") },
    body: refreshBody,
    example: { refreshToken: EXAMPLE.refreshToken },
    status: 200,
    response: z.object({
      accessToken: z.string(),
      refreshToken: z.string(),
      expiresIn: z.literal(ACCESS_TOKEN_SECONDS).describe("Seconds until the access token expires."),
    }),
    errors: ["VALIDATION_ERROR", "INVALID_REFRESH_TOKEN", "REFRESH_TOKEN_EXPIRED", "REFRESH_TOKEN_REUSED", ...LIMITED],
  },
  [authLimit],
  async (c, { body }) => {
    const { headers } = c.req.raw;
    const settings = c.get("settings");
    const keyHash = idempotencyKeyHash(headers);
    const token = opened(body.refreshToken, settings.REFRESH_PEPPER);
    if (!token) return refuse("INVALID_REFRESH_TOKEN", REFUSALS.INVALID_REFRESH_TOKEN);
    const { userId, familyId: sessionId } = token;
    c.get("log").userId = userId;
    const presented = { token, keyHash, ip: clientAddress(c), userAgent: headers.get("User-Agent") };
    // With an `Idempotency-Key` the call may be retried after a lost answer; without one a retry would be reuse.
    const replay = keyHash ? "replay-safe" : "once";
    const rotation = await callUser(c.env, userId, replay, (stub) => stub.refresh(presented, originOf(c)));
    if (!rotation.ok) return refuse(rotation.code, REFUSALS[rotation.code]);
    const { refreshToken } = rotation;
    const accessToken = await mintAccessToken({ userId, sessionId }, settings, Date.now());
    const data = { accessToken, refreshToken, expiresIn: ACCESS_TOKEN_SECONDS };
    const response = success(data, c.get("requestId"));
    response.headers.set("Cache-Control", "no-store");
    return response;
  },
);

authSessions.route(
  {
    method: "POST",
    path: "/auth/logout",
    operation: "auth.logout",
    tag: TAG,
    summary: "End the session of a refresh token",
    description:
      "Accepts any refresh token of the session. The session's access tokens end, too. A repeated or unknown token gets the same response.",
    security: "none",
    body: refreshBody,
    example: { refreshToken: EXAMPLE.refreshToken },
    status: 200,
    response: z.object({ revoked: z.literal(true) }),
    errors: ["VALIDATION_ERROR", ...LIMITED],
  },
  [authLimit],
  async (c, { body }) => {
    const token = opened(body.refreshToken, c.get("settings").REFRESH_PEPPER);
    if (token) {
      c.get("log").userId = token.userId;
      await callUser(c.env, token.userId, "replay-safe", (stub) => stub.logout(token, originOf(c)));
    }
    return success({ revoked: true }, c.get("requestId"));
  },
);

const sessionShape = z.object({
  id: z.string(),
  method: z.enum(["password", "magic_link", "provider_a", "provider_b"]).describe("The sign-in method."),
  userAgent: z.string().nullable(),
  ip: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().describe("The sign-in or the last refresh."),
  expiresAt: z.iso.datetime().describe("The time at which the session ends unless it is refreshed."),
  current: z.boolean().describe("Whether this request belongs to the session."),
});

authSessions.route(
  {
    method: "GET",
    path: "/auth/sessions",
    operation: "auth.sessions.list",
    tag: TAG,
    summary: "List the sessions of the account, last used first",
    security: "accessToken",
    status: 200,
    response: z.object({ items: z.array(sessionShape), nextCursor: z.null() }),
    errors: LIMITED,
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    const sessions = await callUser(c.env, userId, "replay-safe", (stub) => stub.sessions(sessionId));
    if (!sessions) return refuseSession(c);
    // At most 50, so one page.
    const items = sessions.map((session) => clientSession(session, sessionId));
    return success({ items, nextCursor: null }, c.get("requestId"));
  },
);

authSessions.route(
  {
    method: "DELETE",
    path: "/auth/sessions",
    operation: "auth.sessions.end-others",
    tag: TAG,
    summary: "End all other sessions",
    security: "accessToken",
    status: 200,
    response: z.object({ revoked: z.int().describe("Number of ended sessions.") }),
    errors: LIMITED,
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    const origin = originOf(c);
    const revoked = await callUser(c.env, userId, "replay-safe", (stub) => stub.endOtherSessions(sessionId, origin));
    return revoked === null ? refuseSession(c) : success({ revoked }, c.get("requestId"));
  },
);

authSessions.route(
  {
    method: "DELETE",
    path: "/auth/sessions/:sessionId",
    operation: "auth.sessions.end",
    tag: TAG,
    summary: "End one session, this one included",
    security: "accessToken",
    status: 200,
    response: z.object({ revoked: z.literal(true) }),
    errors: ["NOT_FOUND", ...LIMITED],
  },
  [authLimit],
  async (c) => {
    const { userId, sessionId } = await accessClaims(c);
    const endedId = c.req.param("sessionId") ?? "";
    const ended = await callUser(c.env, userId, "once", (stub) =>
      stub.endSession(sessionId, isId("fam", endedId) ? endedId : "", originOf(c)),
    );
    if (ended === null) return refuseSession(c);
    return ended ? success({ revoked: true }, c.get("requestId")) : refuse("NOT_FOUND", "Session not found.");
  },
);

authSessions.route(
  {
    method: "PUT",
    path: "/auth/password",
    operation: "auth.password.change",
    tag: TAG,
    summary: "Change the password, or set the first one",
    description:
      "Ends all other sessions, and revokes every mailed link. An account with a password must send it as `currentPassword`. An account without one requires a sign-in within the last 10 minutes, not counting refreshes (403 `REAUTHENTICATION_REQUIRED`).",
    security: "accessToken",
    body: z.strictObject({ currentPassword: passwordSchema.optional(), newPassword: passwordSchema }),
    example: { currentPassword: EXAMPLE.password, newPassword: EXAMPLE.newPassword },
    status: 200,
    response: z.object({ changed: z.literal(true) }),
    errors: ["VALIDATION_ERROR", "WEAK_PASSWORD", "INVALID_CREDENTIALS", "REAUTHENTICATION_REQUIRED", ...LIMITED],
  },
  // The guard refuses a request without a session before its body is validated.
  [authLimit, userGuard({ count: "none" })],
  async (c, { body }) => {
    const { currentPassword, newPassword } = body;
    const { userId, sessionId } = c.get("user");
    const known = await callUser(c.env, userId, "replay-safe", (stub) => stub.credentialsIn(sessionId));
    if (!known) return refuseSession(c);
    refuseWeakPassword(c, newPassword);
    if (known.passwordHash !== null && currentPassword === undefined) {
      return refuseFields([{ path: "currentPassword", code: "required", message: "The account has a password." }]);
    }
    const checked = currentPassword === undefined ? null : await checkedEpoch(c, known, currentPassword);
    // Checked before the costly hash and before links are removed; the object decides again in the turn of the change.
    if (checked === null && !known.isFresh) return refuseUnproven();
    const passwordHash = await hashPassword(newPassword);
    // Tokens mailed before the address had an account. Deleted first: after the change nothing may fail.
    await dropAddressToken(c.env.DB, "magic-link", known.email);
    const change = { sessionId, checkedEpoch: checked, epoch: known.epoch, passwordHash };
    const verdict = await callUser(c.env, userId, "once", (stub) => stub.setPassword(change, originOf(c)));
    if (verdict === "unproven") return refuseUnproven();
    return verdict === "changed" ? success({ changed: true }, c.get("requestId")) : refuseSession(c);
  },
);

function opened(refreshToken: string, pepper: string): OpenedRefreshToken | null {
  return refreshToken.length > REFRESH_TOKEN_MAX_LENGTH ? null : openRefreshToken(refreshToken, pepper);
}

function clientSession(session: SessionInfo, currentId: string): z.output<typeof sessionShape> {
  const { createdAt, lastUsedAt, expiresAt, ...rest } = session;
  const iso = (at: number): string => new Date(at).toISOString();
  return {
    ...rest,
    createdAt: iso(createdAt),
    lastUsedAt: iso(lastUsedAt),
    expiresAt: iso(expiresAt),
    current: session.id === currentId,
  };
}
