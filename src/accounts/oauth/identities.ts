import type { DirectoryEntry } from "../directory.ts";
import type { Identity } from "./provider.ts";

/** Who claims an identity in the directory, and by which attempt. Only the holder's object knows whether it is linked. */
export interface Holder {
  userId: string;
  claim: string;
}

/** The holder's own entry is null where the directory no longer lists that user. */
export interface KnownIdentity extends Holder {
  entry: DirectoryEntry | null;
}

const FIND = `SELECT i.user_id AS userId, i.claim AS claim, w.id AS workspaceId, w.slug AS slug
  FROM oauth_identities i
  LEFT JOIN users u ON u.id = i.user_id
  LEFT JOIN workspaces w ON w.personal_of = u.id
  WHERE i.provider = ? AND i.subject = ?`;

export async function findIdentity(db: D1Database, { provider, subject }: Identity): Promise<KnownIdentity | null> {
  const row = await db
    .prepare(FIND)
    .bind(provider, subject)
    .first<Holder & { workspaceId: string | null; slug: string | null }>();
  if (!row) return null;
  const { userId, claim, workspaceId, slug } = row;
  const entry = workspaceId === null || slug === null ? null : { userId, workspaceId, slug };
  return { userId, claim, entry };
}

/** Claims an identity unless another user has. @returns who holds it now */
export async function claimIdentity(
  db: D1Database,
  { provider, subject }: Identity,
  { userId, claim }: Holder,
  now: number,
): Promise<Holder> {
  const [, found] = await db.batch<Holder>([
    db
      .prepare(
        `INSERT INTO oauth_identities (provider, subject, user_id, claim, claimed_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (provider, subject) DO UPDATE SET claim = excluded.claim, claimed_at = excluded.claimed_at WHERE user_id = excluded.user_id`,
      )
      .bind(provider, subject, userId, claim, now),
    db
      .prepare("SELECT user_id AS userId, claim FROM oauth_identities WHERE provider = ? AND subject = ?")
      .bind(provider, subject),
  ]);
  const holder = found?.results[0];
  if (!holder) throw new Error("A batch lost the row it wrote.");
  return holder;
}

/** Deletes exactly this claim; a newer one of the same identity stays. */
export async function releaseClaim(db: D1Database, { provider, subject }: Identity, claim: string): Promise<void> {
  await db
    .prepare("DELETE FROM oauth_identities WHERE provider = ? AND subject = ? AND claim = ?")
    .bind(provider, subject, claim)
    .run();
}
