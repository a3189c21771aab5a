import type { DeletionPorts } from "../accounts/deletion.ts";
import { unlistUser, workspacesOf } from "../accounts/directory.ts";
import type { Env } from "../env.ts";
import type { Origin } from "../platform/origin.ts";
import { callWorkspace } from "./stubs.ts";

/** What the deletion of an account reaches outside the user object. */
export function deletionPorts(env: Env, origin: Origin, destroySelf: () => Promise<void>): DeletionPorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    removeDeletedUser: (workspaceId, userId) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.removeDeletedUser(userId, origin)),
    unlist: (userId, departed) => unlistUser(env.DB, userId, departed),
    destroySelf,
  };
}
