import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { clientAddress, originOf } from "../http/origin.ts";
import type { ParsedApiKey } from "../keys/api-key.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import { callAddress, callWorkspace } from "../objects/stubs.ts";
import { type BudgetName, SANDBOX_BUDGETS, SANDBOX_WORKSPACE_ID } from "../sandbox/sandbox.ts";
import { refuseDenied } from "./workspace-guard.ts";

/**
 * What a request with an API key counts under in its workspace: every route that takes such a key asks here, once, before
 * it calls the workspace, and hands the answer on.
 *
 * A request with the sandbox's key counts here instead, against the budget of its client address, and gets null. It ends
 * with 401 where the key is dead, and nobody's budget is touched; with 413 where it is larger than the whole budget; with
 * 429 where it does not fit. What is spent stays spent, whatever becomes of the request: the budget is of what is sent.
 *
 * @param units entries sent, or 1 for a request that reads
 */
export async function countedRoute(
  c: Context<AppEnv>,
  key: ParsedApiKey,
  budget: BudgetName,
  units: number,
): Promise<RouteRef | null> {
  if (key.workspaceId !== SANDBOX_WORKSPACE_ID) return c.get("route");
  await requireLiveKey(c, key);
  await spend(c, budget, units);
  return null;
}

/** Ends the request with 401 unless its workspace knows the key and it still works. Counts nothing that is admitted. */
export async function requireLiveKey(c: Context<AppEnv>, { hash, workspaceId }: ParsedApiKey): Promise<void> {
  const caller = { kind: "key", hash } as const;
  const requirement = { scope: null, role: "owner", projectId: null } as const;
  const answer = await callWorkspace(c.env, workspaceId, "replay-safe", (stub) =>
    stub.admit(caller, requirement, null),
  );
  if (answer.ok) return;
  const isReset = answer.code === "API_KEY_REVOKED" && workspaceId === SANDBOX_WORKSPACE_ID;
  const message = "The sandbox has been reset, and has a new key: GET /sandbox.";
  return refuseDenied(c, isReset ? { ...answer, message } : answer);
}

/** What is left of a budget of the caller's address; asking spends nothing of it. */
export function budgetLeft(c: Context<AppEnv>, name: BudgetName): Promise<LimitState> {
  return check(c, name, 0);
}

async function spend(c: Context<AppEnv>, name: BudgetName, cost: number): Promise<void> {
  const { limit } = SANDBOX_BUDGETS[name];
  const state = await check(c, name, cost);
  if (cost <= limit) {
    c.set("limit", state);
    if (!state.admitted) refuse("RATE_LIMITED", "Too many requests");
    return;
  }
  // No waiting makes it fit: the headers show what is left, and no `Retry-After`.
  c.set("limit", { ...state, admitted: true });
  refuse("PAYLOAD_TOO_LARGE", `The sandbox takes ${limit} entries an hour from one address. Send fewer at once.`);
}

function check(c: Context<AppEnv>, name: BudgetName, cost: number): Promise<LimitState> {
  const { limit, windowSeconds, preset } = SANDBOX_BUDGETS[name];
  const ip = clientAddress(c);
  // Its own counter beside those of the address's other presets.
  const request = { identifier: `sandbox-${name}:${ip}`, limit, windowSeconds, cost };
  return callAddress(c.env, `ip:${ip}`, "once", (stub) => stub.check(request, preset, originOf(c)));
}
