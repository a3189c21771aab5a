import { deleteGrantsOf } from "../grants/store.ts";
import { revokeKeysBy } from "../keys/store.ts";
import type { Origin } from "../platform/origin.ts";
import { exists } from "../platform/sql.ts";
import { type Failure, fail, ok, type Result } from "../rpc/result.ts";
import { type AuditNote, recordAudit } from "./audit.ts";
import { SYSTEM } from "./audit-actions.ts";
import { markMemberChanged } from "./directory-changes.ts";
import { dropInvitationsOf } from "./invitations.ts";
import { deleteMember, findMember, isLastOwner, type Member, setRole } from "./members.ts";
import { may, mayAssign, type Role } from "./permissions.ts";
import { markWorkspaceDeleted } from "./provision.ts";
import { readWorkspace } from "./settings.ts";

const NO_MEMBER = fail("NOT_FOUND", "Member not found.");
const LAST_OWNER = fail("CONFLICT", "A workspace needs at least one owner. Make another member an owner first.");
const PERSON = fail("CONFLICT", "The person of a personal workspace must stay its owner.");
const OWNERS_ONLY = fail("FORBIDDEN", "Only an owner can make, change or remove an owner.");

/**
 * Gives a member another role. `by` is the caller's role, which permits changing members. Keys and invitations that the new
 * role could not create are revoked in the same turn.
 */
export function changeRole(
  sql: SqlStorage,
  by: Role,
  userId: string,
  role: Role,
  note: AuditNote,
  now: number,
): Result<Member> {
  const member = findMember(sql, userId);
  if (!member) return NO_MEMBER;
  if (!mayAssign(by, member.role) || !mayAssign(by, role)) return OWNERS_ONLY;
  if (member.role === role) return ok(member);
  const bound = staysOwner(sql, member);
  if (bound) return bound;
  setRole(sql, userId, role);
  dropInvitationsOf(sql, userId, role);
  const keysRevoked = may(role, "key.create") ? 0 : revokeKeysBy(sql, userId, Number.MAX_SAFE_INTEGER, now);
  note(userId, { before: { role: member.role }, after: { role, ...(keysRevoked > 0 ? { keysRevoked } : {}) } });
  return ok({ ...member, role });
}

/** Removes a member, who may be the caller. Keys and invitations that the member created are revoked in the same turn. */
export function removeMember(sql: SqlStorage, by: Role, userId: string, note: AuditNote, now: number): Result<true> {
  const member = findMember(sql, userId);
  if (!member) return NO_MEMBER;
  if (!mayAssign(by, member.role)) return OWNERS_ONLY;
  const bound = staysOwner(sql, member);
  if (bound) return bound;
  const keysRevoked = endMembership(sql, userId, now);
  note(userId, { before: { role: member.role }, ...(keysRevoked > 0 ? { after: { keysRevoked } } : {}) });
  return ok(true);
}

/** Revokes the keys and ends the grants that a user made by `until`, when another person may have controlled the account. */
export function revokeCredentialsOf(sql: SqlStorage, userId: string, until: number, origin: Origin, now: number): void {
  const keysRevoked = revokeKeysBy(sql, userId, until, now);
  const grantsEnded = deleteGrantsOf(sql, userId, until);
  const entry = { actor: SYSTEM, target: userId };
  if (keysRevoked > 0) recordAudit(sql, { ...entry, action: "key.revoke", after: { keysRevoked } }, origin, now);
  if (grantsEnded > 0) recordAudit(sql, { ...entry, action: "grant.end", after: { grantsEnded } }, origin, now);
}

/** `workspace`: the workspace is deleted with its person or its only owner. */
export type DeletedUserEffect = "workspace" | "member" | "none";

/**
 * Removes a deleted user from the workspace. The user id is kept, so that an invitation acceptance in flight for this user is
 * refused.
 */
export function removeDeletedUser(sql: SqlStorage, userId: string, origin: Origin, now: number): DeletedUserEffect {
  const { personalOf } = readWorkspace(sql);
  const member = findMember(sql, userId);
  if (personalOf === userId || (member && isLastOwner(sql, member))) {
    markWorkspaceDeleted(sql, origin, now);
    return "workspace";
  }
  sql.exec("INSERT OR IGNORE INTO departed_users (user_id) VALUES (?)", userId);
  if (!member) return "none";
  const keysRevoked = endMembership(sql, userId, now);
  const after = { reason: "account deleted", ...(keysRevoked > 0 ? { keysRevoked } : {}) };
  const change = { before: { role: member.role }, after };
  recordAudit(sql, { actor: SYSTEM, action: "member.remove", target: userId, ...change }, origin, now);
  return "member";
}

export function isDeletedUser(sql: SqlStorage, userId: string): boolean {
  return exists(sql, "SELECT 1 FROM departed_users WHERE user_id = ?", userId);
}

/**
 * Deletes a member, revokes the member's keys and invitations, and ends the grants of agents.
 * @returns the number of valid keys that were revoked
 */
function endMembership(sql: SqlStorage, userId: string, now: number): number {
  deleteMember(sql, userId);
  dropInvitationsOf(sql, userId, null);
  deleteGrantsOf(sql, userId, Number.MAX_SAFE_INTEGER);
  markMemberChanged(sql, userId);
  return revokeKeysBy(sql, userId, Number.MAX_SAFE_INTEGER, now);
}

/** Returns why a member cannot stop being an owner, or `null`. */
function staysOwner(sql: SqlStorage, member: Member): Failure | null {
  const { personalOf } = readWorkspace(sql);
  if (personalOf === member.userId) return PERSON;
  return isLastOwner(sql, member) ? LAST_OWNER : null;
}
