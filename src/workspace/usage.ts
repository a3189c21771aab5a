import type { Watermark } from "../logs/cold/store/writer.ts";
import { maybe, one } from "../platform/sql.ts";
import { readProgress } from "./flush/flushed-ranges.ts";

/**
 * Bytes of an object's storage above which it accepts no more entries, so that there is space left to process what it
 * has. The platform's limit is 10 GB.
 */
export const STORAGE_BOUND = { bytes: 8 * 1024 ** 3 };

/**
 * Bytes accepted between two checks of the size, which cost 6 us each. Small compared with the space above the bound.
 */
const LOOK_EVERY_BYTES = 64 * 1024 * 1024;

/** Whether an object's storage has space for more. */
export class StorageRoom {
  readonly #sql: Pick<SqlStorage, "databaseSize">;
  #isFull = true;
  #sinceLook = 0;

  constructor(sql: Pick<SqlStorage, "databaseSize">) {
    this.#sql = sql;
  }

  isFull(): boolean {
    // A full object checks each time, because there may be space again.
    if (this.#isFull || this.#sinceLook >= LOOK_EVERY_BYTES) {
      this.#isFull = this.#sql.databaseSize >= STORAGE_BOUND.bytes;
      this.#sinceLook = 0;
    }
    return this.#isFull;
  }

  /** Adds stored bytes. */
  took(bytes: number): void {
    this.#sinceLook += bytes;
  }
}

/** Milliseconds of a UTC day. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** Days since the epoch, in UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** The usage of a workspace. Times are epoch milliseconds. */
export interface Usage {
  /** The recent tier. `bytes` as stored; `oldestAt` is when its oldest batch arrived. */
  recent: { entries: number; bytes: number; oldestAt: number | null };
  /** The `seq` up to which the cold tier has each project; `SegmentWriter.usageUpTo` counts these entries. */
  watermarks: Watermark[];
  /** Entries accepted since 00:00 UTC, including those of projects deleted since. */
  ingestedToday: number;
  /** `setAside`: quarantined batches. `lastError` is `null` after a successful flush. */
  flush: { pendingBatches: number; setAside: number; lastAt: number | null; lastError: string | null };
}

export function readUsage(sql: SqlStorage, now: number): Usage {
  const waiting = one<{ entries: number; bytes: number; batches: number }>(
    sql,
    `SELECT COALESCE(SUM(waiting_entries), 0) AS entries, COALESCE(SUM(waiting_bytes), 0) AS bytes,
       COALESCE(SUM(waiting_batches), 0) AS batches FROM projects`,
  );
  const { setAside, lastAt, lastError } = readProgress(sql);
  const watermarks = sql
    .exec<{ projectId: string; seq: number }>("SELECT id AS projectId, flushed_seq AS seq FROM projects")
    .toArray();
  return {
    recent: {
      entries: waiting.entries + setAside.entries,
      bytes: waiting.bytes + setAside.bytes,
      oldestAt: oldestAt(sql),
    },
    watermarks,
    ingestedToday: ingestedOn(sql, dayOf(now)),
    flush: { pendingBatches: waiting.batches, setAside: setAside.batches, lastAt, lastError },
  };
}

/** Commit numbers rise with the time of arrival. Batches of deleted projects are not counted; they await deletion. */
function oldestAt(sql: SqlStorage): number | null {
  const select = "SELECT received_at AS at FROM batches WHERE project IN (SELECT num FROM projects)";
  return maybe<{ at: number }>(sql, `${select} ORDER BY commit_no LIMIT 1`)?.at ?? null;
}

/**
 * Entries accepted by the projects on a day. Because `seq` has no gap, it is the increase of each project's `seq` since
 * its `day_seq`. The workspace's row has the entries of projects deleted on that day.
 */
function ingestedOn(sql: SqlStorage, day: number): number {
  return one<{ count: number }>(
    sql,
    `SELECT COALESCE((SELECT SUM(last_seq - day_seq) FROM projects WHERE day = ?1), 0)
       + (SELECT CASE WHEN deleted_day = ?1 THEN deleted_ingested ELSE 0 END FROM workspace) AS count`,
    day,
  ).count;
}

/** Adds a project's entries of today to the workspace's row. `deleteProject` calls it before it deletes the row. */
export function keepIngestedOf(sql: SqlStorage, project: number, now: number): void {
  const day = dayOf(now);
  sql.exec(
    `UPDATE workspace SET
       deleted_ingested = CASE WHEN deleted_day = ?1 THEN deleted_ingested ELSE 0 END
         + COALESCE((SELECT last_seq - day_seq FROM projects WHERE num = ?2 AND day = ?1), 0),
       deleted_day = ?1`,
    day,
    project,
  );
}
