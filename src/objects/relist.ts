import { suffixedSlug } from "../accounts/slug.ts";
import { randomBase62 } from "../ids.ts";
import type { Origin } from "../platform/origin.ts";
import { hasDirectoryChanges, isDirectoryIncomplete, markAllChanged } from "../workspace/index-changes.ts";
import { listingOf, restoreWorkspaceListing, unlistWorkspace } from "../workspace/listing.ts";
import type { WorkspaceCore } from "./workspace-core.ts";

/** Characters that keep a slug apart which was given to another workspace meanwhile: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/**
 * Compares the directory with the object and tells it again what it has lost: D1 is an index, and an object that wakes
 * makes its part of it whole. Costs a read of D1.
 * @returns whether anything was lost
 */
export async function repairDirectory(core: WorkspaceCore, db: D1Database, run: Origin): Promise<boolean> {
  const slug = await core.slug();
  const { row, sql } = core.state;
  // Never listed yet, or about to tell it anyway.
  if (!row || slug === null || hasDirectoryChanges(sql)) return false;
  const { id, name, personalOf, createdAt } = row;
  const listing = await listingOf(db, id);
  if (!core.state.row || (listing && !isDirectoryIncomplete(sql, listing))) return false;
  if (!listing) {
    const fallbackSlug = suffixedSlug(slug, randomBase62(SLUG_SUFFIX_LENGTH));
    const given = await restoreWorkspaceListing(db, { id, name, slug, fallbackSlug, personalOf, createdAt });
    // It may have been deleted while D1 was asked: then it must not be found again.
    if (!core.state.row) await unlistWorkspace(db, id);
    else core.confirm(given);
  }
  core.state.transaction((admission) => markAllChanged(admission.sql));
  await core.updateDirectory(run);
  return true;
}
