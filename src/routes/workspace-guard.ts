import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { originOf } from "../http/origin.ts";
import { isId } from "../ids.ts";
import { looksLikeApiKey, type ParsedApiKey, parseApiKey } from "../keys/api-key.ts";
import type { RouteRef } from "../limits/state.ts";
import { callUser, callWorkspace } from "../objects/stubs.ts";
import type { Answer } from "../objects/workspace-core.ts";
import type { Denied, Requirement } from "../workspace/caller.ts";
import { type Action, PERMISSIONS } from "../workspace/permissions.ts";
import type { Ruling } from "../workspace/ruling.ts";
import { countByAddress } from "./address-limits.ts";
import { authenticateUser, bearerToken } from "./user-guard.ts";

/**
 * Ends a request that the workspace refused. Where the workspace counted nothing, because the caller is nobody it knows,
 * the request counts by address (a key) or in the user's own object (a user); unless it has been counted already.
 */
export async function refuseDenied(c: Context<AppEnv>, denied: Denied): Promise<never> {
  if (denied.limit) c.set("limit", denied.limit);
  else if (c.get("limit") === null) await countElsewhere(c);
  const challenge = denied.scope && `Bearer realm="taffrail", error="insufficient_scope", scope="${denied.scope}"`;
  return refuse(denied.code, denied.message, challenge ? { headers: { "WWW-Authenticate": challenge } } : {});
}

/** The value of an object's answer; a refusal ends the request. */
export async function unwrapAnswer<T>(c: Context<AppEnv>, answer: Answer<T>): Promise<T> {
  return answer.ok ? answer.value : refuseDenied(c, answer);
}

/** What the workspace's own rules have granted; a refusal ends the request. */
export function unwrapRuling<T>(ruling: Ruling<T>): T {
  if (ruling.ok) return ruling.value;
  const { code, message, retryAfter } = ruling;
  const seconds = retryAfter === undefined ? null : String(Math.max(1, Math.ceil(retryAfter / 1000)));
  return refuse(code, message, seconds === null ? {} : { headers: { "Retry-After": seconds } });
}

async function countElsewhere(c: Context<AppEnv>): Promise<void> {
  const user = c.get("user");
  if (!user) return countByAddress(c, "API_DEFAULT");
  const origin = originOf(c);
  const { limit } = await callUser(c.env, user.userId, "once", (stub) => stub.authenticate(user.sessionId, 1, origin));
  if (!limit) return;
  c.set("limit", limit);
  if (!limit.admitted) refuse("RATE_LIMITED", "Too many requests");
}

/** The API key of a request. Without a well-formed one the address counts, and no workspace is touched. */
export async function requireApiKey(c: Context<AppEnv>): Promise<ParsedApiKey> {
  const token = bearerToken(c);
  if (token !== null && looksLikeApiKey(token)) {
    const key = parseApiKey(token);
    if (key) return key;
  }
  await countByAddress(c, "API_DEFAULT");
  return token === null
    ? refuse("UNAUTHORIZED", "Send an API key as Authorization: Bearer.")
    : refuse("INVALID_API_KEY", "The bearer token is not a valid API key.");
}

/**
 * Counts a request of a key that will be refused whatever the workspace holds; the key's own faults come first.
 * @param route null where it has been counted already
 */
export async function countRefusedKey(
  c: Context<AppEnv>,
  key: ParsedApiKey,
  requirement: Requirement,
  route: RouteRef | null,
): Promise<void> {
  const caller = { kind: "key", hash: key.hash } as const;
  const answer = await callWorkspace(c.env, key.workspaceId, "once", (stub) => stub.admit(caller, requirement, route));
  if (!answer.ok) return refuseDenied(c, answer);
  if (answer.limit) c.set("limit", answer.limit);
}

export interface WorkspaceGuardOptions {
  /** What the request does; one that depends on who asks is decided once the user is known. */
  action: Action | ((c: Context<AppEnv>) => Action);
  /** Where the workspace is named: the header `X-Workspace-Id`, or the path's `:workspaceId`. */
  from: "header" | "path";
}

/** Lets in members whose role is enough, counts the request in the workspace, and sets `workspaceId`. */
export function workspaceGuard({ action, from }: WorkspaceGuardOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const caller = await authenticateUser(c);
    const workspaceId = await namedWorkspace(c, from);
    const role = PERMISSIONS[typeof action === "function" ? action(c) : action];
    const requirement = { scope: null, role, projectId: c.req.param("projectId") ?? null };
    const route = c.get("route");
    const answer = await callWorkspace(c.env, workspaceId, "once", (stub) => stub.admit(caller, requirement, route));
    if (!answer.ok) return refuseDenied(c, answer);
    c.set("limit", answer.limit);
    c.set("workspaceId", workspaceId);
    await next();
  };
}

/** The workspace a user's request names. Needs `authenticateUser` before it, as a bad name counts in the user object. */
export async function namedWorkspace(c: Context<AppEnv>, from: "header" | "path"): Promise<string> {
  const header = c.req.header("X-Workspace-Id");
  const named = from === "path" ? c.req.param("workspaceId") : header;
  if (named === undefined || (header !== undefined && header !== named)) {
    await countElsewhere(c);
    const message = named === undefined ? "is required." : "differs from the workspace in the path.";
    return refuse("VALIDATION_ERROR", `X-Workspace-Id ${message}`, {
      details: [{ path: "X-Workspace-Id", code: named === undefined ? "required" : "mismatch", message }],
    });
  }
  if (isId("ws", named)) {
    c.get("log").workspaceId = named;
    return named;
  }
  await countElsewhere(c);
  return refuse("NOT_FOUND", "There is no such workspace.");
}
