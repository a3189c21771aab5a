import type { Context, MiddlewareHandler } from "hono";
import { type AppEnv, bearerToken, originOf } from "../../http/context.ts";
import { looksLikeApiKey } from "../../keys/api-key.ts";
import { COUNTED } from "../../limits/state.ts";
import { callWorkspace, isUnknownMethod, type RetryPolicy } from "../../rpc/call.ts";
import type { CallBy, Management, ManagementCall, ManagementMethod } from "../../rpc/management.ts";
import type { Result } from "../../rpc/result.ts";
import { type Action, type Caller, roleFor, scopeFor } from "../../workspace/permissions.ts";
import { authenticateUser, callerOf } from "./user.ts";
import { admitAlone, chargeOfKey, chargeOfRoute, namedWorkspace, requireApiKey, resultOf } from "./workspace.ts";

export interface WorkspaceGuardOptions {
  /** The action of the request. A function decides it once the user is known. */
  action: Action | ((c: Context<AppEnv>) => Action);
  /** Where the workspace is named: the header `X-Workspace-Id`, or the path's `:workspaceId`. */
  from: "header" | "path";
  /**
   * `with-call`, the default: the handler's first call of `manage` admits the request. `first`: the guard does, for a
   * handler that does something else before that call, or makes none.
   */
  admits?: "with-call" | "first";
}

/**
 * Authenticates a user and sets `user` and `workspaceId`. The workspace admits the user, who must be a member with a
 * sufficient role, and counts the request.
 */
export function workspaceGuard({
  action,
  from,
  admits = "with-call",
}: WorkspaceGuardOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const caller = await authenticateUser(c);
    const workspaceId = await namedWorkspace(c, from);
    c.set("workspaceId", workspaceId);
    const role = roleFor(typeof action === "function" ? action(c) : action);
    const requirement = { scope: null, role, projectId: c.req.param("projectId") ?? null };
    c.set("admit", () => {
      c.set("admit", null);
      return admitAlone(c, workspaceId, caller, requirement, chargeOfRoute(c));
    });
    if (admits === "first") await c.get("admit")?.();
    await next();
  };
}

/** Like `workspaceGuard` by the header, and admits a key with the scope of the action, which names its workspace itself. */
export function memberOrKeyGuard(
  action: Action,
  options: Pick<WorkspaceGuardOptions, "admits"> = {},
): MiddlewareHandler<AppEnv> {
  const ofMembers = workspaceGuard({ action, from: "header", ...options });
  return async (c, next) => {
    const token = bearerToken(c);
    if (token === null || !looksLikeApiKey(token)) return ofMembers(c, next);
    const key = await requireApiKey(c, token);
    const { hash, workspaceId } = key;
    const caller = { kind: "key", hash } as const;
    c.get("log").workspaceId = workspaceId;
    const requirement = { scope: scopeFor(action), role: roleFor(action), projectId: c.req.param("projectId") ?? null };
    // A call of its own: an object of the version before admits every key to the call of a method.
    await admitAlone(c, workspaceId, caller, requirement, await chargeOfKey(c, key, "reads", 1));
    c.set("workspaceId", workspaceId);
    c.set("key", caller);
    c.set("admit", null);
    await next();
  };
}

/** Returns the caller of a route with `memberOrKeyGuard`. */
export function memberOrKeyOf(c: Context<AppEnv>): Caller {
  return c.get("key") ?? callerOf(c);
}

/** Methods that may be repeated after a lost response: two executions have the effect of one. */
const REPLAY_SAFE: ReadonlySet<ManagementMethod> = new Set(["rateLimits", "changeRole", "revokeKey"]);

/** Runs a method of the workspace for the user or the key. The first call of a request admits and counts it. A refusal ends it. */
export async function manage<M extends ManagementMethod>(
  c: Context<AppEnv>,
  method: M,
  ...args: Parameters<Management[M]>
): Promise<ReturnType<Management[M]>> {
  return resultOf(c, await managed(c, method, ...args));
}

/** Like `manage`, but returns a refusal of the workspace. */
export async function managed<M extends ManagementMethod>(
  c: Context<AppEnv>,
  method: M,
  ...args: Parameters<Management[M]>
): Promise<Result<ReturnType<Management[M]>>> {
  const admit = c.get("admit");
  c.set("admit", null);
  const charge = admit ? chargeOfRoute(c) : COUNTED;
  // SAFETY: only routes of methods that keys may call have a guard that admits keys. The object refuses keys otherwise.
  const caller = memberOrKeyOf(c) as CallBy<M>["caller"];
  const call = { caller, charge, origin: originOf(c), method, args } as ManagementCall<M>;
  // A repeated count after a lost response would charge the user for a request that was never made.
  const replay = !admit && REPLAY_SAFE.has(method) ? "replay-safe" : "once";
  const result = await callWorkspace(c.env, c.get("workspaceId"), replay, async (stub) => {
    try {
      return await stub.manage(call);
    } catch (error) {
      if (error instanceof Error && isUnknownMethod(error)) return null;
      throw error;
    }
  });
  if (result !== null) return result;
  await admit?.();
  return manageOlder(c, call, replay);
}

/** The methods of an object of the version before, which answers some of them with a result within a result. */
type OlderWorkspace = Record<ManagementMethod, (userId: string, ...more: unknown[]) => Promise<Result<unknown>>>;

/** Calls an object of the version before `manage`, after the request has been admitted. Remove with the next release. */
async function manageOlder<M extends ManagementMethod>(
  c: Context<AppEnv>,
  { caller, method, args, origin }: ManagementCall<M>,
  replay: RetryPolicy,
): Promise<Result<ReturnType<Management[M]>>> {
  const result = await callWorkspace(c.env, c.get("workspaceId"), replay, (stub) =>
    // SAFETY: that version has a method of each name, with these parameters.
    (stub as unknown as OlderWorkspace)[method](caller.kind === "user" ? caller.userId : "", ...args, origin),
  );
  // SAFETY: the value of that method, or a result with it.
  return (result.ok && isResult(result.value) ? result.value : result) as Result<ReturnType<Management[M]>>;
}

function isResult(value: unknown): value is Result<unknown> {
  return typeof value === "object" && value !== null && "ok" in value && typeof value.ok === "boolean";
}
