import type { Origin } from "../platform/origin.ts";
import { type Account, readAccount } from "./account.ts";
import { endFamilies, isAlive } from "./families.ts";
import { isReauthenticated, type Reauthentication } from "./sessions.ts";
import { dropTokens } from "./tokens.ts";

/** A key's time is by the clock of the object that made it, which may be this much ahead, in milliseconds. */
const CLOCK_SKEW_MS = 10_000;

/**
 * The purge of an account whose address was never verified, at the moment somebody proves to own it: whoever registered
 * it may be somebody else, so nothing they put there survives (arXiv 2205.10174). Password, links, sessions, pending
 * tokens and mails go with the caller's transaction; keys are in other objects, so that part is noted for `finishPurge`.
 * (Identities in the directory that no user object holds count for nothing.)
 */
export function purgeAccount(sql: SqlStorage, now: number): void {
  sql.exec("UPDATE account SET password_hash = NULL, epoch = epoch + 1");
  endFamilies(sql, "purge", null, now);
  dropTokens(sql);
  sql.exec("DELETE FROM links");
  sql.exec("INSERT OR REPLACE INTO unfinished_purge (one, until) VALUES (1, ?)", now + CLOCK_SKEW_MS);
}

/**
 * Somebody has proven to own the account's address: by a mail, or by a provider that vouches for it. Where that is the
 * first proof, whatever was there before it goes (O5).
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
 * Does what a purge left to do outside the user object: before the answer to whoever caused it, and by the alarm where a
 * crash came between. Safe to repeat and to run twice at once.
 */
export async function finishPurge(sql: SqlStorage, ports: PurgePorts): Promise<void> {
  const account = readAccount(sql);
  const until = account && unfinishedPurge(sql);
  if (!account || until === null) return;
  const listed = await ports.workspacesOf(account.id);
  // The directory's list is an index: the personal workspace is the user's, listed or not.
  const workspaces = new Set([account.workspaceId, ...listed]);
  await Promise.all([...workspaces].map((id) => ports.revokeKeys(id, account.id, until)));
  sql.exec("DELETE FROM unfinished_purge WHERE until = ?", until);
}

/** The instant of a purge that is not finished outside this object, or null. */
export function unfinishedPurge(sql: SqlStorage): number | null {
  return sql.exec<{ until: number }>("SELECT until FROM unfinished_purge").toArray()[0]?.until ?? null;
}

/** Rounds over the directory in one run: more are needed only while the user still joins workspaces. */
const ROUNDS = 5;

export type DeletionRequest = Reauthentication;

/** What a deleted account has here. */
const CLEARED_TABLES = [
  "account",
  "families",
  "one_time_tokens",
  "answered_requests",
  "links",
  "promised_mails",
  "unfinished_purge",
  // Its tails end with its memberships.
  "session_watches",
  "activity",
] as const;

/** `dead`: the session has ended. `unproven`: it takes the password, or a fresh login where there is none. */
export type DeletionVerdict = "begun" | "dead" | "unproven";

/**
 * Deletes the account in one turn: with it go its sessions, tokens, links and promised mails, so nothing signs in to it
 * any more. What it has elsewhere is noted, for `finishDeletion`.
 */
export function beginDeletion(sql: SqlStorage, request: DeletionRequest, origin: Origin, now: number): DeletionVerdict {
  const account = readAccount(sql);
  if (!account || !isAlive(sql, request.sessionId, account.epoch, now)) return "dead";
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

/** An account that was deleted here and may still have something elsewhere. */
export interface Deletion {
  userId: string;
  /** Of its personal workspace. */
  workspaceId: string;
  /** The request that deleted it; null where a version did that which did not keep it. */
  requestId: string | null;
}

export function unfinishedDeletion(sql: SqlStorage): Deletion | null {
  const rows = sql.exec<{ userId: string; workspaceId: string; requestId: string | null }>(
    "SELECT user_id AS userId, workspace_id AS workspaceId, request_id AS requestId FROM deletion",
  );
  return rows.toArray()[0] ?? null;
}

export interface DeletionPorts {
  /** Ids of all workspaces that the index has for the user. It misses none that the user is a member of. */
  workspacesOf(userId: string): Promise<string[]>;
  /** Ends the membership with all that the user made there; or the workspace, where it goes with its person. */
  removeDeletedUser(workspaceId: string, userId: string): Promise<void>;
  /**
   * Takes these memberships, the identities and, unless there is a membership more, the address out of the directory.
   * @returns whether the address is out: from then on the user joins nothing
   */
  unlist(userId: string, departed: readonly string[]): Promise<boolean>;
  /** Deletes the user object's own storage. */
  destroySelf(): Promise<void>;
}

/**
 * Ends what a deleted account has elsewhere: before the answer to whoever deleted it, and by the alarm where a crash came
 * between. Safe to repeat and to run twice at once.
 * @returns whether it is done
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
