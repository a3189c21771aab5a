/**
 * What the directory in D1 has yet to learn of this workspace: a row per member who went or came, and one for the
 * workspace itself, written in the transaction of the change. `version` rises with every change, so a batch that was held
 * up on its way to D1 can be told from a newer one.
 */
export const INDEX_CHANGES_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS index_changes (
     -- Empty for the workspace's own row.
     user_id TEXT PRIMARY KEY,
     version INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  // Users that have deleted their account: never a member again, whatever is still under way.
  "CREATE TABLE IF NOT EXISTS departed_users (user_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
] as const;

/** Stands for the workspace's own row. */
const ITSELF = "";

/** Members that one batch tells of at most. */
const IN_BATCH = 500;

/** The current truth about what has changed. */
export interface DirectoryChanges {
  version: number;
  name: string;
  present: string[];
  absent: string[];
}

/** What the directory has of a workspace: how much of its changes, and how many members. */
export interface DirectoryListing {
  version: number;
  members: number;
}

export function markMemberChanged(sql: SqlStorage, userId: string): void {
  sql.exec("UPDATE workspace SET index_version = index_version + 1");
  sql.exec("INSERT OR REPLACE INTO index_changes (user_id, version) SELECT ?, index_version FROM workspace", userId);
}

/** The workspace's name has changed. */
export function markRenamed(sql: SqlStorage): void {
  markMemberChanged(sql, ITSELF);
}

/** The directory is to learn everything anew. */
export function markAllChanged(sql: SqlStorage): void {
  markRenamed(sql);
  sql.exec(
    `INSERT OR REPLACE INTO index_changes (user_id, version)
     SELECT user_id, (SELECT index_version FROM workspace) FROM members`,
  );
}

/** Whether the directory has lost something that it knew. */
export function isDirectoryIncomplete(sql: SqlStorage, { version, members }: DirectoryListing): boolean {
  const own = sql
    .exec<{ version: number; members: number }>(
      "SELECT index_version AS version, (SELECT COUNT(*) FROM members) AS members FROM workspace",
    )
    .one();
  return version < own.version || members < own.members;
}

/** Returns the version of this workspace's part of the directory. Every change raises it. */
export function directoryVersion(sql: SqlStorage): number {
  return sql.exec<{ version: number }>("SELECT index_version AS version FROM workspace").one().version;
}

export function hasDirectoryChanges(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM index_changes LIMIT 1").toArray().length > 0;
}

/** What to tell the directory now; null where it knows everything. */
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
  const { version, name } = sql
    .exec<{ version: number; name: string }>("SELECT index_version AS version, name FROM workspace")
    .one();
  return {
    version,
    name,
    present: users.filter(({ present }) => present === 1).map(({ userId }) => userId),
    absent: users.filter(({ present }) => present === 0).map(({ userId }) => userId),
  };
}

/** The directory has learned all this; what has changed again since then stays. */
export function deleteDirectoryChanges(sql: SqlStorage, { version, present, absent }: DirectoryChanges): void {
  for (const userId of [ITSELF, ...present, ...absent]) {
    sql.exec("DELETE FROM index_changes WHERE user_id = ? AND version <= ?", userId, version);
  }
}
