import type { Env } from "../env.ts";
import { ApiError, BUSY, STORAGE_FAILS } from "../http/errors.ts";
import type { AddressObject } from "../objects/address/address.ts";
import type { UserObject } from "../objects/user/user.ts";
import type { WorkspaceObject } from "../objects/workspace/workspace.ts";
import { hasFlag, isStorageFailure } from "../platform/failures.ts";

export function unavailable(): ApiError {
  return new ApiError(BUSY);
}

/** How the runtime says that an object has no such method. It has no flag for it. */
const NO_METHOD = "The RPC receiver does not implement ";

/**
 * Whether a call met an object that does not know it yet: while a deployment is under way, routers may be newer than
 * objects for minutes.
 */
export function isUnknownMethod(error: Error): boolean {
  return (
    error instanceof TypeError && "remote" in error && error.remote === true && error.message.startsWith(NO_METHOD)
  );
}

/** What an object throws at a router of an older version: to that one it is as busy as the runtime says of others. */
export class OutdatedRouter extends Error {
  readonly overloaded = true;

  constructor() {
    super("The router is of an older version, which does not read all that this object has moved.");
    this.name = "OutdatedRouter";
  }
}

/**
 * An object's answer, if it has these members: one of an older version may lack what was added since.
 * @throws ApiError SERVICE_UNAVAILABLE where one is missing
 */
export function requireMembers<T extends object>(answer: T, members: readonly (keyof T & string)[]): T {
  if (members.every((member) => answer[member] !== undefined)) return answer;
  throw unavailable();
}

/** Whether a call that failed on the platform's side may be sent again: what it does twice equals what it does once. */
export type RetryPolicy = "replay-safe" | "once";

/** Calls made at most, the first included. The runtime has repeated a lost call up to four times before it reports it. */
const ATTEMPTS = 3;

/** No repetition begins later than this after the first call, in milliseconds: the runtime's own bound for its retries. */
const REPEAT_WITHIN_MS = 10_000;

/** The longest wait before the first repetition, in milliseconds; it doubles for each one after. */
const BACKOFF_MS = 100;

/** Time and chance, as arguments for tests. */
export interface RetryTimer {
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
  /** 0 to 1, 1 excluded. */
  random(): number;
}

/**
 * Calls an object, and again where the call was lost or the object was reset, if that is safe.
 * @param attempt makes its own stub: one that has seen a broken connection stays broken
 * @throws ApiError SERVICE_UNAVAILABLE where the platform says that the object is overloaded, was reset or could not be
 * reached, where its storage fails, or where the object is of an older version that does not know the call; any other
 * error as it is
 */
export async function withRetry<T>(replay: RetryPolicy, attempt: () => Promise<T>, timer: RetryTimer): Promise<T> {
  const startedAt = timer.now();
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      const kind = classify(error);
      if (kind === "fault") throw error;
      if (kind === "storage") throw new ApiError(STORAGE_FAILS, { cause: error });
      if (kind !== "lost" || replay === "once" || made === ATTEMPTS) throw unavailable();
    }
    // Half of the wait is chance: an object that was reset has lost all its callers at the same moment.
    const longest = BACKOFF_MS * 2 ** (made - 1);
    const wait = longest / 2 + (timer.random() * longest) / 2;
    if (timer.now() + wait - startedAt > REPEAT_WITHIN_MS) throw unavailable();
    await timer.wait(wait);
  }
}

/**
 * By the platform's flags. `overloaded` alone: the object is there and has too much to do, so a repetition makes it worse.
 * With `durableObjectReset` the load went with the object that was reset, and the call meets a new one.
 */
function classify(error: unknown): "overloaded" | "lost" | "outdated" | "storage" | "fault" {
  if (!(error instanceof Error)) return "fault";
  if (isStorageFailure(error)) return "storage";
  if (isUnknownMethod(error)) return "outdated";
  if (hasFlag(error, "durableObjectReset")) return "lost";
  if (hasFlag(error, "overloaded")) return "overloaded";
  return hasFlag(error, "retryable") ? "lost" : "fault";
}

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
