import type { Env } from "../env.ts";
import { ApiError } from "../http/errors.ts";
import type { AddressObject } from "./address.ts";
import type { UserObject } from "./user.ts";
import type { WorkspaceObject } from "./workspace.ts";

/** Seconds a client is asked to wait when an object cannot answer. */
const RETRY_AFTER_SECONDS = "1";

/** Whether a call that was lost on the way may be sent once more. */
export type Replay = "replay-safe" | "once";

/**
 * Calls the object of a workspace. A stub is made per call: one that has seen a broken connection stays broken.
 * @throws ApiError SERVICE_UNAVAILABLE where the platform says that the object is overloaded or was reset
 */
export function callWorkspace<T>(
  env: Env,
  workspaceId: string,
  replay: Replay,
  call: (stub: DurableObjectStub<WorkspaceObject>) => Promise<T>,
): Promise<T> {
  return withFailureMapping(replay, () => call(env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId))));
}

export function callUser<T>(
  env: Env,
  userId: string,
  replay: Replay,
  call: (stub: DurableObjectStub<UserObject>) => Promise<T>,
): Promise<T> {
  return withFailureMapping(replay, () => call(env.USERS.get(env.USERS.idFromName(userId))));
}

/** `name` is `ip:<address>` or `email:<hash>`. */
export function callAddress<T>(
  env: Env,
  name: string,
  replay: Replay,
  call: (stub: DurableObjectStub<AddressObject>) => Promise<T>,
): Promise<T> {
  return withFailureMapping(replay, () => call(env.ADDRESSES.get(env.ADDRESSES.idFromName(name))));
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
    throw new ApiError({
      code: "SERVICE_UNAVAILABLE",
      message: "The service is busy. Please try again.",
      headers: { "Retry-After": RETRY_AFTER_SECONDS },
    });
  }
}

/** By the platform's flags, never by message: `overloaded` must not be retried, a lost or reset call may be. */
function classify(error: unknown): "overloaded" | "lost" | "fault" {
  if (!(error instanceof Error)) return "fault";
  if ("overloaded" in error && error.overloaded === true) return "overloaded";
  if ("retryable" in error && error.retryable === true) return "lost";
  if ("durableObjectReset" in error && error.durableObjectReset === true) return "lost";
  return "fault";
}
