import type { Origin } from "../../platform/origin.ts";
import { type Ruling, refused } from "../../rpc/result.ts";
import { recordAudit } from "../../workspace/audit.ts";
import { markMemberChanged } from "../../workspace/directory-changes.ts";
import { deleteInvitation, findAcceptable, UNKNOWN_INVITATION } from "../../workspace/invitations.ts";
import { listMember } from "../../workspace/listing.ts";
import { addMember, roleOf } from "../../workspace/members.ts";
import { isDeletedUser } from "../../workspace/membership.ts";
import { type Role, unknownCaller } from "../../workspace/permissions.ts";
import { readWorkspace } from "../../workspace/settings.ts";
import type { Answer, WorkspaceCore } from "./core.ts";

/** A workspace as one of its members sees it. */
export interface WorkspaceInfo {
  id: string;
  slug: string;
  name: string;
  personal: boolean;
  role: Role;
  retentionDays: number;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** Returns the workspace as a member sees it. Refused as unknown until the directory, which decides the slug, lists it. */
export async function readWorkspaceInfo(core: WorkspaceCore, userId: string): Promise<Answer<WorkspaceInfo>> {
  const slug = await core.directory.slug();
  const answer = await core.as(userId, "workspace.get", null, ({ sql }, role): WorkspaceInfo => {
    const { id, name, personal, retentionDays, createdAt } = readWorkspace(sql);
    return { id, slug: slug ?? "", name, personal, role, retentionDays, createdAt };
  });
  return answer.ok && slug === null ? unknownCaller({ kind: "user", userId }) : answer;
}

/** The user who accepts an invitation: the owner of a verified address. */
export interface Invitee {
  userId: string;
  email: string;
  /** `false` if the account's workspaces were not counted. The invitation must not offer the role of an owner then. */
  mayOwn?: boolean;
}

const CHANGED = refused("CONFLICT", "The invitation has just changed. Accept it again.");

/**
 * Makes the invitee a member. The directory lists the membership first, so that a crash in between leaves a surplus row,
 * which has no effect, and never a member without a row. The invitation is used up in the turn that adds the member.
 */
export async function acceptInvitation(
  core: WorkspaceCore,
  db: D1Database,
  tokenHash: Uint8Array,
  guest: Invitee,
  origin: Origin,
): Promise<Ruling<WorkspaceInfo>> {
  const { userId, email } = guest;
  const { row, sql } = core.state;
  if (!row) return UNKNOWN_INVITATION;
  const known = findAcceptable(sql, tokenHash, email, Date.now());
  if (!known.ok) return known;
  if (!(await listMember(db, row.id, userId))) return UNKNOWN_INVITATION;
  const taken = await core.change(origin, (admission) => takeIn(admission.sql, tokenHash, guest, origin, Date.now()));
  if (!taken?.ok) return taken ?? UNKNOWN_INVITATION;
  const info = await readWorkspaceInfo(core, userId);
  return info.ok ? info : UNKNOWN_INVITATION;
}

function takeIn(
  sql: SqlStorage,
  tokenHash: Uint8Array,
  { userId, email, mayOwn }: Invitee,
  origin: Origin,
  now: number,
): Ruling<true> {
  // Whatever the outcome, the row that has just been listed is compared with the members.
  markMemberChanged(sql, userId);
  const found = findAcceptable(sql, tokenHash, email, now);
  if (!found.ok) return found;
  if (isDeletedUser(sql, userId)) return UNKNOWN_INVITATION;
  if (mayOwn === false && found.value.role === "owner") return CHANGED;
  deleteInvitation(sql, found.value.id);
  if (roleOf(sql, userId) !== null) return refused("CONFLICT", "You are a member already.");
  const { id, role } = found.value;
  addMember(sql, { userId, role, joinedAt: now });
  recordAudit(sql, { actor: userId, action: "invitation.accept", target: id, after: { role } }, origin, now);
  return { ok: true, value: true };
}
