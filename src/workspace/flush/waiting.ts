import { chooseRange, type FlushRange, type RangeLimits } from "./range.ts";
import type { UnflushedTotals } from "./schedule.ts";

/**
 * A segment takes 10,000 entries, 8 MiB of lines and 1 MB of what they compress to: a range that is far over that is made
 * into segments again and again until they fit. One of 4,000 batches is still large, and deleting them stalls no writer.
 */
const RANGE_LIMITS: RangeLimits = { entries: 10_000, bytes: 8 * 1024 * 1024, storedBytes: 1_500_000, batches: 4000 };
/** Rows that are looked through for a range's batches: those of other projects stand between them. */
const SCAN_ROWS = 20_000;

interface Oldest {
  commit: number;
  project: number;
  receivedAt: number;
}

/** The batches that are to be moved: those of live projects that were not set aside. */
export class UnflushedBatches {
  readonly #sql: SqlStorage;
  /** No batch below this commit number waits, and none ever will: they leave, and new ones have higher numbers. */
  #floor = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  forget(): void {
    this.#floor = 0;
  }

  summary(): UnflushedTotals {
    const { bytes } = this.#sql
      .exec<{ bytes: number }>("SELECT COALESCE(SUM(waiting_bytes), 0) AS bytes FROM projects")
      .one();
    return { bytes, oldestAt: this.#oldest()?.receivedAt ?? null };
  }

  /** What goes next: the oldest batch's project, and as much of it as a range takes. */
  nextRange(): ({ project: number } & FlushRange) | null {
    const oldest = this.#oldest();
    if (oldest === null) return null;
    const { commit, project } = oldest;
    const batches = this.#sql.exec<{
      commit: number;
      firstSeq: number;
      count: number;
      size: number;
      bodyBytes: number;
    }>(
      `SELECT commit_no AS "commit", first_seq AS firstSeq, count, size, body_bytes AS bodyBytes
       FROM (SELECT * FROM batches WHERE commit_no >= ?1 ORDER BY commit_no LIMIT ${SCAN_ROWS})
       WHERE project = ?2 AND commit_no NOT IN (SELECT commit_no FROM set_aside) ORDER BY commit_no`,
      commit,
      project,
    );
    const range = chooseRange(batches, RANGE_LIMITS);
    return range && { project, ...range };
  }

  #oldest(): Oldest | null {
    const oldest = this.#sql
      .exec<{ commit: number; project: number; receivedAt: number }>(
        `SELECT commit_no AS "commit", project, received_at AS receivedAt FROM batches
         WHERE commit_no >= ? AND project IN (SELECT num FROM projects)
           AND commit_no NOT IN (SELECT commit_no FROM set_aside)
         ORDER BY commit_no LIMIT 1`,
        this.#floor,
      )
      .toArray()[0];
    if (oldest) this.#floor = oldest.commit;
    return oldest ?? null;
  }
}
