import type { Context } from "hono";
import { workspacesOf } from "../accounts/directory.ts";
import type { Env } from "../env.ts";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { randomBase62 } from "../ids.ts";
import { callUser, callWorkspace } from "../objects/stubs.ts";

/** Workspaces that are asked at a time whose they are. */
const AT_ONCE = 20;
/** Characters of an attempt's id: 131 bits. */
const ATTEMPT_ID_LENGTH = 22;

/**
 * Runs `become`, which makes a user an owner of a workspace, unless the user owns as many as one may, beside the personal
 * one. Exact under concurrency: attempts stand in the user object until what came of them can be seen in the workspace, and
 * a later one counts the earlier ones. 409 where the limit is reached.
 */
export async function withOwnershipQuota<T>(
  c: Context<AppEnv>,
  userId: string,
  workspaceId: string,
  become: () => Promise<T>,
): Promise<T> {
  const { MAX_OWNED_WORKSPACES: most } = c.get("settings");
  const attempt = { id: randomBase62(ATTEMPT_ID_LENGTH), workspaceId };
  const earlier = await callUser(c.env, userId, "replay-safe", (stub) => stub.beginOwnership(attempt));
  try {
    const others = earlier.filter((id) => id !== workspaceId);
    if (others.length >= most || (await ownedBy(c.env, userId, workspaceId, others, most)) >= most) {
      return refuse("CONFLICT", `An account owns at most ${most} workspaces beside its personal one.`);
    }
    return await become();
  } finally {
    // Without it the attempt counts for five minutes more. It must not hide what came of the request.
    await callUser(c.env, userId, "replay-safe", (stub) => stub.endOwnershipAttempt(attempt.id)).catch(() => undefined);
  }
}

/** How many shared workspaces a user owns but for one, those included that may be the user's any moment; stops at `most`. */
async function ownedBy(env: Env, userId: string, except: string, pending: string[], most: number): Promise<number> {
  const taken = new Set([except, ...pending]);
  const listed = (await workspacesOf(env.DB, userId)).filter((id) => !taken.has(id));
  let owned = pending.length;
  for (let from = 0; from < listed.length && owned < most; from += AT_ONCE) {
    const some = listed.slice(from, from + AT_ONCE);
    const answers = await Promise.all(
      some.map((id) => callWorkspace(env, id, "replay-safe", (stub) => stub.isOwnedBy(userId))),
    );
    owned += answers.filter((isOwned) => isOwned).length;
  }
  return owned;
}
