import { suffixedSlug } from "../accounts/slug.ts";
import { randomBase62 } from "../ids.ts";
import type { Origin } from "../platform/origin.ts";
import { hasIndexChanges, hasLost, markAllUnlisted } from "../workspace/index-changes.ts";
import { listingOf, relistWorkspace, unlistWorkspace } from "../workspace/listing.ts";
import type { WorkspaceCore } from "./workspace-core.ts";

/** Characters that keep a slug apart which was given to another workspace meanwhile: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/**
 * Compares the directory with the object and tells it again what it has lost: D1 is an index, and an object that wakes
 * makes its part of it whole. Costs a read of D1.
 * @returns whether anything was lost
 */
export async function relist(core: WorkspaceCore, db: D1Database, run: Origin): Promise<boolean> {
  const slug = await core.slug();
  const { row, sql } = core.state;
  // Never listed yet, or about to tell it anyway.
  if (!row || slug === null || hasIndexChanges(sql)) return false;
  const { id, name, personalOf, createdAt } = row;
  const listing = await listingOf(db, id);
  if (!core.state.row || (listing && !hasLost(sql, listing))) return false;
  if (!listing) {
    const fallbackSlug = suffixedSlug(slug, randomBase62(SLUG_SUFFIX_LENGTH));
    const given = await relistWorkspace(db, { id, name, slug, fallbackSlug, personalOf, createdAt });
    // It may have been deleted while D1 was asked: then it must not be found again.
    if (!core.state.row) await unlistWorkspace(db, id);
    else core.confirm(given);
  }
  core.state.transaction((gate) => markAllUnlisted(gate.sql));
  await core.tellDirectory(run);
  return true;
}
