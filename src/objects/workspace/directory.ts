import { suffixedSlug } from "../../accounts/email.ts";
import { randomBase62 } from "../../ids.ts";
import { type ColdDatabases, ColdTier } from "../../logs/cold/store/cold-tier.ts";
import type { Origin } from "../../platform/origin.ts";
import { hasDirectoryChanges, isDirectoryIncomplete, markAllChanged } from "../../workspace/directory-changes.ts";
import { listingOf, restoreWorkspaceListing, unlistWorkspace } from "../../workspace/listing.ts";
import type { WorkspaceCore } from "./core.ts";

/** Rows that one statement deletes at most. */
const CHUNK_ROWS = 1000;

/**
 * Deletes some of what a deleted workspace left outside its object.
 * @returns whether nothing of its kind is left; otherwise it is called again
 */
type WipeStep = (databases: ColdDatabases, workspaceId: string) => Promise<boolean>;

const unlist: WipeStep = async ({ DB }, workspaceId) => {
  await unlistWorkspace(DB, workspaceId);
  return true;
};

const deleteViolations: WipeStep = async ({ DB }, workspaceId) => {
  const deleted = await DB.prepare(
    `DELETE FROM violations WHERE (minute, id) IN
         (SELECT minute, id FROM violations WHERE workspace_id = ? LIMIT ${CHUNK_ROWS})`,
  )
    .bind(workspaceId)
    .run();
  return deleted.meta.changes < CHUNK_ROWS;
};

const deleteSegments: WipeStep = async (databases, workspaceId) =>
  (await new ColdTier(databases).deleteOfWorkspace(workspaceId)) === 0;

/** In this order: first of all nobody finds it any more, and its slug is free. */
const WIPE_STEPS: readonly WipeStep[] = [unlist, deleteViolations, deleteSegments];

/** Calls of D1 that one alarm makes at most. */
const CALLS_AT_ONCE = 20;

/**
 * Deletes what is left of a deleted workspace outside its object, as far as one alarm may. Safe to repeat.
 * @returns whether all of it is gone, so that the object itself may go
 */
export async function wipeExternalData(databases: ColdDatabases, workspaceId: string): Promise<boolean> {
  let calls = 0;
  for (const step of WIPE_STEPS) {
    for (;;) {
      if (calls++ === CALLS_AT_ONCE) return false;
      if (await step(databases, workspaceId)) break;
    }
  }
  return true;
}

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
