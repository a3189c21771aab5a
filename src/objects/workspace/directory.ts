import { suffixedSlug } from "../../accounts/email.ts";
import { randomBase62 } from "../../ids.ts";
import { ColdCleaner } from "../../logs/cold/store/cold-cleaner.ts";
import type { ColdDatabases } from "../../logs/cold/store/sources.ts";
import type { Duty } from "../../platform/alarm.ts";
import type { Origin } from "../../platform/origin.ts";
import {
  deleteDirectoryChanges,
  hasDirectoryChanges,
  isDirectoryIncomplete,
  markAllChanged,
  readDirectoryChanges,
} from "../../workspace/directory-changes.ts";
import {
  applyDirectoryChanges,
  listingOf,
  restoreWorkspaceListing,
  slugOf,
  unlistWorkspace,
} from "../../workspace/listing.ts";
import { confirmListed } from "../../workspace/provision.ts";
import type { WorkspaceCore } from "./core.ts";

/** Maximum number of rows that one statement deletes. */
const CHUNK_ROWS = 1000;

/**
 * Deletes some of the external data of a deleted workspace, of one kind.
 * @returns whether no data of this kind is left; otherwise the caller repeats the step
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

const deleteSegments: WipeStep = async (databases, workspaceId) => {
  const { isDone } = await new ColdCleaner(databases).deleteOfWorkspace(workspaceId);
  return isDone;
};

/** In the order of execution. Unlisting comes first: it hides the workspace and frees its slug. */
const WIPE_STEPS: readonly WipeStep[] = [unlist, deleteViolations, deleteSegments];

/** Maximum number of D1 calls of one alarm. */
const CALLS_AT_ONCE = 20;

/**
 * Deletes external data of a deleted workspace, with at most `CALLS_AT_ONCE` calls of D1. Safe to repeat.
 * @returns whether all of it is deleted, so that the object's own storage can be deleted
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

/** Characters of the suffix for a slug that another workspace has taken in the meantime: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/** Milliseconds until changes that D1 did not take are sent again. */
const RETRY_MS = 30_000;

/** Milliseconds between two comparisons of the directory with the object: each is a read of D1. */
const REPAIR_INTERVAL_MS = 60 * 60 * 1000;

/** The workspace's part of the directory in D1: its slug, its name and its members. */
export class Directory {
  readonly changes: Duty = {
    name: "directory changes",
    dueAt: (now) => (hasDirectoryChanges(this.#core.state.sql) ? now + RETRY_MS : null),
    run: (_now, origin) => this.update(origin),
  };
  /** Runs with the hourly alarm of other duties. */
  readonly repair: Duty = {
    name: "directory repair",
    dueAt: () => null,
    run: (now, origin) => this.#repairIfDue(now, origin),
  };
  readonly #core: WorkspaceCore;
  readonly #db: D1Database;
  #updating: Promise<void> | null = null;
  /** When the directory is next compared with the object; at the first alarm after waking. */
  #nextRepairAt = 0;

  constructor(core: WorkspaceCore, db: D1Database) {
    this.#core = core;
    this.#db = db;
  }

  /** Returns the slug that the directory has for this workspace, read at the first need; `null` if it lists none. */
  async slug(): Promise<string | null> {
    const { row } = this.#core.state;
    if (!row || row.slug !== null) return row?.slug ?? null;
    const slug = await slugOf(this.#db, row.id);
    if (slug !== null) this.confirm(slug);
    return slug;
  }

  /** Stores the slug under which the directory lists the workspace. Safe to repeat. */
  confirm(slug: string): void {
    const { state } = this.#core;
    state.transaction(({ sql }) => confirmListed(sql, slug));
    state.invalidateSettings();
  }

  /** Sends the changes to D1, one batch at a time. The alarm retries after a failure. Throws nothing. */
  update(origin: Origin): Promise<void> {
    this.#updating ??= this.#applyChanges()
      .catch((error: unknown) => {
        this.#core.failed("workspace.index", error, origin);
        this.#core.state.alarm.by(Date.now() + RETRY_MS);
      })
      .finally(() => {
        this.#updating = null;
      });
    return this.#updating;
  }

  async #applyChanges(): Promise<void> {
    for (;;) {
      const { row, sql } = this.#core.state;
      const changes = row && readDirectoryChanges(sql);
      if (!changes) return;
      await applyDirectoryChanges(this.#db, row.id, changes);
      this.#core.state.transaction((admission) => deleteDirectoryChanges(admission.sql, changes));
    }
  }

  /** Compares the directory with the object once an hour and restores what the directory lost. Throws nothing. */
  async #repairIfDue(now: number, run: Origin): Promise<void> {
    if (now < this.#nextRepairAt) return;
    this.#nextRepairAt = now + REPAIR_INTERVAL_MS;
    try {
      const hadLost = await this.#repair(run);
      const workspaceId = this.#core.state.row?.id;
      if (hadLost) this.#core.log("warn", run, { event: "workspace.relist", outcome: "ok", workspaceId });
    } catch (error) {
      this.#core.failed("workspace.relist", error, run);
    }
  }

  /**
   * Restores this workspace's part of the directory, which is an index of the objects. Costs a read of D1.
   * @returns whether the directory had lost anything
   */
  async #repair(run: Origin): Promise<boolean> {
    const { state } = this.#core;
    const slug = await this.slug();
    const { row, sql } = state;
    // The workspace was never listed, or its changes are about to be sent.
    if (!row || slug === null || hasDirectoryChanges(sql)) return false;
    const { id, name, personalOf, createdAt } = row;
    const listing = await listingOf(this.#db, id);
    if (!state.row || (listing && !isDirectoryIncomplete(sql, listing))) return false;
    if (!listing) {
      const fallbackSlug = suffixedSlug(slug, randomBase62(SLUG_SUFFIX_LENGTH));
      const given = await restoreWorkspaceListing(this.#db, { id, name, slug, fallbackSlug, personalOf, createdAt });
      // A workspace that was deleted during the call to D1 must not be listed again.
      if (!state.row) await unlistWorkspace(this.#db, id);
      else this.confirm(given);
    }
    state.transaction((admission) => markAllChanged(admission.sql));
    await this.update(run);
    return true;
  }
}
