import { type Action, may } from "../../../src/workspace/permissions.ts";
import { ROLES, type Role } from "./types.ts";

const ARTICLE: Record<Role, string> = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" };

/** Actions that a role may lack, as the subject of a sentence. */
const SUBJECTS = {
  "project.create": "Changing projects",
  "key.create": "Managing API keys",
  "limits.set": "Changing limits",
  "workspace.update": "Changing name and retention",
  "workspace.delete": "Deleting the workspace",
  "member.change": "Changing members",
  "invitation.create": "Inviting",
  "destination.create": "Changing destinations",
  "destination.test": "Testing destinations",
  "delivery.redeliver": "Delivering again",
  "alert.create": "Changing alerts",
  "audit.list": "Reading the audit",
} as const satisfies Partial<Record<Action, string>>;

const EITHER = new Intl.ListFormat("en", { type: "disjunction" });

/** Lists the roles that may perform an action, as words: `an owner or an admin`. */
export function ableTo(action: Action): string {
  return EITHER.format(ROLES.filter((each) => may(each, action)).map((each) => ARTICLE[each]));
}

/** Explains why a role may not perform an action, by the permissions table of the service; `null` if it may. */
export function reasonAgainst(role: Role, action: keyof typeof SUBJECTS): string | null {
  if (may(role, action)) return null;
  return `${SUBJECTS[action]} requires ${ableTo(action)}. You are ${ARTICLE[role]}.`;
}
