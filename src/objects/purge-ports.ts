import { workspacesOf } from "../accounts/directory.ts";
import type { PurgePorts } from "../accounts/purge.ts";
import type { Env } from "../env.ts";
import type { Origin } from "../platform/origin.ts";
import { callWorkspace } from "./stubs.ts";

/** What a purge reaches outside the user object: the keys in workspace objects. */
export function purgePorts(env: Env, origin: Origin): PurgePorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    revokeKeys: (workspaceId, userId, until) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.revokeKeysOf(userId, until, origin)),
  };
}
