import { readAccount } from "./account.ts";
import { endFamilies } from "./families.ts";
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
