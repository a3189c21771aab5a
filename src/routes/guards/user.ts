import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { type AccessClaims, verifyAccessToken } from "../../accounts/access-token.ts";
import type { Profile } from "../../accounts/sessions.ts";
import { type AppEnv, bearerToken, originOf, refuseIfLimited } from "../../http/context.ts";
import { type ErrorCode, refuse } from "../../http/errors.ts";
import type { LimitState } from "../../limits/state.ts";
import { callUser } from "../../rpc/call.ts";
import type { UserCaller } from "../../workspace/permissions.ts";
import { countByAddress } from "./address.ts";

/** `user`: the request counts in the user object. `none`: another object counts it or has counted it. */
export interface UserGuardOptions {
  count: "user" | "none";
}

/** Admits requests with a genuine access token of a valid session; sets `user`. */
export function userGuard({ count }: UserGuardOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const { limit } = await admit(c, count === "user" ? 1 : 0);
    refuseIfLimited(c, limit);
    await next();
  };
}

/** Like `userGuard`, for a route that accepts other credentials too. Counts the request only if it refuses it. */
export async function authenticateUser(c: Context<AppEnv>): Promise<UserCaller> {
  const { claims, method } = await admit(c, 0);
  c.set("user", { ...claims, method });
  return callerOf(c);
}

/** Returns the authenticated user as caller of a workspace object, with the session of the request. */
export function callerOf(c: Context<AppEnv>): UserCaller {
  const { userId, sessionId, method = null } = c.get("user");
  return { kind: "user", userId, session: { id: sessionId, method, origin: originOf(c) } };
}

interface AdmittedSession {
  claims: AccessClaims;
  limit: LimitState | null;
  /** How the session was signed in; `null` if the user object is of an older version. */
  method: string | null;
}

async function admit(c: Context<AppEnv>, cost: 0 | 1): Promise<AdmittedSession> {
  const claims = await accessClaims(c);
  const { userId, sessionId } = claims;
  // A repeated count after a lost response would charge the user for a request that was never made.
  const replay = cost === 0 ? "replay-safe" : "once";
  const {
    alive,
    limit,
    method = null,
  } = await callUser(c.env, userId, replay, (stub) => stub.authenticate(sessionId, cost, originOf(c)));
  if (!alive) return refuseSession(c);
  c.set("recheckSession", () => recheck(c));
  return { claims, limit, method };
}

/** Ends the request if its access token or session is no longer valid. It then counts as unauthenticated. */
async function recheck(c: Context<AppEnv>): Promise<void> {
  const { method } = c.get("user");
  const admitLater = c.get("admit");
  c.set("admit", null);
  const { claims } = await admit(c, 0);
  c.set("admit", admitLater);
  c.set("user", method === undefined ? claims : { ...claims, method });
}

/**
 * Verifies the request's access token and returns its claims; sets `user`. Does not ask the user object whether the
 * session is valid: a caller that does so ends the request with `refuseSession` if it is not.
 */
export async function accessClaims(c: Context<AppEnv>): Promise<AccessClaims> {
  const token = bearerToken(c);
  if (token === null) return refuseCredential(c, "UNAUTHORIZED", "Send an access token as Authorization: Bearer.");
  const verdict = await verifyAccessToken(token, c.get("settings"), Date.now());
  if (!verdict.ok) return refuseCredential(c, verdict.code, REFUSALS[verdict.code]);
  const { userId, sessionId } = verdict;
  c.set("user", { userId, sessionId });
  c.get("log").userId = userId;
  return { userId, sessionId };
}

export function refuseSession(c: Context<AppEnv>): Promise<never> {
  return refuseCredential(c, "SESSION_REVOKED", "The session of this access token has ended. Sign in again.");
}

const REFUSALS = {
  INVALID_ACCESS_TOKEN: "The bearer token is not a valid access token.",
  ACCESS_TOKEN_EXPIRED: "The access token has expired. Get a new one with POST /auth/refresh.",
} as const;

/** Unauthenticated: charges the client IP, unless an `/auth` route has charged it already. */
async function refuseCredential(c: Context<AppEnv>, code: ErrorCode, message: string): Promise<never> {
  if (c.get("limit") === null) await countByAddress(c, "API_DEFAULT");
  return refuse(code, message);
}

/** Returns the profile of a caller with a verified address; ends any other request. Use after a user guard. */
export async function verifiedUser(c: Context<AppEnv>): Promise<Profile> {
  const { userId, sessionId } = c.get("user");
  const profile = await callUser(c.env, userId, "replay-safe", (stub) => stub.me(sessionId));
  if (!profile) return refuseSession(c);
  return profile.emailVerified ? profile : refuse("EMAIL_NOT_VERIFIED", "Confirm your e-mail address first.");
}

/** Admits the operator by the token of the settings. Counts every attempt by client IP. Without a token: 404. */
export const operatorGuard: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countByAddress(c, "API_DEFAULT");
  const { OPERATOR_TOKEN } = c.get("settings");
  if (OPERATOR_TOKEN === undefined) return refuse("NOT_FOUND", "Path not found.");
  const token = bearerToken(c);
  if (token === null || !isSame(token, OPERATOR_TOKEN)) {
    return refuse("UNAUTHORIZED", "Send the operator token as Authorization: Bearer.");
  }
  await next();
};

/** Compares in a time that reveals neither text nor length. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
