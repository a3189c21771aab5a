import { type Action, may, PERMISSIONS } from "../../../src/workspace/permissions.ts";
import type { Role } from "./types.ts";

const ARTICLE: Record<Role, string> = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" };

/** Why somebody may not do this, by the table that the service itself decides by; null for who may. */
export function reasonAgainst(role: Role, action: Action): string | null {
  if (may(role, action)) return null;
  const least = PERMISSIONS[action];
  const who = least === "owner" ? "an owner" : `${ARTICLE[least]} or higher`;
  return `This takes ${who}. You are ${ARTICLE[role]} here.`;
}
