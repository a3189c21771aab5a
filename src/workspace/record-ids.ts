import { ByteCache, ISOLATE_BUDGET } from "../platform/isolate-memory.ts";
import { maybe } from "../platform/sql.ts";
import { eachId, ID_BYTES, IdSet, wordsOf } from "./id-set.ts";

/** Ids of stored records, by which a record is recognized in whatever request it is sent again. */
export const RECORD_IDS_SCHEMA = [
  `CREATE TABLE record_ids (
     -- Row: ids of consecutive records of a project that clients gave ids, or whose key recognizes records.
     project INTEGER NOT NULL,
     -- 1 and up, in the order of the records.
     block INTEGER NOT NULL,
     -- When the first of them was stored.
     created_at INTEGER NOT NULL,
     -- 16 bytes for each record, the beginning of a SHA-256.
     ids BLOB NOT NULL,
     PRIMARY KEY (project, block)
   ) STRICT, WITHOUT ROWID`,
] as const;

export const RECORD_ID_BOUNDS = {
  /** Ids of a project. With more, the oldest are deleted down to `kept`. */
  most: 98_304,
  kept: 65_536,
  /** Milliseconds for which ids are remembered. */
  ageMs: 24 * 60 * 60 * 1000,
  /** Ids of a new row at most. */
  blockIds: 4_096,
  /** Ids and milliseconds for which a row is extended: each commit writes one row, new or extended. */
  openIds: 512,
  openMs: 10 * 60 * 1000,
} as const;

/** Rows that one sweep deletes. */
const SWEEP_ROWS = 1_000;

/** The ids of a project in memory, read from disk again after they were dropped. */
interface LoadedIds {
  set: IdSet;
  lastBlock: number;
}

/** Shared by all workspaces in the isolate. */
const loadedIds = new ByteCache<LoadedIds>(ISOLATE_BUDGET.recordIds, ({ set }) => set.free());

/** Bytes in memory of the ids of all workspaces in the isolate. */
export function recordIdBytes(): number {
  return loadedIds.held;
}

/**
 * The ids of a workspace's records of the last 24 hours, at least the newest 65,536 of each project. A row has the ids of
 * many records, because a row for each would double what ingest writes; they are searched in memory.
 *
 * Call `write` at the end of each transaction that has called `add`, and `forget` after a rollback.
 */
export class RecordIds {
  readonly #sql: SqlStorage;
  /** Identities of the projects in the cache. */
  readonly #projects = new Map<number, object>();
  /** Ids that were added in this transaction and are not written yet. */
  #added = new Map<number, Uint8Array[]>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Numbers of the ids that are stored, in order. @param ids 16 bytes each; zeros for a record without */
  known(project: number, ids: Uint8Array, now: number): number[] {
    const { set } = this.#load(project, now);
    const words = wordsOf(ids);
    const known: number[] = [];
    for (const { at, number } of eachId(words)) if (set.has(words, at)) known.push(number);
    return known;
  }

  /** Adds the ids of a request that is stored in this transaction. */
  add(project: number, ids: Uint8Array, now: number): void {
    const loaded = this.#load(project, now);
    const words = wordsOf(ids);
    const added = new Uint8Array(ids.length);
    let length = 0;
    for (const { at, number } of eachId(words)) {
      if (!loaded.set.add(words, at)) continue;
      added.set(ids.subarray(number * ID_BYTES, (number + 1) * ID_BYTES), length);
      length += ID_BYTES;
    }
    this.#keep(project, loaded);
    const before = this.#added.get(project) ?? [];
    this.#added.set(project, [...before, added.subarray(0, length)]);
  }

