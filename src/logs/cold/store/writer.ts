import type { D1Database, D1PreparedStatement } from "@cloudflare/workers-types";
import type { EncodedSegment } from "../format/segment.ts";
import { toHex } from "./hex.ts";

export interface SegmentTotals {
  segments: number;
  entries: number;
  /** Bytes as stored. */
  bytes: number;
}

/** Watermark of a project: its last `seq` in the cold tier. */
export interface Watermark {
  projectId: string;
  seq: number;
}

export interface ProjectCoverage {
  projectId: string;
  segments: number;
  entries: number;
  firstSeq: number;
  lastSeq: number;
}

/** A run of a project's `seq`. Selects the ranges that begin in it. */
export interface ProjectRange {
  projectId: string;
  from: number;
  to: number;
}

/** Maximum number of rows that one call deletes. Each row frees a hundred pages or more. */
export const DELETION_ROWS = 50;

/** Selects the segments that no compaction has replaced. Every statement that finds or counts segments has it. */
export const CURRENT = "replaced_at IS NULL";

const OF_RANGE = `WHERE workspace_id = ? AND project_id = ? AND first_seq BETWEEN ? AND ? AND ${CURRENT}`;

const TOTALS = `SELECT count(*) AS segments, coalesce(sum(count), 0) AS entries, coalesce(sum(stored_bytes), 0) AS bytes
  FROM segments`;

