import type { AgentScope, Scope } from "../keys/scopes.ts";
import type { Origin } from "../platform/origin.ts";
import { type Failure, fail } from "../rpc/result.ts";

/** The caller that a request claims; the object verifies the claim. */
export type Caller =
  /** Hex SHA-256 of the whole API key. */
  | { kind: "key"; hash: string }
  /**
   * A user whose session the user object has just confirmed. `session` is absent if a router of an older version sent
   * the request, or if the request does not use this workspace, such as a list of all workspaces.
   */
  | { kind: "user"; userId: string; session?: SessionUse }
  /**
   * Hex SHA-256 of an agent's access token. `userId` is empty: an object of the version before, which has no grants, then refuses
   * the caller as no member.
   */
  | { kind: "grant"; hash: string; userId: "" };

/** A user as caller of a workspace. */
export type UserCaller = Extract<Caller, { kind: "user" }>;

/** The session of a user's request. */
export interface SessionUse {
  id: string;
  /** The sign-in method; `null` from a user object of an older version. */
  method: string | null;
  origin: Origin;
}

/** Roles in ascending order: each may do everything that the previous ones may. */
export const ROLES = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export function roleAtLeast(role: Role, minRole: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(minRole);
}

/** What a request requires: a scope for a key or an agent's token, a role for a user and for the user behind such a token. */
export interface Requirement {
  scope: Scope | AgentScope | null;
  role: Role;
  /** The project that the request names; `null` if it names none. */
  projectId: string | null;
  /** Whether a key must have no other scope, because it is in a URL, which others may see. */
  isOnlyScope?: boolean;
}

/** The failure of an object that is not a workspace: the key is unknown, or for a user the workspace does not exist. */
export function unknownCaller(caller: Caller): Failure {
  switch (caller.kind) {
    case "key":
      return fail("INVALID_API_KEY", "The API key is not valid.", { limit: null });
    case "grant":
      return fail("INVALID_ACCESS_TOKEN", "The access token is not valid.", { limit: null });
    case "user":
      return fail("NOT_FOUND", "Workspace not found.", { limit: null });
  }
}

interface Permission {
  /** The lowest role that may perform the action. */
  role: Role;
  /** The scope with which a key may perform the action in its own project. Absent: no key may. */
  scope?: Scope;
  /** What the action may change: the object drops its caches of it afterwards. `nothing` for a read. */
  invalidates: "workspace" | "nothing";
  /** Whether the audit records the action. */
  isAudited: boolean;
}

/**
 * The permissions table: who may do what, and the effect of each action. Guards and objects decide by this table only.
 */
export const PERMISSIONS = {
  "logs.read": { role: "viewer", invalidates: "nothing", isAudited: false },
  "project.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "project.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "project.create": { role: "member", invalidates: "workspace", isAudited: true },
  "project.rename": { role: "member", invalidates: "workspace", isAudited: true },
  "project.delete": { role: "member", invalidates: "workspace", isAudited: true },
  "key.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "key.create": { role: "admin", invalidates: "workspace", isAudited: true },
  "key.update": { role: "admin", invalidates: "workspace", isAudited: true },
  "key.rotate": { role: "admin", invalidates: "workspace", isAudited: true },
  "key.revoke": { role: "admin", invalidates: "workspace", isAudited: true },
  "ledger.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "view.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "view.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "view.create": { role: "member", invalidates: "workspace", isAudited: true },
  "view.update": { role: "member", invalidates: "workspace", isAudited: true },
  "view.delete": { role: "member", invalidates: "workspace", isAudited: true },
  "board.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "board.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "board.create": { role: "member", invalidates: "workspace", isAudited: true },
  "board.update": { role: "member", invalidates: "workspace", isAudited: true },
  "board.delete": { role: "member", invalidates: "workspace", isAudited: true },
  "destination.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "destination.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "destination.create": { role: "admin", invalidates: "workspace", isAudited: true },
  "destination.update": { role: "admin", invalidates: "workspace", isAudited: true },
  "destination.delete": { role: "admin", invalidates: "workspace", isAudited: true },
  "destination.rotate": { role: "admin", invalidates: "workspace", isAudited: true },
  // Changes nothing but times of the destination.
  "destination.test": { role: "member", invalidates: "nothing", isAudited: false },
  "notification.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "delivery.redeliver": { role: "member", invalidates: "workspace", isAudited: true },
  "alert.list": { role: "viewer", scope: "alerts:read", invalidates: "nothing", isAudited: false },
  "alert.get": { role: "viewer", scope: "alerts:read", invalidates: "nothing", isAudited: false },
  // What a rule would have decided reveals entries.
  "alert.preview": { role: "viewer", scope: "logs:read", invalidates: "nothing", isAudited: false },
  "alert.create": { role: "member", scope: "alerts:write", invalidates: "workspace", isAudited: true },
  "alert.update": { role: "member", scope: "alerts:write", invalidates: "workspace", isAudited: true },
  "alert.delete": { role: "member", scope: "alerts:write", invalidates: "workspace", isAudited: true },
  "limits.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "limits.set": { role: "admin", invalidates: "workspace", isAudited: true },
  "violations.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "usage.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "audit.list": { role: "admin", invalidates: "nothing", isAudited: false },
  "workspace.get": { role: "viewer", invalidates: "nothing", isAudited: false },
  "workspace.update": { role: "admin", invalidates: "workspace", isAudited: true },
  // The audit is deleted with the workspace.
  "workspace.delete": { role: "owner", invalidates: "workspace", isAudited: false },
  // Of the member's own; an admin also sees and ends those of others.
  "grant.list": { role: "viewer", invalidates: "nothing", isAudited: false },
  "grant.create": { role: "viewer", invalidates: "workspace", isAudited: true },
  "grant.revoke": { role: "viewer", invalidates: "workspace", isAudited: true },
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

/** What an agent does with a scope; the member who grants the scope must be allowed to do so, too. */
export const SCOPE_ACTIONS: Readonly<Record<AgentScope, Action>> = {
  "logs:read": "logs.read",
  "views:write": "view.create",
  "alerts:write": "alert.create",
};

/** Actions of members that the audit records. */
export type AuditedAction = { [A in Action]: (typeof PERMISSIONS)[A]["isAudited"] extends true ? A : never }[Action];

/** The scope with which a key may perform an action; `null` if no key may. */
export function scopeFor(action: Action): Scope | null {
  const permission: Permission = PERMISSIONS[action];
  return permission.scope ?? null;
}

/** The lowest role that may perform an action. */
export function roleFor(action: Action): Role {
  return PERMISSIONS[action].role;
}

export function may(role: Role, action: Action): boolean {
  return roleAtLeast(role, roleFor(action));
}

export function isAudited(action: Action): action is AuditedAction {
  return PERMISSIONS[action].isAudited;
}

/** Whether a member may assign or remove a role, which must not be above the member's own. */
export function mayAssign(by: Role, role: Role): boolean {
  return roleAtLeast(by, role);
}
