import type { AuditedAction } from "./permissions.ts";

/** Actions that the audit records although they require no permission. */
type UnrestrictedAction =
  | "session.start"
  | "workspace.create"
  | "invitation.accept"
  | "sandbox.reset"
  | "agent.call"
  | "grant.end";

export type AuditAction = AuditedAction | UnrestrictedAction;

/** Actions that the audit records, in the order in which the API documents them. The part before the dot is the group. */
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
  "key.update",
  "key.rotate",
  "key.revoke",
  "view.create",
  "view.update",
  "view.delete",
  "board.create",
  "board.update",
  "board.delete",
  "destination.create",
  "destination.update",
  "destination.delete",
  "destination.rotate",
  "delivery.redeliver",
  "alert.create",
  "alert.update",
  "alert.delete",
  "limits.set",
  "grant.create",
  "grant.revoke",
  "grant.end",
  "agent.call",
  "sandbox.reset",
] as const satisfies readonly AuditAction[];

/** The actor of changes that the service makes: a deleted account, a reset of the sandbox. */
export const SYSTEM = "system";

/** The parts of the actions before the dot: `key` for `key.create`, `key.rotate` and `key.revoke`. */
export const AUDIT_GROUPS: readonly string[] = [
  ...new Set(AUDIT_ACTIONS.map((action) => action.split(".", 1)[0] ?? "")),
];

/** Other words for what an action does, by the part after its dot. */
const SYNONYMS: Readonly<Record<string, string>> = {
  create: "created added",
  update: "updated changed",
  change: "changed updated",
  set: "changed updated",
  rename: "renamed changed",
  rotate: "rotated changed",
  delete: "deleted removed",
  revoke: "revoked deleted removed ended withdrawn",
  remove: "removed deleted",
  end: "ended revoked deleted removed",
  leave: "left",
  accept: "accepted joined",
  start: "signed in",
};

/** Returns the words by which a search finds an action: `key.revoke` also by `deleted`. */
export function actionWords(action: string): string {
  const [group = "", verb = ""] = action.split(".");
  return `${action} ${group === "key" ? "api key" : group} ${SYNONYMS[verb] ?? ""}`;
}