/** Writes, deletes and counts the segments of one D1 database. Every statement names a workspace. */
export class SegmentWriter {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /**
   * Inserts all segments of one range, or none. Safe to repeat, whatever the outcome of the first call was, also by a
   * version that encodes the range differently: the segments inserted first stay.
   *
   * @param segments result of `encodeSegments` for the range, all of one project
   * @param watermark of the project, before the range; only quarantined batches lie between the two
   * @returns totals of all segments from the watermark to the end of the range. If they are not exactly the entries of
   * the range, the caller must treat that as a fault.
   */
  async insertSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark = (segments[0]?.firstSeq ?? 1) - 1,
  ): Promise<SegmentTotals> {
    return this.#store(workspaceId, segments, watermark, false);
  }

  /**
   * Like `insertSegments`, but replaces all segments from the watermark to the end of the range. No reader has seen
   * those, and the object's copy is complete and authoritative.
   */
  async replaceSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark: number,
  ): Promise<SegmentTotals> {
    return this.#store(workspaceId, segments, watermark, true);
  }

  async #store(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark: number,
    isReplacing: boolean,
  ): Promise<SegmentTotals> {
    const [first] = segments;
    if (first === undefined) return { segments: 0, entries: 0, bytes: 0 };
    const lastSeq = segments.reduce((last, segment) => Math.max(last, segment.lastSeq), 0);
    // Inserts the first part last. It marks the range as stored: with it in place, no segment of the range is inserted
    // again.
    const inserts = [...segments.slice(1), first].map((segment) =>
      insertStatement(this.#db, workspaceId, segment, first.firstSeq),
    );
    const params = [workspaceId, first.projectId, watermark + 1, lastSeq];
    const before = isReplacing ? [this.#db.prepare(`DELETE FROM segments ${OF_RANGE}`).bind(...params)] : [];
    const totals = this.#db.prepare(`${TOTALS} ${OF_RANGE}`).bind(...params);
    const results = await this.#db.batch<SegmentTotals>([...before, ...inserts, totals]);
    return totalsOf(results.at(-1)?.results[0]);
  }

  /** Returns the totals of the ranges that begin in a run of `seq`. */
  async totalsOfRange(workspaceId: string, { projectId, from, to }: ProjectRange): Promise<SegmentTotals> {
    const statement = this.#db.prepare(`${TOTALS} ${OF_RANGE}`).bind(workspaceId, projectId, from, to);
    return totalsOf(await statement.first<SegmentTotals>());
  }

  /** Like `totalsOfRange`, for several runs of one project. Returns one result for each. */
  async totalsOfRanges(
    workspaceId: string,
    projectId: string,
    ranges: readonly { firstSeq: number; lastSeq: number }[],
  ): Promise<SegmentTotals[]> {
    const wanted = ranges.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq]);
    const { results } = await this.#db
      .prepare(
        `SELECT wanted.key AS at, count(segments.id) AS segments, coalesce(sum(count), 0) AS entries,
           coalesce(sum(stored_bytes), 0) AS bytes
         FROM json_each(?3) AS wanted LEFT JOIN segments ON workspace_id = ?1 AND project_id = ?2
           AND first_seq BETWEEN wanted.value ->> 0 AND wanted.value ->> 1 AND ${CURRENT} GROUP BY wanted.key`,
      )
      .bind(workspaceId, projectId, JSON.stringify(wanted))
      .all<SegmentTotals & { at: number }>();
    const found = new Map(results.map(({ at, ...totals }) => [at, totals]));
    return ranges.map((_, index) => totalsOf(found.get(index)));
  }

  /** Returns the coverage of projects: segments, entries, and the first and last `seq`. */
  async coverageOf(workspaceId: string, projectIds: readonly string[]): Promise<ProjectCoverage[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT project_id AS projectId, count(*) AS segments, sum(count) AS entries, min(first_seq) AS firstSeq,
           max(last_seq) AS lastSeq
         FROM segments WHERE workspace_id = ? AND project_id IN (SELECT value FROM json_each(?)) AND ${CURRENT}
         GROUP BY project_id`,
      )
      .bind(workspaceId, JSON.stringify(projectIds))
      .all<ProjectCoverage>();
    return results;
  }

  /** Deletes the segments of ranges that begin in a run of `seq`. */
  async deleteRange(workspaceId: string, { projectId, from, to }: ProjectRange): Promise<void> {
    await this.#db.prepare(`DELETE FROM segments ${OF_RANGE}`).bind(workspaceId, projectId, from, to).run();
  }

  /** Returns the totals of a workspace. Reads each of its rows, 10,000 for 100 million entries. */
  async usage(workspaceId: string): Promise<SegmentTotals> {
    return totalsOf(
      await this.#db
        .prepare(`${TOTALS} WHERE workspace_id = ? AND ${CURRENT}`)
        .bind(workspaceId)
        .first<SegmentTotals>(),
    );
  }

  /**
   * Returns the totals of a workspace up to the watermarks that its object returned. Later segments, and entries that
   * the object still counts as recent, are above them. Deleted projects have no watermark.
   */
  async usageUpTo(workspaceId: string, watermarks: readonly Watermark[]): Promise<SegmentTotals> {
    const flushed = watermarks.filter(({ seq }) => seq > 0);
    if (flushed.length === 0) return totalsOf(null);
    const totals = await this.#db
      .prepare(
        `${TOTALS} JOIN json_each(?2) AS project ON project_id = project.value ->> 'projectId'
           AND last_seq <= project.value ->> 'seq'
         WHERE workspace_id = ?1 AND ${CURRENT}`,
      )
      .bind(workspaceId, JSON.stringify(flushed))
      .first<SegmentTotals>();
    return totalsOf(totals);
  }

  /**
   * Deletes some of a project's segments. Call again until the result is 0.
   * @returns the number of deleted rows
   */
  async deleteOfProject(workspaceId: string, projectId: string): Promise<number> {
    return this.#delete("workspace_id = ?1 AND project_id = ?2", [workspaceId, projectId]);
  }

  async deleteOfWorkspace(workspaceId: string): Promise<number> {
    return this.#delete("workspace_id = ?1", [workspaceId]);
  }

  /** Deletes some of a workspace's segments whose newest entry is older than `cutoff`, epoch milliseconds. */
  async deleteOlder(workspaceId: string, cutoff: number): Promise<number> {
    return this.#delete("workspace_id = ?1 AND max_ts < ?2", [workspaceId, cutoff]);
  }

  async #delete(condition: string, params: (string | number)[]): Promise<number> {
    const { meta } = await this.#db
      .prepare(
        `DELETE FROM segments WHERE id IN
           (SELECT id FROM segments WHERE ${condition} LIMIT ${DELETION_ROWS})`,
      )
      .bind(...params)
      .run();
    return meta.changes;
  }
}

function totalsOf(row: SegmentTotals | null | undefined): SegmentTotals {
  return row ?? { segments: 0, entries: 0, bytes: 0 };
}

/** Number of values before the blobs in `INSERT`, and number of blobs. */
const PLAIN_VALUES = 19;
const BLOBS = 7;
const VALUES = Array.from({ length: PLAIN_VALUES + BLOBS }, (_, index) =>
  index < PLAIN_VALUES ? `?${index + 1}` : `unhex(?${index + 1})`,
);
const KEY_COLUMNS = "project_id, first_seq, part";

/**
 * Ignores only a conflict with an existing row. `OR IGNORE` would also ignore a violated constraint. A replaced row marks its
 * range as stored, too: a late writer must not insert the range beside the segment that replaced it.
 */
const INSERT = `INSERT INTO segments (workspace_id, ${KEY_COLUMNS}, last_seq, count, min_ts, max_ts, min_commit,
  max_commit, level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, format, file,
  frames, levels, summary, directory, filter, frame_filter, body) SELECT ${VALUES.join(", ")} WHERE NOT EXISTS (SELECT 1 FROM segments
    WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq = ?${PLAIN_VALUES + BLOBS + 1} AND part = 0)
  ON CONFLICT (workspace_id, ${KEY_COLUMNS}) DO NOTHING`;

/**
 * Inserts a segment, unless its range is already stored.
 * @param rangeFirstSeq first `seq` of the range. A segment at it marks the whole range as stored.
 */
function insertStatement(
  db: D1Database,
  workspaceId: string,
  segment: EncodedSegment,
  rangeFirstSeq: number,
): D1PreparedStatement {
  const { levels, summary, batchTable, filter, blockFilter, body, blocks } = segment;
  return db
    .prepare(INSERT)
    .bind(
      workspaceId,
      segment.projectId,
      segment.firstSeq,
      segment.part,
      segment.lastSeq,
      segment.count,
      segment.minTimestamp,
      segment.maxTimestamp,
      segment.minCommit,
      segment.maxCommit,
      segment.levelMask,
      segment.categoryMask,
      segment.rawBytes,
      segment.storedBytes,
      segment.filterKinds,
      segment.blockKinds,
      segment.slotBytes,
      segment.format,
      segment.file,
      ...[blocks, levels, summary, batchTable, filter, blockFilter, body].map(toHex),
      rangeFirstSeq,
    );
}
