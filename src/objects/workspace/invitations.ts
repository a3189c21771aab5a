import { COUNTED } from "../../limits/state.ts";
import type { Origin } from "../../platform/origin.ts";
import type { MemberCall } from "../../rpc/management.ts";
import { fail, ok, type Result } from "../../rpc/result.ts";
import type { Invitee, WorkspaceInfo } from "../../rpc/workspace.ts";
import { recordAudit } from "../../workspace/audit.ts";
import { markMemberChanged } from "../../workspace/directory-changes.ts";
import { deleteInvitation, findAcceptable, UNKNOWN_INVITATION } from "../../workspace/invitations.ts";
import { listMember } from "../../workspace/listing.ts";
import { addMember, roleOf } from "../../workspace/members.ts";
import { isDeletedUser } from "../../workspace/membership.ts";
import { unknownCaller } from "../../workspace/permissions.ts";
import { readWorkspace } from "../../workspace/settings.ts";
import type { WorkspaceCore } from "./core.ts";

/** Returns the workspace as a member sees it. Refused as unknown until the directory, which decides the slug, lists it. */
export async function readWorkspaceInfo(core: WorkspaceCore, by: MemberCall): Promise<Result<WorkspaceInfo>> {
  const known = core.state.row?.slug ?? null;
  const answer = await core.as(by, "workspace.get", null, ({ sql }, role) => {
    const { id, name, personal, retentionDays, createdAt } = readWorkspace(sql);
    return ok({ id, slug: known ?? "", name, personal, role, retentionDays, createdAt });
  });
  if (!answer.ok || known !== null) return answer;
  const slug = await core.directory.slug();
  if (slug !== null) return { ...answer, value: { ...answer.value, slug } };
  return { ...unknownCaller(by.caller), limit: answer.limit ?? null };
}

const CHANGED = fail("CONFLICT", "The invitation has just changed. Accept it again.");

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
): Promise<Result<WorkspaceInfo>> {
  const { userId, email } = guest;
  const { row, sql } = core.state;
  if (!row) return UNKNOWN_INVITATION;
  const known = findAcceptable(sql, tokenHash, email, Date.now());
  if (!known.ok) return known;
  if (!(await listMember(db, row.id, userId))) return UNKNOWN_INVITATION;
  const taken = await core.change(origin, (admission) => takeIn(admission.sql, tokenHash, guest, origin, Date.now()));
  if (!taken?.ok) return taken ?? UNKNOWN_INVITATION;
  const caller = { kind: "user", userId } as const;
  const info = await readWorkspaceInfo(core, { caller, charge: COUNTED, origin });
  return info.ok ? info : UNKNOWN_INVITATION;
}

function takeIn(
  sql: SqlStorage,
  tokenHash: Uint8Array,
  { userId, email, mayOwn }: Invitee,
  origin: Origin,
  now: number,
): Result<true> {
  // Whatever the outcome, the row that has just been listed is compared with the members.
  markMemberChanged(sql, userId);
  const found = findAcceptable(sql, tokenHash, email, now);
  if (!found.ok) return found;
  if (isDeletedUser(sql, userId)) return UNKNOWN_INVITATION;
  if (mayOwn === false && found.value.role === "owner") return CHANGED;
  deleteInvitation(sql, found.value.id);
  if (roleOf(sql, userId) !== null) return fail("CONFLICT", "You are already a member.");
  const { id, role } = found.value;
  addMember(sql, { userId, role, joinedAt: now });
  recordAudit(sql, { actor: userId, action: "invitation.accept", target: id, after: { role } }, origin, now);
  return ok(true);
}
