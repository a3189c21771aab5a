import { type Role, roleAtLeast } from "./caller.ts";

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
