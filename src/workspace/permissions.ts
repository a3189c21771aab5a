import type { ErrorCode } from "../http/errors.ts";
import type { Scope } from "../keys/scopes.ts";
import type { LimitState } from "../limits/state.ts";
import type { Origin } from "../platform/origin.ts";

/** Who a request says it is; the object decides whether that holds here. */
export type Caller =
  /** Hex SHA-256 of the whole API key. */
  | { kind: "key"; hash: string }
  /**
   * A user whose session the user object has just confirmed. `session` is left out by a router of an older version, and
   * where the request was not made to use this very workspace, as in a list of all of them.
   */
  | { kind: "user"; userId: string; session?: SessionUse };

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

/**
 * A refusal by the workspace. `limit` is null where nothing was counted here, because the caller is nobody this
 * workspace knows: the router then counts by address, or in the user's own object.
 */
export interface Denied {
  ok: false;
  code: Extract<
    ErrorCode,
    | "INVALID_API_KEY"
    | "API_KEY_REVOKED"
    | "API_KEY_EXPIRED"
    | "NOT_FOUND"
    | "FORBIDDEN"
    | "INSUFFICIENT_SCOPE"
    | "RATE_LIMITED"
    | "IDEMPOTENCY_CONFLICT"
    | "CONFLICT"
  >;
  message: string;
  limit: LimitState | null;
  /** The scope that was missing, for `WWW-Authenticate`. */
  scope?: Scope;
}

/** The answer of an object that is no workspace: to a key it is unknown, to a user it does not exist. */
export function unknownCaller(caller: Caller): Denied {
  return caller.kind === "key"
    ? { ok: false, code: "INVALID_API_KEY", message: "The API key is not valid.", limit: null }
    : { ok: false, code: "NOT_FOUND", message: "There is no such workspace.", limit: null };
}

/** The role matrix: what a member may do, by the least role it takes. Guards and objects decide by this table alone. */
export const PERMISSIONS = {
  "logs.read": "viewer",
  "project.list": "viewer",
  "project.get": "viewer",
  "project.create": "member",
  "project.rename": "member",
  "project.delete": "member",
  "key.list": "viewer",
  "key.create": "admin",
  "key.rotate": "admin",
  "key.revoke": "admin",
  "limits.get": "viewer",
  "limits.set": "admin",
  "violations.list": "viewer",
  "usage.get": "viewer",
  "audit.list": "admin",
  "workspace.get": "viewer",
  "workspace.update": "admin",
  "workspace.delete": "owner",
  "member.list": "viewer",
  "member.change": "admin",
  "member.remove": "admin",
  /** Whoever is in may go. */
  "member.leave": "viewer",
  "invitation.list": "viewer",
  "invitation.create": "admin",
  "invitation.revoke": "admin",
} as const satisfies Record<string, Role>;

export type Action = keyof typeof PERMISSIONS;

export function may(role: Role, action: Action): boolean {
  return roleAtLeast(role, PERMISSIONS[action]);
}

/** Whether an action only looks: then nothing that is kept in memory has to be read again after it. */
export function isRead(action: Action): boolean {
  return /\.(list|get|read)$/.test(action);
}

/** Nobody gives a role above his own, or takes one away: an admin makes no owner, and does not touch one. */
export function mayAssign(by: Role, role: Role): boolean {
  return roleAtLeast(by, role);
}
