import type { Watermark } from "../logs/cold/store/writer.ts";
import { maybe, one } from "../platform/sql.ts";
import { readProgress } from "./flush/flushed-ranges.ts";

/**
 * Bytes of an object's storage from which it takes in nothing more, so that there is room left to work on what it holds.
 * The platform's bound is 10 GB.
 */
export const STORAGE_BOUND = { bytes: 8 * 1024 ** 3 };

/** Bytes taken in between two looks at the size, which cost 6 us each: little beside the room behind the bound. */
const LOOK_EVERY_BYTES = 64 * 1024 * 1024;

/** Whether an object's storage has room for more. */
export class StorageRoom {
  readonly #sql: Pick<SqlStorage, "databaseSize">;
  #isFull = true;
  #sinceLook = 0;

  constructor(sql: Pick<SqlStorage, "databaseSize">) {
    this.#sql = sql;
  }

  isFull(): boolean {
    // One that is full is looked at each time: it may have room again.
    if (this.#isFull || this.#sinceLook >= LOOK_EVERY_BYTES) {
      this.#isFull = this.#sql.databaseSize >= STORAGE_BOUND.bytes;
      this.#sinceLook = 0;
    }
    return this.#isFull;
  }

  /** So many bytes have been stored. */
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

/** Get the usage of a workspace. Times are epoch milliseconds. */
export interface Usage {
  /** The recent tier. `bytes` as stored; `oldestAt` is when its oldest batch arrived. */
  recent: { entries: number; bytes: number; oldestAt: number | null };
  /** Up to where the cold tier holds each project: what it holds is counted there, see `SegmentWriter.usageUpTo`. */
  watermarks: Watermark[];
  /** Entries accepted since 00:00 UTC, those of projects deleted since included. */
  ingestedToday: number;
  /** `setAside`: batches that the cold tier cannot take. `lastError` is null after a flush that went well. */
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

/** Commit numbers rise with the time of arrival. Batches of deleted projects are nobody's: they wait for their end. */
function oldestAt(sql: SqlStorage): number | null {
  const select = "SELECT received_at AS at FROM batches WHERE project IN (SELECT num FROM projects)";
  return maybe<{ at: number }>(sql, `${select} ORDER BY commit_no LIMIT 1`)?.at ?? null;
}

/**
 * How many entries the projects have taken in on a day: `seq` has no gap, so it is how far each has risen since its
 * `day_seq`. What projects deleted on that day had taken in is kept in the workspace's row.
 */
function ingestedOn(sql: SqlStorage, day: number): number {
  return one<{ count: number }>(
    sql,
    `SELECT COALESCE((SELECT SUM(last_seq - day_seq) FROM projects WHERE day = ?1), 0)
       + (SELECT CASE WHEN deleted_day = ?1 THEN deleted_ingested ELSE 0 END FROM workspace) AS count`,
    day,
  ).count;
}

/** To be called before a project is deleted: what it took in today still counts today. */
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
