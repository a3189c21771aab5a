import { hashOneTimeToken, mintOneTimeToken } from "../accounts/one-time-token.ts";
import { addPendingMail } from "../mail/pending-mails.ts";
import { mapRows, maybe } from "../platform/sql.ts";
import { type Failure, fail, ok, type Result } from "../rpc/result.ts";
import type { AuditNote } from "./audit.ts";
import { roleOf } from "./members.ts";
import { may, mayAssign, type Role } from "./permissions.ts";
import { readWorkspace } from "./settings.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Milliseconds for which an invitation is valid. */
export const INVITATION_LIFETIME_MS = 7 * DAY_MS;
/** Maximum number of invitations of a workspace in any 24 hours, including revoked ones. */
const INVITATIONS_PER_DAY = 20;
/** Milliseconds for which an expired invitation is distinguished from an unknown one. */
const EXPIRED_KEPT_MS = DAY_MS;

export const INVITATION_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS invitations (
     -- Row: an invitation that is valid, or has expired in the last day.
     -- \`inv_...\`
     id TEXT PRIMARY KEY,
     -- At most one invitation per e-mail address.
     email TEXT NOT NULL UNIQUE,
     role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
     -- SHA-256 of the token.
     hash BLOB NOT NULL CHECK (length(hash) = 32),
     -- A user id.
     invited_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS invitation_times (
     -- Row: an invitation created in the last 24 hours.
     num INTEGER PRIMARY KEY,
     at INTEGER NOT NULL
   ) STRICT`,
] as const;

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  /** Epoch milliseconds. */
  createdAt: number;
  expiresAt: number;
}

/** The router's part of a new invitation. */
export interface InviteRequest {
  /** `inv_...` */
  id: string;
  email: string;
  role: Role;
  /** The account with that address, or `null`. */
  inviteeId: string | null;
  /** The inviter's address, for the mail. */
  inviter: string;
  /** The inviter's name, for the mail. Absent from routers of older versions. */
  inviterName?: string | null;
  /** 32 random bytes from which the token is derived. */
  seed: Uint8Array;
  /** Whether the address may get a mail now. */
  isMailed: boolean;
}

/** The inviter and the workspace. */
export interface Inviter {
  by: Role;
  userId: string;
  workspaceId: string;
  pepper: string;
  /** Id of the request, for the mail. */
  requestId: string;
}

interface NewInvitation extends Pick<Invitation, "id" | "email" | "role"> {
  invitedBy: string;
  hash: Uint8Array;
  isMailed: boolean;
}

type Row = { id: string; email: string; role: Role; created_at: number; expires_at: number };

const COLUMNS = "id, email, role, created_at, expires_at";

/** Creates an invitation with its pending mail, in the caller's transaction. */
export function invite(
  sql: SqlStorage,
  { by, userId, workspaceId, pepper, requestId }: Inviter,
  request: InviteRequest,
  note: AuditNote,
  now: number,
): Result<Invitation> {
  const { id, email, role, inviteeId, inviter, inviterName = null, seed, isMailed } = request;
  if (inviteeId !== null && roleOf(sql, inviteeId) !== null) {
    return fail("CONFLICT", "The user with this address is already a member.");
  }
  const hash = hashOneTimeToken(mintOneTimeToken(workspaceId, seed, pepper));
  const made = makeInvitation(sql, by, { id, email, role, invitedBy: userId, hash, isMailed }, now);
  if (made.ok) note(made.value.id, { after: { email, role } });
  if (made.ok && isMailed) {
    const workspace = readWorkspace(sql).name;
    const content = { kind: "invite", seed, workspace, inviter, inviterName, role } as const;
    const { expiresAt } = made.value;
    addPendingMail(sql, { id: mailOfInvitation(id), to: email, content, expiresAt, requestId }, now);
  }
  return made;
}

/**
 * Creates an invitation, which replaces an older one to the same address. If no mail may be sent now, the link of the
 * last mail stays valid, and only role and expiry change.
 */
