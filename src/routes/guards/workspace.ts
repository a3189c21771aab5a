import type { Context } from "hono";
import { type AppEnv, bearerToken, clientAddress, noteLimit, originOf, refuseIfLimited } from "../../http/context.ts";
import { ApiError, refuse, refuseTooMany } from "../../http/errors.ts";
import { isId } from "../../ids.ts";
import { looksLikeApiKey, type ParsedApiKey, parseApiKey } from "../../keys/api-key.ts";
import { searchName } from "../../limits/search-cover.ts";
import { type Charge, COUNTED, chargeMembers, type LimitState } from "../../limits/state.ts";
import { callAddress, callUser, callWorkspace } from "../../rpc/call.ts";
import type { Failure, Result } from "../../rpc/result.ts";
import { type BudgetName, SANDBOX_BUDGETS, SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import type { Caller, Requirement } from "../../workspace/permissions.ts";
import { countByAddress } from "./address.ts";

/** Returns the value of an object's result and shows its limit; a refusal ends the request. */
export async function resultOf<T>(c: Context<AppEnv>, result: Result<T>): Promise<T> {
  if (!result.ok) return refuseFailure(c, result);
  noteLimit(c, result.limit);
  return result.value;
}

/**
 * Ends a request that an object refused. If the object counted nothing, because the caller is unknown there, the request
 * counts by client IP (a key) or in the user object (a user), unless it has been counted already.
 */
export async function refuseFailure(c: Context<AppEnv>, failure: Failure): Promise<never> {
  const { code, message, limit, scope, retryAfter, quota } = failure;
  refuseIfLimited(c, limit);
  if (limit === null && c.get("limit") === null) await countElsewhere(c);
  if (code === "RATE_LIMITED") return refuseTooMany(quota, retryAfter);
  const challenge = scope && `Bearer realm="taffrail", error="insufficient_scope", scope="${scope}"`;
  return refuse(code, message, challenge ? { headers: { "WWW-Authenticate": challenge } } : {});
}

async function countElsewhere(c: Context<AppEnv>): Promise<void> {
  const user = c.get("user");
  if (!user) return countByAddress(c, "API_DEFAULT");
  const origin = originOf(c);
  const { limit } = await callUser(c.env, user.userId, "once", (stub) => stub.authenticate(user.sessionId, 1, origin));
  refuseIfLimited(c, limit);
}

/** Returns the API key of a request. Without a well-formed key, counts by client IP and calls no workspace. */
export async function requireApiKey(c: Context<AppEnv>, token = bearerToken(c)): Promise<ParsedApiKey> {
  if (token !== null && looksLikeApiKey(token)) {
    const key = parseApiKey(token);
    if (key) return key;
  }
  await countByAddress(c, "API_DEFAULT");
  return token === null
    ? refuse("UNAUTHORIZED", "Send an API key as Authorization: Bearer.")
    : refuse("INVALID_API_KEY", "The bearer token is not a valid API key.");
}

/** Returns the charge of a request that counts in its workspace. */
export function chargeOfRoute(c: Context<AppEnv>): Charge {
  return { by: "route", route: c.get("route") };
}

/** Admits and counts a request by a call that does nothing else. A refusal ends the request. */
export async function admitAlone(
  c: Context<AppEnv>,
  workspaceId: string,
  caller: Caller,
  requirement: Requirement,
  charge: Charge,
): Promise<void> {
  const { route } = chargeMembers(charge);
  const result = await callWorkspace(c.env, workspaceId, "once", (stub) => stub.admit(caller, requirement, route));
  if (!result.ok) return refuseFailure(c, result);
  noteLimit(c, result.limit);
}

/** The sender of a request that a workspace counts. */
export interface ChargedCaller {
  caller: Caller;
  workspaceId: string;
  /** Returns what the request counts under. Called once, when the request is counted. */
  charge: () => Charge | Promise<Charge>;
}

/**
 * Runs `read`, which may refuse a request before its workspace is asked. A refused request is counted too, and a fault
 * of the caller (an unknown key, a missing role) is reported instead of the refusal.
 */
export async function countIfRefused<T>(
  c: Context<AppEnv>,
  { caller, workspaceId, charge }: ChargedCaller,
  requirement: Requirement,
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await admitAlone(c, workspaceId, caller, requirement, await charge());
    throw error;
  }
}

