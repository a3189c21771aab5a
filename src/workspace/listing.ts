import type { DirectoryChanges, DirectoryListing } from "./directory-changes.ts";

/** The directory of workspaces in D1: their slugs, and their members. */

export interface WorkspaceClaim {
  id: string;
  name: string;
  ownerId: string;
  /** The requested slug, and another one if it is taken; `null` for none. */
  slug: string;
  fallbackSlug: string | null;
  /** Epoch milliseconds of the claim. */
  now: number;
  /** Epoch milliseconds from which on the claim must fail, because the workspace object may be deleted by then. */
  deadline: number;
}

/** `late`: the deadline has passed, or the account was deleted. */
export type WorkspaceClaimed = { ok: true; slug: string } | { ok: false; reason: "taken" | "late" };

/**
 * Lists a workspace with its owner as a member, both or neither. UNIQUE on the slug decides. The deadline is compared
 * with the database's clock when the batch runs.
 */
export async function claimWorkspace(db: D1Database, claim: WorkspaceClaim): Promise<WorkspaceClaimed> {
  const { id, name, ownerId, slug, fallbackSlug, now, deadline } = claim;
  const [, , own, other] = await db.batch<{ slug: string }>([
    db
      .prepare(
        `INSERT OR IGNORE INTO workspaces (id, slug, name, personal_of, created_at)
         SELECT ?1, COALESCE(CASE WHEN EXISTS (SELECT 1 FROM workspaces WHERE slug = ?2) THEN ?3 END, ?2), ?4, NULL, ?5
         WHERE unixepoch('subsec') * 1000 < ?6 AND EXISTS (SELECT 1 FROM users WHERE id = ?7)`,
      )
      .bind(id, slug, fallbackSlug, name, now, deadline, ownerId),
    db
      .prepare(
        `INSERT OR IGNORE INTO memberships (user_id, workspace_id)
         SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM workspaces WHERE id = ?2)`,
      )
      .bind(ownerId, id),
    db.prepare("SELECT slug FROM workspaces WHERE id = ?").bind(id),
    db.prepare("SELECT slug FROM workspaces WHERE slug = ?").bind(slug),
  ]);
  const listed = own?.results[0];
  if (listed) return { ok: true, slug: listed.slug };
  return { ok: false, reason: other?.results[0] && fallbackSlug === null ? "taken" : "late" };
}

/** The slug of a workspace in the directory, or `null` if it is not listed. */
export async function slugOf(db: D1Database, workspaceId: string): Promise<string | null> {
  const row = await db.prepare("SELECT slug FROM workspaces WHERE id = ?").bind(workspaceId).first<{ slug: string }>();
  return row?.slug ?? null;
}

export interface ListedWorkspace {
  id: string;
  createdAt: number;
}

/** Workspaces of a user in the directory, in order of creation, after the (createdAt, id) of `cursor`. */
export async function listedWorkspaces(
  db: D1Database,
  userId: string,
  cursor: readonly [number, string],
  limit: number,
): Promise<ListedWorkspace[]> {
  const { results } = await db
    .prepare(
      `SELECT w.id AS id, w.created_at AS createdAt FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
       WHERE m.user_id = ? AND (w.created_at, w.id) > (?, ?) ORDER BY w.created_at, w.id LIMIT ?`,
    )
    .bind(userId, ...cursor, limit)
    .all<ListedWorkspace>();
  return results;
}

export interface DirectoryRow {
  id: string;
  slug: string;
  name: string;
  createdAt: number;
}

/** All workspaces of the directory in order of their ids, after `cursor`. */
export async function allWorkspaces(db: D1Database, cursor: string, limit: number): Promise<DirectoryRow[]> {
  const { results } = await db
    .prepare("SELECT id, slug, name, created_at AS createdAt FROM workspaces WHERE id > ? ORDER BY id LIMIT ?")
    .bind(cursor, limit)
    .all<DirectoryRow>();
  return results;
}

/** E-mail addresses of accounts, without those of deleted accounts. */
export async function emailsOf(db: D1Database, userIds: readonly string[]): Promise<Map<string, string>> {
  const { results } = await db
    .prepare("SELECT id, email FROM users WHERE id IN (SELECT value FROM json_each(?))")
    .bind(JSON.stringify(userIds))
    .all<{ id: string; email: string }>();
  return new Map(results.map(({ id, email }) => [id, email]));
}

/** Members that are found by a part of their address. */
const FOUND_MEMBERS = 200;