function makeInvitation(sql: SqlStorage, by: Role, wanted: NewInvitation, now: number): Result<Invitation> {
  const { email, role, invitedBy, hash, isMailed } = wanted;
  if (!mayAssign(by, role)) return OWNERS_ONLY;
  sweepInvitations(sql, now);
  const old = invitationOf(sql, email);
  if (old && !mayAssign(by, old.role)) return OWNERS_ONLY;
  const tooMany = countToday(sql, now);
  if (tooMany) return tooMany;
  sql.exec("INSERT INTO invitation_times (at) VALUES (?)", now);
  const expiresAt = now + INVITATION_LIFETIME_MS;
  if (old && !isMailed && old.expiresAt > now) {
    sql.exec(
      "UPDATE invitations SET role = ?, invited_by = ?, expires_at = ? WHERE id = ?",
      role,
      invitedBy,
      expiresAt,
      old.id,
    );
    return ok({ ...old, role, expiresAt });
  }
  if (old) deleteInvitation(sql, old.id);
  sql.exec(
    `INSERT INTO invitations (id, email, role, hash, invited_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    wanted.id,
    email,
    role,
    hash,
    invitedBy,
    now,
    expiresAt,
  );
  return ok({ id: wanted.id, email, role, createdAt: now, expiresAt });
}

/** Valid invitations in order of creation, after the (createdAt, id) of `cursor`. */
export function listInvitations(
  sql: SqlStorage,
  cursor: readonly [number, string],
  limit: number,
  now: number,
): Invitation[] {
  return mapRows(
    sql,
    fromRow,
    `SELECT ${COLUMNS} FROM invitations WHERE (created_at, id) > (?, ?) AND expires_at > ?
     ORDER BY created_at, id LIMIT ?`,
    ...cursor,
    now,
    limit,
  );
}

/** Revokes an invitation: its token becomes invalid, and a mail that was not sent yet is dropped. */
export function revokeInvitation(sql: SqlStorage, by: Role, id: string, note: AuditNote, now: number): Result<true> {
  const row = maybe<Row>(sql, `SELECT ${COLUMNS} FROM invitations WHERE id = ? AND expires_at > ?`, id, now);
  if (!row) return fail("NOT_FOUND", "Invitation not found.");
  if (!mayAssign(by, row.role)) return OWNERS_ONLY;
  deleteInvitation(sql, id);
  note(id, { before: { email: row.email, role: row.role } });
  return ok(true);
}

/** The invitation with this token hash that the owner of an address may accept. */
export function findAcceptable(sql: SqlStorage, hash: Uint8Array, email: string, now: number): Result<Invitation> {
  const row = rowOf(sql, hash);
  if (row && row.email !== email) return FOR_ANOTHER;
  return row && row.expires_at > now ? ok(fromRow(row)) : refusedToken(row);
}

/** What an invitation's token reveals to its holder without signing in. */
export interface OpenInvitation extends Pick<Invitation, "email" | "role" | "expiresAt"> {
  /** Name of the workspace. */
  workspace: string;
  /** Id of the user who made the invitation. */
  invitedBy: string;
}

/** The invitation with this token hash. */
export function openInvitation(sql: SqlStorage, hash: Uint8Array, now: number): Result<OpenInvitation> {
  const row = rowOf(sql, hash);
  if (!row || row.expires_at <= now) return refusedToken(row);
  const { email, role, expiresAt } = fromRow(row);
  const { name: workspace } = readWorkspace(sql);
  return ok({ workspace, invitedBy: row.invited_by, email, role, expiresAt });
}

export const UNKNOWN_INVITATION = fail("INVALID_TOKEN", "The invitation is not valid, or was accepted or revoked.");

/** The failure for an account with another address than the invited one. */
export const FOR_ANOTHER = fail("FORBIDDEN", "The invitation is for another e-mail address.");

/** @param row the expired invitation, if any */
function refusedToken(row: Row | null): Failure {
  return row ? fail("TOKEN_EXPIRED", "The invitation has expired. Request a new one.") : UNKNOWN_INVITATION;
}

function rowOf(sql: SqlStorage, hash: Uint8Array): (Row & { invited_by: string }) | null {
  return maybe(sql, `SELECT ${COLUMNS}, invited_by FROM invitations WHERE hash = ?`, hash);
}

export function deleteInvitation(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM invitations WHERE id = ?", id);
  sql.exec("DELETE FROM promised_mails WHERE id = ?", mailOfInvitation(id));
}

/** Revokes the invitations that an inviter with this role may not create; all of them for a former member (`null`). */
export function dropInvitationsOf(sql: SqlStorage, userId: string, role: Role | null): void {
  const rows = sql.exec<{ id: string; role: Role }>("SELECT id, role FROM invitations WHERE invited_by = ?", userId);
  for (const { id, role: offered } of rows.toArray()) {
    if (role === null || !may(role, "invitation.create") || !mayAssign(role, offered)) deleteInvitation(sql, id);
  }
}

/** The id of an invitation's mail, which differs only in its prefix. */
export function mailOfInvitation(id: string): string {
  return id.replace(/^inv_/, "mail_");
}

const OWNERS_ONLY = fail("FORBIDDEN", "Only an owner can invite an owner or revoke such an invitation.");

function invitationOf(sql: SqlStorage, email: string): Invitation | null {
  const row = maybe<Row>(sql, `SELECT ${COLUMNS} FROM invitations WHERE email = ?`, email);
  return row ? fromRow(row) : null;
}

/** Returns a failure if the maximum number of invitations was created in the last 24 hours. */
function countToday(sql: SqlStorage, now: number): Failure | null {
  const times = sql
    .exec<{ at: number }>("SELECT at FROM invitation_times WHERE at > ? ORDER BY num", now - DAY_MS)
    .toArray();
  const leaves = times[times.length - INVITATIONS_PER_DAY];
  if (!leaves) return null;
  const quota = `At most ${INVITATIONS_PER_DAY} invitations in 24 hours to this workspace.`;
  return fail("RATE_LIMITED", "Too many requests", { quota, retryAfter: leaves.at + DAY_MS - now });
}

function sweepInvitations(sql: SqlStorage, now: number): void {
  sql.exec("DELETE FROM invitations WHERE expires_at <= ?", now - EXPIRED_KEPT_MS);
  sql.exec("DELETE FROM invitation_times WHERE at <= ?", now - DAY_MS);
}

function fromRow({ id, email, role, created_at, expires_at }: Row): Invitation {
  return { id, email, role, createdAt: created_at, expiresAt: expires_at };
}
