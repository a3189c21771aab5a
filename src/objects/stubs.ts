import type { Env } from "../env.ts";
import type { AddressObject } from "./address.ts";
import { type RetryPolicy, type RetryTimer, withRetry } from "./replay.ts";
import type { UserObject } from "./user.ts";
import type { WorkspaceObject } from "./workspace.ts";

/**
 * The methods of an object as a caller sees them: the same signatures, as every argument and result is plain data.
 * (The runtime's own stub type spreads a union result over a union of promises, which no caller can narrow.)
 */
export type Stub<O> = {
  [M in keyof O as O[M] extends (...args: never[]) => Promise<unknown> ? M : never]: O[M];
};

const TIMER: RetryTimer = {
  now: () => Date.now(),
  wait: (milliseconds) => scheduler.wait(milliseconds),
  random: () => Math.random(),
};

/**
 * Calls the object of a workspace.
 * @throws ApiError SERVICE_UNAVAILABLE as `withRetry` does
 */
export function callWorkspace<T>(
  env: Env,
  workspaceId: string,
  replay: RetryPolicy,
  call: (stub: Stub<WorkspaceObject>) => Promise<T>,
): Promise<T> {
  return withRetry(replay, () => call(stubOf(env.WORKSPACES, workspaceId)), TIMER);
}

/** Sends a workspace's object a request: for what no call can hand over, a WebSocket. Fails as `callWorkspace` does. */
export function fetchWorkspace(env: Env, workspaceId: string, request: Request): Promise<Response> {
  return withRetry("once", () => env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId)).fetch(request), TIMER);
}

export function callUser<T>(
  env: Env,
  userId: string,
  replay: RetryPolicy,
  call: (stub: Stub<UserObject>) => Promise<T>,
): Promise<T> {
  return withRetry(replay, () => call(stubOf(env.USERS, userId)), TIMER);
}

/** `name` is `ip:<address>` or `email:<hash>`. */
export function callAddress<T>(
  env: Env,
  name: string,
  replay: RetryPolicy,
  call: (stub: Stub<AddressObject>) => Promise<T>,
): Promise<T> {
  return withRetry(replay, () => call(stubOf(env.ADDRESSES, name)), TIMER);
}

function stubOf<O extends Rpc.DurableObjectBranded>(namespace: DurableObjectNamespace<O>, name: string): Stub<O> {
  // SAFETY: native RPC forwards every method of the class; `Stub` only names them with their own signatures.
  return namespace.get(namespace.idFromName(name)) as unknown as Stub<O>;
}