/** Returns by user id the addresses that are one of the words, in lower case, or have one and are a member's; at most 200. */
export async function usersByEmail(
  db: D1Database,
  workspaceId: string,
  words: readonly string[],
): Promise<Record<string, string>> {
  const { results } = await db
    .prepare(
      `SELECT id, email FROM users WHERE email IN (SELECT value FROM json_each(?2))
       UNION SELECT u.id, u.email FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE m.workspace_id = ?1 AND EXISTS (SELECT 1 FROM json_each(?2) WHERE instr(u.email, value) > 0)
       LIMIT ${FOUND_MEMBERS}`,
    )
    .bind(workspaceId, JSON.stringify(words))
    .all<{ id: string; email: string }>();
  return Object.fromEntries(results.map(({ id, email }) => [id, email]));
}

/**
 * Lists a member in advance, so that the directory never lacks one.
 * @returns false for a user that the directory no longer lists
 */
export async function listMember(db: D1Database, workspaceId: string, userId: string): Promise<boolean> {
  const [, known] = await db.batch([
    db
      .prepare(
        `INSERT OR IGNORE INTO memberships (user_id, workspace_id)
         SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM users WHERE id = ?1) AND EXISTS (SELECT 1 FROM workspaces WHERE id = ?2)`,
      )
      .bind(userId, workspaceId),
    db.prepare("SELECT 1 FROM users WHERE id = ?").bind(userId),
  ]);
  return (known?.results.length ?? 0) > 0;
}

/** Sends directory changes. Has no effect if the directory has a newer version or does not list the workspace. */
export async function applyDirectoryChanges(
  db: D1Database,
  workspaceId: string,
  changes: DirectoryChanges,
): Promise<void> {
  const { version, name, present, absent } = changes;
  const isCurrent = "EXISTS (SELECT 1 FROM workspaces WHERE id = ?2 AND index_version = ?3)";
  await db.batch([
    db
      .prepare("UPDATE workspaces SET name = ?1, index_version = ?3 WHERE id = ?2 AND index_version <= ?3")
      .bind(name, workspaceId, version),
    db
      .prepare(
        `INSERT OR IGNORE INTO memberships (user_id, workspace_id)
         SELECT value, ?2 FROM json_each(?1) WHERE ${isCurrent}`,
      )
      .bind(JSON.stringify(present), workspaceId, version),
    db
      .prepare(
        `DELETE FROM memberships WHERE workspace_id = ?2 AND user_id IN (SELECT value FROM json_each(?1)) AND ${isCurrent}`,
      )
      .bind(JSON.stringify(absent), workspaceId, version),
  ]);
}

export async function listingOf(db: D1Database, workspaceId: string): Promise<DirectoryListing | null> {
  return db
    .prepare(
      `SELECT index_version AS version, (SELECT COUNT(*) FROM memberships WHERE workspace_id = w.id) AS members
       FROM workspaces w WHERE id = ?`,
    )
    .bind(workspaceId)
    .first<DirectoryListing>();
}

export interface LostWorkspace {
  id: string;
  name: string;
  slug: string;
  /** The slug for a workspace whose slug another one has taken in the meantime. */
  fallbackSlug: string;
  personalOf: string | null;
  createdAt: number;
}

/** Lists a workspace again that the directory has lost, without its members. @returns its slug from now on */
export async function restoreWorkspaceListing(db: D1Database, lost: LostWorkspace): Promise<string> {
  const [, found] = await db.batch<{ slug: string }>([
    db
      .prepare(
        `INSERT OR IGNORE INTO workspaces (id, slug, name, personal_of, created_at)
         SELECT ?1, CASE WHEN EXISTS (SELECT 1 FROM workspaces WHERE slug = ?2) THEN ?3 ELSE ?2 END, ?4, ?5, ?6`,
      )
      .bind(lost.id, lost.slug, lost.fallbackSlug, lost.name, lost.personalOf, lost.createdAt),
    db.prepare("SELECT slug FROM workspaces WHERE id = ?").bind(lost.id),
  ]);
  return found?.results[0]?.slug ?? lost.slug;
}

/** Removes a deleted workspace from the directory, which frees its slug. */
export async function unlistWorkspace(db: D1Database, workspaceId: string): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM memberships WHERE workspace_id = ?").bind(workspaceId),
    db.prepare("DELETE FROM workspaces WHERE id = ?").bind(workspaceId),
  ]);
}
