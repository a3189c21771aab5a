import { type Action, may } from "../../../src/workspace/permissions.ts";
import { ROLES, type Role } from "./types.ts";

const ARTICLE: Record<Role, string> = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" };

/** What somebody may be kept from, as the beginning of a sentence. */
const DEEDS = {
  "project.create": "Changing projects",
  "key.create": "Managing API keys",
  "limits.set": "Changing limits",
  "workspace.update": "Changing name and retention",
  "workspace.delete": "Deleting the workspace",
  "member.change": "Changing members",
  "invitation.create": "Inviting",
  "audit.list": "Reading the audit",
} as const satisfies Partial<Record<Action, string>>;

const EITHER = new Intl.ListFormat("en", { type: "disjunction" });

/** The roles that may do this, as words: `an owner or an admin`. */
export function ableTo(action: Action): string {
  return EITHER.format(ROLES.filter((each) => may(each, action)).map((each) => ARTICLE[each]));
}

/** Why somebody may not do this, by the table that the service itself decides by; null for who may. */
export function reasonAgainst(role: Role, action: keyof typeof DEEDS): string | null {
  if (may(role, action)) return null;
  return `${DEEDS[action]} takes ${ableTo(action)}. You are ${ARTICLE[role]}.`;
}
