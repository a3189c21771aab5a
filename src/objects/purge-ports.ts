import { workspacesOf } from "../accounts/directory.ts";
import type { PurgePorts } from "../accounts/purge.ts";
import type { Env } from "../env.ts";
import { callWorkspace } from "./stubs.ts";

/** What a purge reaches outside the user object: keys in workspace objects, identities in the directory. */
export function purgePorts(env: Env): PurgePorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    revokeKeys: (workspaceId, userId, until) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.revokeKeysOf(userId, until)),
    async unlistIdentities(userId, until) {
      const statement = env.DB.prepare("DELETE FROM identities WHERE user_id = ? AND linked_at <= ?");
      await statement.bind(userId, until).run();
    },
  };
}
