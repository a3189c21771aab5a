import { mapRows } from "../platform/sql.ts";

/** Limits of one user over all workspaces. Counted in the user object because no workspace sees the others. */

const DAY_MS = 24 * 60 * 60 * 1000;
/** Invitations that a user may make in any 24 hours, revoked ones included. */
export const INVITATIONS_PER_DAY = 20;

/**
 * Milliseconds after which an attempt to own a workspace expires, with or without an outcome: see `CLAIM_WITHIN_MS`.
 */
const ATTEMPT_MS = 300_000;

export const USER_QUOTA_SCHEMA = [
  `CREATE TABLE made_invitations (
     -- Row: an invitation by the user in the last 24 hours, in any workspace.
     -- Written by: inviting; deleted immediately if the workspace refuses it, otherwise by the next invitation
     -- after a day.
     -- \`inv_...\`
     id TEXT PRIMARY KEY,
     made_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE ownership_attempts (
     -- Row: an attempt to own a workspace.
     -- Written by: creating a workspace, becoming an owner; deleted when the attempt ends, or after five
     -- minutes.
     -- The order.
     num INTEGER PRIMARY KEY AUTOINCREMENT,
     -- Of the attempt.
     id TEXT NOT NULL UNIQUE,
     workspace TEXT NOT NULL,
     begun_at INTEGER NOT NULL
   ) STRICT`,
] as const;

export type InvitationAdmitted = { admitted: true } | { admitted: false /** Milliseconds. */; retryAfter: number };

/** Counts an invitation, or returns when the next one fits. Exact, sliding window. Safe to repeat with the same id. */
export function admitInvitation(sql: SqlStorage, id: string, now: number): InvitationAdmitted {
  sql.exec("DELETE FROM made_invitations WHERE made_at <= ?", now - DAY_MS);
  const made = sql
    .exec<{ id: string; at: number }>("SELECT id, made_at AS at FROM made_invitations ORDER BY made_at, id")
    .toArray();
  if (made.some((one) => one.id === id)) return { admitted: true };
  const leaves = made[made.length - INVITATIONS_PER_DAY];
  if (leaves) return { admitted: false, retryAfter: leaves.at + DAY_MS - now };
  sql.exec("INSERT INTO made_invitations (id, made_at) VALUES (?, ?)", id, now);
  return { admitted: true };
}

/** Releases the count of an invitation that the workspace refused. */
export function forgetInvitation(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM made_invitations WHERE id = ?", id);
}

/** One request that may make the user an owner. Several requests may concern one workspace, each with a separate id. */
export interface OwnershipAttempt {
  id: string;
  workspaceId: string;
}

/**
 * Records that the user is about to own a workspace. Safe to repeat with the same id.
 * @returns the workspaces of earlier attempts in progress: each may be owned by now, listed or not
 */
export function beginOwnership(sql: SqlStorage, { id, workspaceId }: OwnershipAttempt, now: number): string[] {
  sql.exec("DELETE FROM ownership_attempts WHERE begun_at <= ?", now - ATTEMPT_MS);
  sql.exec("INSERT OR IGNORE INTO ownership_attempts (id, workspace, begun_at) VALUES (?, ?, ?)", id, workspaceId, now);
  return mapRows(
    sql,
    (row: { workspace: string }) => row.workspace,
    "SELECT DISTINCT workspace FROM ownership_attempts WHERE num < (SELECT num FROM ownership_attempts WHERE id = ?)",
    id,
  );
}

/** Deletes the attempt. From now on the members of the workspace show its outcome. */
export function endOwnershipAttempt(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM ownership_attempts WHERE id = ?", id);
}
