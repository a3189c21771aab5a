import type { Origin } from "../platform/origin.ts";
import { maybe } from "../platform/sql.ts";
import { type Account, readAccount } from "./account.ts";
import { endFamilies, isValidSession } from "./families.ts";
import { isReauthenticated, type Reauthentication } from "./sessions.ts";
import { dropTokens } from "./tokens.ts";

/** The creation time of a key is by the clock of its workspace object, which may be this many milliseconds ahead. */
const CLOCK_SKEW_MS = 10_000;

/**
 * Purges an account whose address was never verified, at the first proof of the address. Another person may have
 * registered it, so nothing that was added before survives (arXiv 2205.10174). Password, links, sessions, pending
 * tokens and mails are deleted in the caller's transaction. Keys are in other objects, so that part is recorded for
 * `finishPurge`. Identities in the directory without a link in a user object have no effect.
 */
export function purgeAccount(sql: SqlStorage, now: number): void {
  sql.exec("UPDATE account SET password_hash = NULL, epoch = epoch + 1");
  endFamilies(sql, "purge", null, now);
  dropTokens(sql);
  sql.exec("DELETE FROM links");
  sql.exec("INSERT OR REPLACE INTO unfinished_purge (one, until) VALUES (1, ?)", now + CLOCK_SKEW_MS);
}

/**
 * Records a proof of the account's address, by a mail or by a provider that has verified it. The first proof purges
 * what was added before it (O5).
 */
export function proveAddress(sql: SqlStorage, now: number): "was proven" | "purged" {
  if (readAccount(sql)?.emailVerified) return "was proven";
  purgeAccount(sql, now);
  sql.exec("UPDATE account SET email_verified = 1");
  return "purged";
}

export interface PurgePorts {
  /** Ids of all workspaces that the user is a member of. */
  workspacesOf(userId: string): Promise<string[]>;
  /** Revokes the keys that the user made by `until` (epoch milliseconds). */
  revokeKeys(workspaceId: string, userId: string, until: number): Promise<void>;
}

/**
 * Finishes a purge outside the user object: before the response to the request that caused it, or by the alarm after a
 * crash. Safe to repeat and to run concurrently.
 */
export async function finishPurge(sql: SqlStorage, ports: PurgePorts): Promise<void> {
  const account = readAccount(sql);
  const until = account && unfinishedPurge(sql);
  if (!account || until === null) return;
  const listed = await ports.workspacesOf(account.id);
  // The directory's list may lag. The personal workspace belongs to the user in any case.
  const workspaces = new Set([account.workspaceId, ...listed]);
  await Promise.all([...workspaces].map((id) => ports.revokeKeys(id, account.id, until)));
  sql.exec("DELETE FROM unfinished_purge WHERE until = ?", until);
}

/** Epoch milliseconds up to which the unfinished purge revokes keys; `null` if no purge is unfinished. */
export function unfinishedPurge(sql: SqlStorage): number | null {
  return maybe<{ until: number }>(sql, "SELECT until FROM unfinished_purge")?.until ?? null;
}

/** Rounds over the directory in one run. More than one is needed only if the user joins workspaces at the same time. */
const ROUNDS = 5;

export type DeletionRequest = Reauthentication;

/** Tables of the user object that the deletion of an account clears. */
const CLEARED_TABLES = [
  "account",
  "families",
  "one_time_tokens",
  "answered_requests",
  "links",
  "promised_mails",
  "unfinished_purge",
  // Deletion of the memberships closes the user's tails.
  "session_watches",
  "activity",
] as const;

/** `dead`: the session has ended. `unproven`: the password is required, or a fresh session if there is no password. */
export type DeletionVerdict = "begun" | "dead" | "unproven";

/**
 * Deletes the account in one turn with its sessions, tokens, links and pending mails, so that no sign-in succeeds any
 * longer. Records the deletion, so that `finishDeletion` can delete what the account has elsewhere.
 */
export function beginDeletion(sql: SqlStorage, request: DeletionRequest, origin: Origin, now: number): DeletionVerdict {
  const account = readAccount(sql);
  if (!account || !isValidSession(sql, request.sessionId, account.epoch, now)) return "dead";
  if (!isProven(sql, account, request, now)) return "unproven";
  sql.exec(
    "INSERT INTO deletion (one, user_id, workspace_id, request_id) VALUES (1, ?, ?, ?)",
    account.id,
    account.workspaceId,
    origin.requestId,
  );
  for (const table of CLEARED_TABLES) sql.exec(`DELETE FROM ${table}`);
  return "begun";
}

function isProven(sql: SqlStorage, account: Account, request: DeletionRequest, now: number): boolean {
  if (account.passwordHash !== null) return request.checkedEpoch === account.epoch;
  return isReauthenticated(sql, account, request, now);
}

/** A deleted account that may still have data outside its object. */
export interface Deletion {
  userId: string;
  /** Id of the personal workspace. */
  workspaceId: string;
  /** The request that deleted the account; `null` if a version deleted it that did not store the request. */
  requestId: string | null;
}

export function unfinishedDeletion(sql: SqlStorage): Deletion | null {
  return maybe<{ userId: string; workspaceId: string; requestId: string | null }>(
    sql,
    "SELECT user_id AS userId, workspace_id AS workspaceId, request_id AS requestId FROM deletion",
  );
}

export interface DeletionPorts {
  /** Returns the ids of all workspaces in which the directory lists the user. Misses no membership. */
  workspacesOf(userId: string): Promise<string[]>;
  /** Ends the membership and deletes what the user created there; deletes a personal workspace. */
  removeDeletedUser(workspaceId: string, userId: string): Promise<void>;
  /**
   * Deletes these memberships, the identities and, unless another membership exists, the address from the directory.
   * @returns whether the address is deleted: from then on the user joins no workspace
   */
  unlist(userId: string, departed: readonly string[]): Promise<boolean>;
  /** Deletes the storage of the user object. */
  destroySelf(): Promise<void>;
}

/**
 * Deletes what a deleted account has elsewhere: before the response to the request that deleted it, or by the alarm
 * after a crash. Safe to repeat and to run concurrently.
 * @returns whether nothing is left
 */
export async function finishDeletion(sql: SqlStorage, ports: DeletionPorts): Promise<boolean> {
  const deletion = unfinishedDeletion(sql);
  if (!deletion) return true;
  const { userId, workspaceId } = deletion;
  for (let round = 0; round < ROUNDS; round++) {
    const departed = [...new Set([workspaceId, ...(await ports.workspacesOf(userId))])];
    for (const id of departed) await ports.removeDeletedUser(id, userId);
    if (!(await ports.unlist(userId, departed))) continue;
    await ports.destroySelf();
    return true;
  }
  return false;
}