  /** Writes the ids that were added. */
  write(now: number): void {
    if (this.#added.size === 0) return;
    const added = this.#added;
    this.#added = new Map();
    for (const [project, parts] of added) this.#write(project, Buffer.concat(parts), now);
  }

  /** Deletes expired ids of all projects, some rows at a time. @returns whether none is left */
  sweep(now: number): boolean {
    const deleted = deleteSome(this.#sql, "created_at <= ?", now - RECORD_ID_BOUNDS.ageMs - RECORD_ID_BOUNDS.openMs);
    if (deleted > 0) for (const project of this.#projects.keys()) this.#drop(project);
    return deleted < SWEEP_ROWS;
  }

  /** Drops what is in memory. Call after a rollback. */
  forget(): void {
    for (const identity of this.#projects.values()) loadedIds.delete(identity);
    this.#projects.clear();
    this.#added.clear();
  }

  #write(project: number, ids: Uint8Array, now: number): void {
    const { openIds, openMs, blockIds, most } = RECORD_ID_BOUNDS;
    const loaded = this.#load(project, now);
    const last = maybe(
      this.#sql,
      "SELECT created_at, ids FROM record_ids WHERE project = ? AND block = ?",
      project,
      loaded.lastBlock,
    );
    // SAFETY: the column is `BLOB NOT NULL` in a STRICT table.
    const open = last === null ? null : new Uint8Array(last.ids as ArrayBuffer);
    if (open !== null && open.length + ids.length <= openIds * ID_BYTES && Number(last?.created_at) > now - openMs) {
      const joined = Buffer.concat([open, ids]);
      this.#sql.exec(
        "UPDATE record_ids SET ids = ? WHERE project = ? AND block = ?",
        joined,
        project,
        loaded.lastBlock,
      );
      return;
    }
    for (let at = 0; at < ids.length; at += blockIds * ID_BYTES) {
      const block = ids.slice(at, at + blockIds * ID_BYTES);
      this.#sql.exec("INSERT INTO record_ids VALUES (?, ?, ?, ?)", project, ++loaded.lastBlock, now, block);
    }
    if (loaded.set.size > most) this.#deleteOldest(project);
  }

  /** Deletes the oldest ids of a project, so that their number is bounded. */
  #deleteOldest(project: number): void {
    let kept = 0;
    const blocks = this.#sql.exec(
      "SELECT block, length(ids) AS bytes FROM record_ids WHERE project = ? ORDER BY block DESC",
      project,
    );
    for (const { block, bytes } of blocks.toArray()) {
      if (kept >= RECORD_ID_BOUNDS.kept) {
        this.#sql.exec("DELETE FROM record_ids WHERE project = ? AND block <= ?", project, block);
        break;
      }
      kept += Number(bytes) / ID_BYTES;
    }
    this.#drop(project);
  }

  #drop(project: number): void {
    const identity = this.#projects.get(project);
    if (identity !== undefined) loadedIds.delete(identity);
  }

  #load(project: number, now: number): LoadedIds {
    const identity = this.#projects.get(project);
    const known = identity && loadedIds.get(identity);
    if (known !== undefined) return known;
    const set = new IdSet();
    let lastBlock = 0;
    const rows = this.#sql.exec(
      "SELECT block, created_at, ids FROM record_ids WHERE project = ? ORDER BY block",
      project,
    );
    for (const row of rows) {
      lastBlock = Number(row.block);
      // SAFETY: the column is `BLOB NOT NULL` in a STRICT table.
      if (!isExpired(Number(row.created_at), now)) addAll(set, new Uint8Array(row.ids as ArrayBuffer));
    }
    for (const ids of this.#added.get(project) ?? []) addAll(set, ids);
    return this.#keep(project, { set, lastBlock });
  }

  #keep(project: number, loaded: LoadedIds): LoadedIds {
    const identity = this.#projects.get(project) ?? {};
    this.#projects.set(project, identity);
    loadedIds.set(identity, loaded, loaded.set.bytes);
    return loaded;
  }
}

function addAll(set: IdSet, ids: Uint8Array): void {
  const words = wordsOf(ids);
  for (const { at } of eachId(words)) set.add(words, at);
}

/** Whether a row's newest id, which may be younger than the row, is too old. */
function isExpired(createdAt: number, now: number): boolean {
  return createdAt <= now - RECORD_ID_BOUNDS.ageMs - RECORD_ID_BOUNDS.openMs;
}

/** Deletes some ids of a deleted project. @returns whether none is left */
export function deleteSomeRecordIds(sql: SqlStorage, project: number): boolean {
  return deleteSome(sql, "project = ?", project) < SWEEP_ROWS;
}

/** @returns the number of rows that were deleted */
function deleteSome(sql: SqlStorage, condition: "created_at <= ?" | "project = ?", value: number): number {
  const { rowsWritten } = sql.exec(
    `DELETE FROM record_ids WHERE (project, block) IN
       (SELECT project, block FROM record_ids WHERE ${condition} LIMIT ${SWEEP_ROWS})`,
    value,
  );
  return rowsWritten;
}
