/** What is recorded. The part before the dot is the action's group. */
export const AUDIT_ACTIONS = [
  "session.start",
  "workspace.create",
  "workspace.update",
  "member.change",
  "member.remove",
  "member.leave",
  "invitation.create",
  "invitation.revoke",
  "invitation.accept",
  "project.create",
  "project.rename",
  "project.delete",
  "key.create",
  "key.rotate",
  "key.revoke",
  "limits.set",
  "sandbox.reset",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Whether an action of a member is one that the audit has. */
export function isAudited(action: string): action is AuditAction {
  return AUDIT_ACTIONS.some((audited) => audited === action);
}

/** The service itself: a deleted account, a reset of the sandbox. */
export const SYSTEM = "system";

/** What stands before the dot of an action: `key` for `key.create`, `key.rotate` and `key.revoke`. */
export const AUDIT_GROUPS: readonly string[] = [
  ...new Set(AUDIT_ACTIONS.map((action) => action.split(".", 1)[0] ?? "")),
];
