import type { Env } from "../env.ts";
import { ApiError, BUSY, STORAGE_FAILS } from "../http/errors.ts";
import { type Backoff, delayOf, jittered } from "../platform/backoff.ts";
import { hasFlag, isStorageFailure } from "../platform/failures.ts";
import type { AddressRpc } from "./address.ts";
import type { CompactorRpc } from "./compactor.ts";
import type { MatcherRpc } from "./matcher.ts";
import type { ScannerRpc } from "./scanner.ts";
import type { UserRpc } from "./user.ts";
import type { WorkspaceRpc } from "./workspace.ts";

export function unavailable(): ApiError {
  return new ApiError(BUSY);
}

/** Start of the runtime's error message for a method that an object does not have. The error has no flag. */
const NO_METHOD = "The RPC receiver does not implement ";

/**
 * Whether a call met an object of an older version without this method. During a deployment routers may be newer than
 * objects for minutes.
 */
export function isUnknownMethod(error: Error): boolean {
  return (
    error instanceof TypeError && "remote" in error && error.remote === true && error.message.startsWith(NO_METHOD)
  );
}

/** Thrown by an object to a router of an older version, which handles it like an overloaded object. */
export class OutdatedRouter extends Error {
  readonly overloaded = true;

  constructor() {
    super("The router is of an older version, which does not read all that this object has moved.");
    this.name = "OutdatedRouter";
  }
}

/** Thrown by an object of an older version to a router that asks for what the object does not have. Handled likewise. */
export class OutdatedObject extends Error {
  readonly overloaded = true;

  constructor() {
    super("The object is of an older version, which does not have what the router asks for.");
    this.name = "OutdatedObject";
  }
}

/**
 * Returns an object's result if it has these members: the result of an older version may lack newer ones.
 * @throws ApiError SERVICE_UNAVAILABLE if one is missing
 */
export function requireMembers<T extends object>(result: T, members: readonly (keyof T & string)[]): T {
  if (members.every((member) => result[member] !== undefined)) return result;
  throw unavailable();
}

/** Whether a failed call may be repeated. `replay-safe`: two executions have the effect of one. */
export type RetryPolicy = "replay-safe" | "once";

/**
 * Maximum number of calls, the first included. The runtime repeats a lost call up to four times before it reports it.
 */
const ATTEMPTS = 3;

/** Milliseconds after the first call in which a repetition may begin: the runtime's bound for its retries. */
const REPEAT_WITHIN_MS = 10_000;

/** Delay before a repetition. `maxMs` bounds the last of `ATTEMPTS`. */
const RETRY: Backoff = { firstMs: 100, maxMs: 200 };

/** Time and randomness, as arguments for tests. */
export interface RetryTimer {
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
  /** From 0 to 1, 1 excluded. */
  random(): number;
}

/**
 * Calls an object, and repeats a `replay-safe` call if it was lost or the object was reset.
 * @param attempt gets a new stub: a stub stays broken after a broken connection
 * @throws ApiError SERVICE_UNAVAILABLE if the object is overloaded, was reset or is unreachable, if its storage fails,
 * or if it is of an older version without the method; any other error unchanged
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
    // An object that is reset loses all its callers at the same moment.
    const wait = jittered(delayOf(RETRY, made - 1), timer.random);
    if (timer.now() + wait - startedAt > REPEAT_WITHIN_MS) throw unavailable();
    await timer.wait(wait);
  }
}

/**
 * Classifies an error by the platform's flags. `overloaded` alone: the object is running and has too much to do, so a
 * repetition makes it worse. With `durableObjectReset` the load ended with the reset, and the call reaches a new
 * instance.
 */
function classify(error: unknown): "overloaded" | "lost" | "outdated" | "storage" | "fault" {
  if (!(error instanceof Error)) return "fault";
  if (isStorageFailure(error)) return "storage";
  if (isUnknownMethod(error)) return "outdated";
  if (hasFlag(error, "durableObjectReset")) return "lost";
  if (hasFlag(error, "overloaded")) return "overloaded";
  return hasFlag(error, "retryable") ? "lost" : "fault";
}

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
  call: (stub: WorkspaceRpc) => Promise<T>,
): Promise<T> {
  return withRetry(replay, () => call(stubOf(env.WORKSPACES, workspaceId)), TIMER);
}

/** Sends a request to a workspace's object, for WebSockets, which no RPC can return. Fails like `callWorkspace`. */
export function fetchWorkspace(env: Env, workspaceId: string, request: Request): Promise<Response> {
  return withRetry("once", () => env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId)).fetch(request), TIMER);
}

export function callUser<T>(
  env: Env,
  userId: string,
  replay: RetryPolicy,
  call: (stub: UserRpc) => Promise<T>,
): Promise<T> {
  return withRetry(replay, () => call(stubOf(env.USERS, userId)), TIMER);
}

/** `name` is `ip:<address>` or `email:<hash>`. */
export function callAddress<T>(
  env: Env,
  name: string,
  replay: RetryPolicy,
  call: (stub: AddressRpc) => Promise<T>,
): Promise<T> {
  return withRetry(replay, () => call(stubOf(env.ADDRESSES, name)), TIMER);
}

/** Returns a stub for one call of a workspace's compactor. The caller repeats what fails. */
export function compactorOf(env: Env, workspaceId: string): CompactorRpc {
  return stubOf(env.COMPACTORS, workspaceId);
}

/** Returns a stub for one call of a scan object. If the call fails, the caller does the work itself. */
export function scannerOf(namespace: DurableObjectNamespace, workspaceId: string, slot: number): ScannerRpc {
  return stubOf(namespace, `${workspaceId}:${slot}`);
}

/** Returns a stub for one call of a project's matcher. If the call fails, the caller does the work itself. */
export function matcherOf(namespace: DurableObjectNamespace, projectId: string): MatcherRpc {
  return stubOf(namespace, projectId);
}

/** @param R the contract that the class of the namespace implements */
function stubOf<R>(namespace: DurableObjectNamespace, name: string): R {
  // SAFETY: native RPC forwards every method of the class, and arguments and results are plain data. The stub type of
  // the runtime would map a union result to a union of promises, which no caller can narrow.
  return namespace.get(namespace.idFromName(name)) as unknown as R;
}
