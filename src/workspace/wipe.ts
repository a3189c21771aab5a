import { type ColdDatabases, ColdTier } from "../logs/cold/cold-tier.ts";
import { unlistWorkspace } from "./listing.ts";

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
