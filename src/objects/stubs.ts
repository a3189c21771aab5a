import type { Env } from "../env.ts";
import type { AddressObject } from "./address.ts";
import { isUnknownMethod, unavailable } from "./outdated.ts";
import type { UserObject } from "./user.ts";
import type { WorkspaceObject } from "./workspace.ts";

/**
 * The methods of an object as a caller sees them: the same signatures, as every argument and result is plain data.
 * (The runtime's own stub type spreads a union result over a union of promises, which no caller can narrow.)
 */
export type Stub<O> = {
  [M in keyof O as O[M] extends (...args: never[]) => Promise<unknown> ? M : never]: O[M];
};

/** Whether a call that was lost on the way may be sent once more. */
export type Replay = "replay-safe" | "once";

/**
 * Calls the object of a workspace. A stub is made per call: one that has seen a broken connection stays broken.
 * @throws ApiError SERVICE_UNAVAILABLE where the platform says that the object is overloaded or was reset, or where the
 * object is of an older version that does not know the call
 */
export function callWorkspace<T>(
  env: Env,
  workspaceId: string,
  replay: Replay,
  call: (stub: Stub<WorkspaceObject>) => Promise<T>,
): Promise<T> {
  return withFailureMapping(replay, () => call(stubOf(env.WORKSPACES, workspaceId)));
}

/** Sends a workspace's object a request: for what no call can hand over, a WebSocket. Fails as `callWorkspace` does. */
export function fetchWorkspace(env: Env, workspaceId: string, request: Request): Promise<Response> {
  const stub = env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
  return withFailureMapping("once", () => stub.fetch(request));
}

export function callUser<T>(
  env: Env,
  userId: string,
  replay: Replay,
  call: (stub: Stub<UserObject>) => Promise<T>,
): Promise<T> {
  return withFailureMapping(replay, () => call(stubOf(env.USERS, userId)));
}

/** `name` is `ip:<address>` or `email:<hash>`. */
export function callAddress<T>(
  env: Env,
  name: string,
  replay: Replay,
  call: (stub: Stub<AddressObject>) => Promise<T>,
): Promise<T> {
  return withFailureMapping(replay, () => call(stubOf(env.ADDRESSES, name)));
}

function stubOf<O extends Rpc.DurableObjectBranded>(namespace: DurableObjectNamespace<O>, name: string): Stub<O> {
  // SAFETY: native RPC forwards every method of the class; `Stub` only names them with their own signatures.
  return namespace.get(namespace.idFromName(name)) as unknown as Stub<O>;
}

async function withFailureMapping<T>(replay: Replay, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const kind = classify(error);
    if (kind === "fault") throw error;
    if (kind === "lost" && replay === "replay-safe") {
      try {
        return await attempt();
      } catch (second) {
        if (classify(second) === "fault") throw second;
      }
    }
    throw unavailable();
  }
}

/** By the platform's flags, where it has any: `overloaded` must not be retried, a lost or reset call may be. */
function classify(error: unknown): "overloaded" | "lost" | "outdated" | "fault" {
  if (!(error instanceof Error)) return "fault";
  if (isUnknownMethod(error)) return "outdated";
  if ("overloaded" in error && error.overloaded === true) return "overloaded";
  if ("retryable" in error && error.retryable === true) return "lost";
  if ("durableObjectReset" in error && error.durableObjectReset === true) return "lost";
  return "fault";
}
