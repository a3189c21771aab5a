import { hasScope } from "../keys/scopes.ts";
import type { AuthorityCheck, TailAuthority } from "../tail/authority.ts";
import { keyProblem } from "./admission.ts";
import { roleAtLeast } from "./caller.ts";
import type { KeyProjectCache } from "./directory.ts";
import { endOf } from "./keys.ts";
import { roleOf } from "./members.ts";
import { PERMISSIONS } from "./permissions.ts";

/**
 * Whether somebody who was admitted may still read a project. Counts nothing and writes nothing.
 * Whether a user's session lives, only the user object knows: `sessionEnd` is what it last said.
 */
export function checkReadAuthority(
  sql: SqlStorage,
  keyProjectCache: KeyProjectCache,
  authority: TailAuthority,
  project: number,
  sessionEnd: number | null,
  now: number,
): AuthorityCheck {
  if (keyProjectCache.projectByNum(project) === null) return { ok: false, code: "NOT_FOUND" };
  if (authority.kind === "user") {
    const role = roleOf(sql, authority.userId);
    if (role === null) return { ok: false, code: "NOT_FOUND" };
    if (!roleAtLeast(role, PERMISSIONS["logs.read"])) return { ok: false, code: "FORBIDDEN" };
    return { ok: true, expiresAt: sessionEnd };
  }
  const key = keyProjectCache.key(authority.hash);
  const problem = keyProblem(key, now);
  if (problem) return { ok: false, code: problem.code };
  if (key === null || key.project !== project) return { ok: false, code: "NOT_FOUND" };
  if (!hasScope(key.scopes, "logs:read")) return { ok: false, code: "INSUFFICIENT_SCOPE" };
  return { ok: true, expiresAt: endOf(key) };
}
