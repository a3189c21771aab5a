import type { Scope } from "../keys/scopes.ts";
import type { Origin } from "../platform/origin.ts";
import { type Failure, fail } from "../rpc/result.ts";

/** Who a request says it is; the object decides whether that holds here. */
export type Caller =
  /** Hex SHA-256 of the whole API key. */
  | { kind: "key"; hash: string }
  /**
   * A user whose session the user object has just confirmed. `session` is left out by a router of an older version, and
   * where the request was not made to use this very workspace, as in a list of all of them.
   */
  | { kind: "user"; userId: string; session?: SessionUse };

/** A user as caller of a workspace. */
export type UserCaller = Extract<Caller, { kind: "user" }>;

/** The session that a user's request was made in. */
export interface SessionUse {
  id: string;
  /** How it was signed in; null where the user object is of an older version. */
  method: string | null;
  origin: Origin;
}

/** Roles in rising order: each may do what the ones before it may. */
export const ROLES = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export function roleAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** What a request needs to be allowed: a scope for a key, a role for a user. */
export interface Requirement {
  scope: Scope | null;
  role: Role;
  /** The project the request names; null where it names none. */
  projectId: string | null;
}

/** The answer of an object that is no workspace: to a key it is unknown, to a user it does not exist. */
export function unknownCaller(caller: Caller): Failure {
  return caller.kind === "key"
    ? fail("INVALID_API_KEY", "The API key is not valid.", { limit: null })
    : fail("NOT_FOUND", "Workspace not found.", { limit: null });
}

interface Permission {
  /** The least role that may perform the action. */
  role: Role;
  /** What the action may change: the object drops the caches of it afterwards. `nothing` for a read. */
  invalidates: "workspace" | "nothing";
  /** Whether the audit records the action. */
  isAudited: boolean;
}

/** What a member may do: the role matrix, and the effect of each action. Guards and objects decide by this table alone. */
export const PERMISSIONS = {
  "logs.read": { role: "viewer", invalidates: "nothing", isAudited: false },
  "project.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "project.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "project.create": { role: "member", invalidates: "workspace", isAudited: true },
  "project.rename": { role: "member", invalidates: "workspace", isAudited: true },
  "project.delete": { role: "member", invalidates: "workspace", isAudited: true },
  "key.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "key.create": { role: "admin", invalidates: "workspace", isAudited: true },
  "key.rotate": { role: "admin", invalidates: "workspace", isAudited: true },
  "key.revoke": { role: "admin", invalidates: "workspace", isAudited: true },
  "limits.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "limits.set": { role: "admin", invalidates: "workspace", isAudited: true },
  "violations.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "usage.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "audit.list": { role: "admin", invalidates: "nothing", isAudited: false },
  "workspace.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "workspace.update": { role: "admin", invalidates: "workspace", isAudited: true },
  // The audit is deleted with the workspace.
  "workspace.delete": { role: "owner", invalidates: "workspace", isAudited: false },
  "member.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "member.change": { role: "admin", invalidates: "workspace", isAudited: true },
  "member.remove": { role: "admin", invalidates: "workspace", isAudited: true },
  // Every member may leave.
  "member.leave": { role: "viewer", invalidates: "workspace", isAudited: true },
  "invitation.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "invitation.create": { role: "admin", invalidates: "workspace", isAudited: true },
  "invitation.revoke": { role: "admin", invalidates: "workspace", isAudited: true },
} as const satisfies Record<string, Permission>;

export type Action = keyof typeof PERMISSIONS;

/** Actions of members that the audit records. */
export type AuditedAction = { [A in Action]: (typeof PERMISSIONS)[A]["isAudited"] extends true ? A : never }[Action];

/** The least role that may perform an action. */
export function roleFor(action: Action): Role {
  return PERMISSIONS[action].role;
}

export function may(role: Role, action: Action): boolean {
  return roleAtLeast(role, roleFor(action));
}

export function isAudited(action: Action): action is AuditedAction {
  return PERMISSIONS[action].isAudited;
}

/** Whether a member may assign or remove a role: only one that is not above the member's own. */
export function mayAssign(by: Role, role: Role): boolean {
  return roleAtLeast(by, role);
}