/** Returns the workspace of a user's request. Use after `authenticateUser`: a bad name counts in the user object. */
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
  return refuse("NOT_FOUND", "Workspace not found.");
}

/**
 * Returns what a request with an API key counts under in its workspace. Every route that accepts such a key calls this
 * once and passes the result to the workspace.
 *
 * A request with the sandbox's key counts here, against the budget of its client IP, and gets `COUNTED`. An invalid key ends
 * it with 401 and spends nothing; more units than the whole budget, with 413; more than is left, with 429. Spent units are
 * not returned, whatever the outcome of the request, because the budget limits what is sent.
 *
 * @param units entries sent, or 1 for a request that reads
 */
export async function chargeOfKey(
  c: Context<AppEnv>,
  key: ParsedApiKey,
  budget: BudgetName,
  units: number,
): Promise<Charge> {
  if (key.workspaceId !== SANDBOX_WORKSPACE_ID) return chargeOfRoute(c);
  await requireLiveKey(c, key);
  await spend(c, budget, units);
  return COUNTED;
}

/** Ends the request with 401 unless its key is valid in its workspace. Counts only refused requests. */
export async function requireLiveKey(c: Context<AppEnv>, { hash, workspaceId }: ParsedApiKey): Promise<void> {
  const caller = { kind: "key", hash } as const;
  const requirement = { scope: null, role: "owner", projectId: null } as const;
  const { route } = chargeMembers(COUNTED);
  const result = await callWorkspace(c.env, workspaceId, "replay-safe", (stub) =>
    stub.admit(caller, requirement, route),
  );
  if (result.ok) return;
  const isReset = result.code === "API_KEY_REVOKED" && workspaceId === SANDBOX_WORKSPACE_ID;
  const message = "The sandbox was reset. Get its new key with GET /sandbox.";
  return refuseFailure(c, isReset ? { ...result, message } : result);
}

/** Returns what is left of a budget of the client IP, and spends nothing of it. */
export function budgetLeft(c: Context<AppEnv>, name: BudgetName): Promise<LimitState> {
  return check(c, name, 0);
}

/** Names the search that a read of the sandbox belongs to: its requests count as one read (`SearchCover`). */
export const SEARCH_HEADER = "X-Search-Id";

async function spend(c: Context<AppEnv>, name: BudgetName, cost: number): Promise<void> {
  const { limit } = SANDBOX_BUDGETS[name];
  const search = name === "reads" ? searchName(c.req.header(SEARCH_HEADER)) : null;
  const state = await check(c, name, cost, search);
  if (cost <= limit) return refuseIfLimited(c, state);
  // No wait makes the request fit: `admitted` shows what is left without a `Retry-After`.
  noteLimit(c, { ...state, admitted: true });
  refuse("PAYLOAD_TOO_LARGE", `The sandbox accepts ${limit} entries an hour from one client IP. Send fewer at once.`);
}

function check(c: Context<AppEnv>, name: BudgetName, cost: number, search: string | null = null): Promise<LimitState> {
  const { limit, windowSeconds, preset } = SANDBOX_BUDGETS[name];
  const ip = clientAddress(c);
  // A separate counter beside those of the client IP's other presets.
  const request = {
    ...{ identifier: `sandbox-${name}:${ip}`, limit, windowSeconds, cost },
    ...(search === null ? {} : { search }),
  };
  return callAddress(c.env, `ip:${ip}`, "once", (stub) => stub.check(request, preset, originOf(c)));
}
