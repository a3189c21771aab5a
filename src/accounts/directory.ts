import type { NewLink } from "./links.ts";

/** A user as the directory lists it, with the personal workspace that was listed in the same batch. */
export interface DirectoryEntry {
  userId: string;
  workspaceId: string;
  slug: string;
}

export interface AddressClaim {
  userId: string;
  email: string;
  workspaceId: string;
  workspaceName: string;
  /** The wanted slug, and the one to use if it is taken. */
  slug: string;
  fallbackSlug: string;
  /** Epoch milliseconds of the claim. */
  now: number;
  /** Epoch milliseconds from which on the claim must fail, because the user object may have been deleted. */
  deadline: number;
}

export type ClaimResult = { ok: true; slug: string } | { ok: false; reason: "taken" | "late" };

const FIND_BY_EMAIL = `SELECT u.id AS userId, w.id AS workspaceId, w.slug AS slug
  FROM users u JOIN workspaces w ON w.personal_of = u.id WHERE u.email = ?`;

const FIND_HOLDER = `SELECT u.id AS userId, w.slug AS slug
  FROM users u LEFT JOIN workspaces w ON w.personal_of = u.id WHERE u.email = ?`;

export async function findByEmail(db: D1Database, email: string): Promise<DirectoryEntry | null> {
  return db.prepare(FIND_BY_EMAIL).bind(email).first<DirectoryEntry>();
}

export async function findByUserId(db: D1Database, userId: string): Promise<DirectoryEntry | null> {
  const find = "SELECT personal_of AS userId, id AS workspaceId, slug FROM workspaces WHERE personal_of = ?";
  return db.prepare(find).bind(userId).first<DirectoryEntry>();
}

export async function isListed(db: D1Database, userId: string): Promise<boolean> {
  return (await db.prepare("SELECT 1 FROM users WHERE id = ?").bind(userId).first()) !== null;
}

/**
 * Deletes memberships and identities of a deleted account from the directory, then the account itself unless it has
 * gained a membership in the meantime.
 * @returns whether the account is deleted, so that its address is free and no list contains it as a member
 */
export async function unlistUser(db: D1Database, userId: string, departed: readonly string[]): Promise<boolean> {
  const results = await db.batch([
    db
      .prepare("DELETE FROM memberships WHERE user_id = ? AND workspace_id IN (SELECT value FROM json_each(?))")
      .bind(userId, JSON.stringify(departed)),
    db.prepare("DELETE FROM oauth_identities WHERE user_id = ?").bind(userId),
    db
      .prepare("DELETE FROM users WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM memberships WHERE user_id = ?1)")
      .bind(userId),
    db.prepare("SELECT 1 FROM users WHERE id = ?").bind(userId),
  ]);
  return results[3]?.results.length === 0;
}

/** Returns the ids of the workspaces in which the directory lists a user as a member. */
export async function workspacesOf(db: D1Database, userId: string): Promise<string[]> {
  const rows = db.prepare("SELECT workspace_id AS id FROM memberships WHERE user_id = ?").bind(userId);
  return (await rows.all<{ id: string }>()).results.map(({ id }) => id);
}

/**
 * Lists a user, the personal workspace, the membership and the first identity of an account in one transaction. UNIQUE
 * on the address decides between claims. An identity that is claimed already, or a claim after the deadline, lists
 * nothing. The deadline is compared with the database's clock when the batch runs, so a delayed batch lists nothing.
 * The outcome is read from the table in the same transaction.
 */
export async function claimAddress(
  db: D1Database,
  claim: AddressClaim,
  link: NewLink | null = null,
): Promise<ClaimResult> {
  const { userId, email, workspaceId, workspaceName, slug, fallbackSlug, now, deadline } = claim;
  const identity = [link?.provider ?? null, link?.subject ?? null] as const;
  const results = await db.batch<{ userId: string; slug: string }>([
    db
      .prepare(
        `INSERT OR IGNORE INTO users (id, email, created_at) SELECT ?1, ?2, ?3 WHERE unixepoch('subsec') * 1000 < ?4
           AND NOT EXISTS (SELECT 1 FROM oauth_identities WHERE provider = ?5 AND subject = ?6)`,
      )
      .bind(userId, email, now, deadline, ...identity),
    db
      .prepare(
        `INSERT INTO workspaces (id, slug, name, personal_of, created_at)
         SELECT ?1, CASE WHEN EXISTS (SELECT 1 FROM workspaces WHERE slug = ?2) THEN ?3 ELSE ?2 END, ?4, ?5, ?6
         WHERE EXISTS (SELECT 1 FROM users WHERE id = ?5)`,
      )
      .bind(workspaceId, slug, fallbackSlug, workspaceName, userId, now),
    db
      .prepare(
        `INSERT INTO memberships (user_id, workspace_id) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM users WHERE id = ?1)`,
      )
      .bind(userId, workspaceId),
    db
      .prepare(
        `INSERT INTO oauth_identities (provider, subject, user_id, claim, claimed_at)
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?1 IS NOT NULL AND EXISTS (SELECT 1 FROM users WHERE id = ?3)`,
      )
      .bind(...identity, userId, link?.claim ?? null, now),
    db.prepare(FIND_HOLDER).bind(email),
  ]);
  const holder = results[4]?.results[0];
  if (!holder) return { ok: false, reason: "late" };
  return holder.userId === userId ? { ok: true, slug: holder.slug } : { ok: false, reason: "taken" };
}
