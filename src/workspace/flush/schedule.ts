import { type Backoff, delayOf } from "../../platform/backoff.ts";
import { maybe, one } from "../../platform/sql.ts";

/** A batch by what decides whether it goes into a range. */
export interface UnflushedBatch {
  commit: number;
  firstSeq: number;
  count: number;
  /** Bytes uncompressed, and as stored. */
  size: number;
  bodyBytes: number;
}

/** A run of a project's batches, whole ones, without a gap in `seq`. Both ends included. */
export interface FlushRange {
  firstSeq: number;
  lastSeq: number;
  firstCommit: number;
  lastCommit: number;
}

/** What one step takes at most. A batch that is larger by itself is a range by itself. */
export interface RangeLimits {
  entries: number;
  /** Uncompressed, and as stored. */
  bytes: number;
  storedBytes: number;
  batches: number;
}

/**
 * As many batches from the first one on as a range takes, up to a gap.
 * @param batches of one project, in order of `seq`
 */
export function chooseRange(batches: Iterable<UnflushedBatch>, limits: RangeLimits): FlushRange | null {
  let range: FlushRange | null = null;
  let bytes = 0;
  let storedBytes = 0;
  let taken = 0;
  for (const { commit, firstSeq, count, size, bodyBytes } of batches) {
    const lastSeq = firstSeq + count - 1;
    bytes += size;
    storedBytes += bodyBytes;
    taken++;
    if (range === null) {
      range = { firstSeq, lastSeq, firstCommit: commit, lastCommit: commit };
      continue;
    }
    const entries = lastSeq - range.firstSeq + 1;
    if (firstSeq !== range.lastSeq + 1 || taken > limits.batches) break;
    if (entries > limits.entries || bytes > limits.bytes || storedBytes > limits.storedBytes) break;
    range.lastSeq = lastSeq;
    range.lastCommit = commit;
  }
  return range;
}

/** When entries move to the cold tier. */
export interface FlushBounds {
  /** Milliseconds that a batch stays here at most. */
  maxAgeMs: number;
  /** Bytes as stored that stay here at most. */
  maxBytes: number;
}

/** What waits to be moved. `oldestAt`: when the oldest batch arrived, epoch milliseconds; null where none waits. */
export interface UnflushedTotals {
  bytes: number;
  oldestAt: number | null;
}

/** Once over `maxBytes`, the buffer is emptied to this part of it: else the next batch would be over it again. */
const DRAIN_TO = 1 / 2;

/** Delay after a failed step. */
const RETRY: Backoff = { firstMs: 1000, maxMs: 60_000 };

/**
 * When the next flush is due. Kept in memory, so that an ingest learns it for the price of an addition; what it stands for
 * is on disk and read again after waking.
 */
export class FlushSchedule {
  readonly #bounds: FlushBounds;
  #waiting: UnflushedTotals | null = null;
  #isDraining = false;
  #failures = 0;
  /** Nothing is due before this time. */
  #notBefore = 0;

  constructor(bounds: FlushBounds) {
    this.#bounds = bounds;
  }

  get isLoaded(): boolean {
    return this.#waiting !== null;
  }

  /** What waits is as `waiting` says. */
  load(waiting: UnflushedTotals): void {
    this.#waiting = { ...waiting };
    this.#judge(this.#waiting);
  }

  /** What waits has changed in a way that only disk knows. */
  unload(): void {
    this.#waiting = null;
  }

  /** A batch has been stored. */
  add(bytes: number, now: number): void {
    if (this.#waiting === null) return;
    this.#waiting.bytes += bytes;
    this.#waiting.oldestAt ??= now;
    this.#judge(this.#waiting);
  }

  /** A try has failed. @returns milliseconds to the next one */
  failed(now: number): number {
    const delay = delayOf(RETRY, this.#failures++);
    this.holdUntil(now + delay);
    return delay;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  holdUntil(at: number): void {
    this.#notBefore = at;
  }

  /**
   * @param isOpen whether a range is on its way already
   * @returns epoch milliseconds, also in the past; null where nothing waits
   */
  dueAt(isOpen: boolean): number | null {
    const oldestAt = this.#waiting?.oldestAt ?? null;
    if (isOpen || (this.#isDraining && oldestAt !== null)) return this.#notBefore;
    return oldestAt === null ? null : Math.max(oldestAt + this.#bounds.maxAgeMs, this.#notBefore);
  }

  #judge({ bytes }: UnflushedTotals): void {
    const { maxBytes } = this.#bounds;
    if (bytes > maxBytes) this.#isDraining = true;
    else if (bytes <= maxBytes * DRAIN_TO) this.#isDraining = false;
  }
}

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
    const select = "SELECT COALESCE(SUM(waiting_bytes), 0) AS bytes FROM projects";
    const { bytes } = one<{ bytes: number }>(this.#sql, select);
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
    const oldest = maybe<{ commit: number; project: number; receivedAt: number }>(
      this.#sql,
      `SELECT commit_no AS "commit", project, received_at AS receivedAt FROM batches
       WHERE commit_no >= ? AND project IN (SELECT num FROM projects)
         AND commit_no NOT IN (SELECT commit_no FROM set_aside)
       ORDER BY commit_no LIMIT 1`,
      this.#floor,
    );
    if (oldest) this.#floor = oldest.commit;
    return oldest;
  }
}
