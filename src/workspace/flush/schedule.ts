import { type Backoff, delayOf } from "../../platform/backoff.ts";
import { ISOLATE_BUDGET } from "../../platform/isolate-memory.ts";
import { maybe } from "../../platform/sql.ts";

/** A batch with the columns that decide whether it fits into a range. */
export interface UnflushedBatch {
  commit: number;
  firstSeq: number;
  count: number;
  /** Uncompressed bytes, and stored bytes. */
  size: number;
  bodyBytes: number;
}

/** Whole consecutive batches of a project without a gap in `seq`. Inclusive at both ends. */
export interface FlushRange {
  firstSeq: number;
  lastSeq: number;
  firstCommit: number;
  lastCommit: number;
}

/**
 * Returns the bytes that a flush holds of batches: their lines and, beside each byte of them, up to 0.95 bytes while they are
 * encoded (a test measures it); the stored bytes in the object and in the writer.
 */
export function heldBytes(size: number, storedBytes: number): number {
  return 2 * (size + storedBytes);
}

/** Limits of one step. A batch that exceeds them is a range alone. */
export interface RangeLimits {
  entries: number;
  /** Bytes in memory (`heldBytes`), and stored bytes. */
  bytes: number;
  storedBytes: number;
  batches: number;
}

/**
 * Returns as many batches from the first one on as fit, up to a gap.
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
    if (entries > limits.entries || storedBytes > limits.storedBytes) break;
    if (heldBytes(bytes, storedBytes) > limits.bytes) break;
    range.lastSeq = lastSeq;
    range.lastCommit = commit;
  }
  return range;
}

/** Bounds of the recent tier, which decide when entries move to the cold tier. */
export interface FlushBounds {
  /** Maximum age of a batch in milliseconds. */
  maxAgeMs: number;
  /** The same while entries of a full range wait. */
  fullRangeAgeMs: number;
  /** Maximum stored bytes. */
  maxBytes: number;
}

/** Unflushed batches. `oldestAt`: arrival of the oldest one, epoch milliseconds; `null` without batches. */
export interface UnflushedTotals {
  bytes: number;
  oldestAt: number | null;
  /** Entries by number of their project. */
  entries: ReadonlyMap<number, number>;
}

/** Entries of a range at most, which is a row group of a segment. */
const RANGE_ENTRIES = 10_000;

/** Above `maxBytes`, the buffer is reduced to this fraction. Otherwise the next batch would exceed it again. */
const DRAIN_TO = 1 / 2;

/** Delay after a failed step. */
const RETRY: Backoff = { firstMs: 1000, maxMs: 60_000 };

/**
 * Computes when the next flush is due. Kept in memory, so that an ingest call costs an addition; read from storage
 * again after a start of the object.
 */
export class FlushSchedule {
  readonly #bounds: FlushBounds;
  #waiting: (UnflushedTotals & { entries: Map<number, number> }) | null = null;
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

  /** Sets the totals. */
  load(waiting: UnflushedTotals): void {
    this.#waiting = { ...waiting, entries: new Map(waiting.entries) };
    this.#judge(this.#waiting);
  }

  /** Drops the totals after a change that only storage reflects. */
  unload(): void {
    this.#waiting = null;
  }

  /** Adds a stored batch. @param project its number */
  add({ project, count, bytes }: { project: number; count: number; bytes: number }, now: number): void {
    if (this.#waiting === null) return;
    const { entries } = this.#waiting;
    entries.set(project, (entries.get(project) ?? 0) + count);
    this.#waiting.bytes += bytes;
    this.#waiting.oldestAt ??= now;
    this.#judge(this.#waiting);
  }

  /** Records a failed attempt. @returns milliseconds until the next one */
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
   * @param isOpen whether there is a flush intent
   * @returns epoch milliseconds, possibly in the past; `null` without unflushed batches
   */
  dueAt(isOpen: boolean): number | null {
    const oldestAt = this.#waiting?.oldestAt ?? null;
    if (isOpen || (this.#isDraining && oldestAt !== null)) return this.#notBefore;
    if (oldestAt === null) return null;
    const { maxAgeMs, fullRangeAgeMs } = this.#bounds;
    const ageMs = this.#fullest() === null ? maxAgeMs : Math.min(maxAgeMs, fullRangeAgeMs);
    return Math.max(oldestAt + ageMs, this.#notBefore);
  }

  /** Returns the project whose range is due because it is full; `null` if the oldest batch decides. */
  fullProject(now: number): number | null {
    const oldestAt = this.#waiting?.oldestAt ?? null;
    const isAged = oldestAt !== null && now >= oldestAt + this.#bounds.maxAgeMs;
    return this.#isDraining || isAged ? null : this.#fullest();
  }

  /** Returns the project with the most entries if they are a full range. */
  #fullest(): number | null {
    let fullest: number | null = null;
    let most = RANGE_ENTRIES - 1;
    for (const [project, entries] of this.#waiting?.entries ?? []) {
      if (entries <= most) continue;
      most = entries;
      fullest = project;
    }
    return fullest;
  }

  #judge({ bytes }: UnflushedTotals): void {
    const { maxBytes } = this.#bounds;
    if (bytes > maxBytes) this.#isDraining = true;
    else if (bytes <= maxBytes * DRAIN_TO) this.#isDraining = false;
  }
}

/**
 * A segment has at most 10,000 entries and 1 MB compressed: a range far above that would be encoded repeatedly until its
 * parts fit. A range of 4,000 batches is still large, and deleting them delays no writer.
 */
const RANGE_LIMITS: RangeLimits = {
  entries: RANGE_ENTRIES,
  bytes: ISOLATE_BUDGET.flush,
  storedBytes: 1_500_000,
  batches: 4000,
};
/** Rows scanned for a range's batches, because those of other projects are in between. */
const SCAN_ROWS = 20_000;

interface Oldest {
  commit: number;
  project: number;
  receivedAt: number;
}

/** Batches to be flushed: those of existing projects, without quarantined ones. */
export class UnflushedBatches {
  readonly #sql: SqlStorage;
  /**
   * No batch below this commit number is unflushed or ever will be: batches leave, and new ones have higher numbers.
   */
  #floor = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  forget(): void {
    this.#floor = 0;
  }

  summary(): UnflushedTotals {
    const select = `SELECT num AS project, waiting_entries AS entries, waiting_bytes AS bytes FROM projects
      WHERE waiting_entries > 0`;
    const entries = new Map<number, number>();
    let bytes = 0;
    for (const row of this.#sql.exec<{ project: number; entries: number; bytes: number }>(select)) {
      entries.set(row.project, row.entries);
      bytes += row.bytes;
    }
    return { bytes, oldestAt: this.#oldest()?.receivedAt ?? null, entries };
  }

  /**
   * Returns the next range: as many batches of one project as fit.
   * @param full the project; that of the oldest batch if it is `null` or has no batch among the oldest ones
   */
  nextRange(full: number | null = null): ({ project: number } & FlushRange) | null {
    const oldest = this.#oldest();
    if (oldest === null) return null;
    return (full === null ? null : this.#rangeOf(full, oldest)) ?? this.#rangeOf(oldest.project, oldest);
  }

  #rangeOf(project: number, { commit }: Oldest): ({ project: number } & FlushRange) | null {
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
