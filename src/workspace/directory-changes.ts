import { exists, one } from "../platform/sql.ts";

/**
 * Directory changes: changes of this workspace that the directory in D1 does not have yet. A row per member who joined or
 * left, and one for the workspace itself, written in the transaction of the change. `version` rises with every change, so
 * that a delayed batch to D1 can be distinguished from a newer one.
 */
export const INDEX_CHANGES_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS index_changes (
     -- Row: a directory change that is not in D1 yet.
     -- The added or removed member; empty for the workspace's own row.
     user_id TEXT PRIMARY KEY,
     -- \`index_version\` of the change.
     version INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS departed_users (
     -- Row: a user whose account was deleted, and who never becomes a member again.
     user_id TEXT PRIMARY KEY
   ) STRICT, WITHOUT ROWID`,
] as const;

/** Stands for the workspace's own row. */
const ITSELF = "";

/** Maximum number of members in one batch. */
const IN_BATCH = 500;

/** The current state of the rows that have changed. */
export interface DirectoryChanges {
  version: number;
  name: string;
  present: string[];
  absent: string[];
}

/** What the directory stores of a workspace: the version, and the number of members. */
export interface DirectoryListing {
  version: number;
  members: number;
}

export function markMemberChanged(sql: SqlStorage, userId: string): void {
  sql.exec("UPDATE workspace SET index_version = index_version + 1");
  sql.exec("INSERT OR REPLACE INTO index_changes (user_id, version) SELECT ?, index_version FROM workspace", userId);
}

/** Records a change of the workspace's name. */
export function markRenamed(sql: SqlStorage): void {
  markMemberChanged(sql, ITSELF);
}

/** Records the workspace and all members as changed, so that they are sent to the directory again. */
export function markAllChanged(sql: SqlStorage): void {
  markRenamed(sql);
  sql.exec(
    `INSERT OR REPLACE INTO index_changes (user_id, version)
     SELECT user_id, (SELECT index_version FROM workspace) FROM members`,
  );
}

/** Whether the directory has lost changes that it had. */
export function isDirectoryIncomplete(sql: SqlStorage, { version, members }: DirectoryListing): boolean {
  const own = one<{ version: number; members: number }>(
    sql,
    "SELECT index_version AS version, (SELECT COUNT(*) FROM members) AS members FROM workspace",
  );
  return version < own.version || members < own.members;
}

/** Returns the version of this workspace's part of the directory. Every change raises it. */
export function directoryVersion(sql: SqlStorage): number {
  return one<{ version: number }>(sql, "SELECT index_version AS version FROM workspace").version;
}

export function hasDirectoryChanges(sql: SqlStorage): boolean {
  return exists(sql, "SELECT 1 FROM index_changes LIMIT 1");
}

/** Returns the next batch of changes for the directory; `null` if there are none. */
export function readDirectoryChanges(sql: SqlStorage): DirectoryChanges | null {
  const rows = sql
    .exec<{ userId: string; present: number }>(
      `SELECT c.user_id AS userId, EXISTS (SELECT 1 FROM members m WHERE m.user_id = c.user_id) AS present
       FROM index_changes c ORDER BY c.user_id LIMIT ?`,
      IN_BATCH,
    )
    .toArray();
  if (rows.length === 0) return null;
  const users = rows.filter(({ userId }) => userId !== ITSELF);
  const select = "SELECT index_version AS version, name FROM workspace";
  const { version, name } = one<{ version: number; name: string }>(sql, select);
  return {
    version,
    name,
    present: users.filter(({ present }) => present === 1).map(({ userId }) => userId),
    absent: users.filter(({ present }) => present === 0).map(({ userId }) => userId),
  };
}

/** Deletes changes that the directory has. Rows that have changed again in the meantime stay. */
export function deleteDirectoryChanges(sql: SqlStorage, { version, present, absent }: DirectoryChanges): void {
  for (const userId of [ITSELF, ...present, ...absent]) {
    sql.exec("DELETE FROM index_changes WHERE user_id = ? AND version <= ?", userId, version);
  }
}
