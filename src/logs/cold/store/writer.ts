import type { D1Database } from "@cloudflare/workers-types";
import type { EncodedSegment } from "../format/segment.ts";
import { insertStatement } from "./insert-statement.ts";

export interface SegmentTotals {
  segments: number;
  entries: number;
  /** Bytes as stored. */
  bytes: number;
}

/** Totals of the segments in a range. */
export interface StoredRange extends SegmentTotals {
  /** Keys of their files in the bucket. */
  files: string[];
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

/** A range of segments, both ends included. */
export interface StoredCover {
  firstSeq: number;
  lastSeq: number;
  entries: number;
}

/** A run of a project's `seq`. Selects the ranges that begin in it. */
export interface ProjectRange {
  projectId: string;
  from: number;
  to: number;
}

/** Selects the segments that no compaction has replaced. Every statement that finds or counts segments has it. */
export const CURRENT = "replaced_at IS NULL";

const OF_RANGE = `WHERE workspace_id = ? AND project_id = ? AND first_seq BETWEEN ? AND ? AND ${CURRENT}`;

const TOTALS = `SELECT count(*) AS segments, coalesce(sum(count), 0) AS entries, coalesce(sum(stored_bytes), 0) AS bytes
  FROM segments`;

const RANGE_TOTALS = `SELECT count(*) AS segments, coalesce(sum(count), 0) AS entries,
    coalesce(sum(stored_bytes), 0) AS bytes, json_group_array(file) FILTER (WHERE file IS NOT NULL) AS files
  FROM segments ${OF_RANGE}`;

/** Writes and counts the segments of one D1 database. Every statement names a workspace. */
export class SegmentWriter {
  readonly #db: D1Database;
  #databaseBytes = 0;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** Bytes of the database after the last range was stored; 0 before. */
  get databaseBytes(): number {
    return this.#databaseBytes;
  }

  /**
   * Inserts all segments of one range, or none. Safe to repeat, whatever the outcome of the first call was, also by a
   * version that encodes the range differently: the segments inserted first stay.
   *
   * @param segments result of `encodeFiles` or `encodeSegments` for the range, all of one project. Their files are in the
   * bucket, and orphans since `noteFiles`
   * @param watermark of the project, before the range; only quarantined batches lie between the two
   * @returns totals of all segments from the watermark to the end of the range. If they are not exactly the entries of
   * the range, the caller must treat that as a fault. Of the segments' files, only those that it returns have a row
   */
  async insertSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark = (segments[0]?.firstSeq ?? 1) - 1,
  ): Promise<StoredRange> {
    return this.#store(workspaceId, segments, watermark, null);
  }

  /**
   * Like `insertSegments`, but replaces all segments from the watermark to the end of the range. No reader has seen
   * those, and the object's copy is complete and authoritative.
   * @param now epoch milliseconds
   */
  async replaceSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark: number,
    now: number,
  ): Promise<StoredRange> {
    return this.#store(workspaceId, segments, watermark, now);
  }

  /** @param replacedAt when the segments of the range are replaced; `null`: they stay */
  async #store(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark: number,
    replacedAt: number | null,
  ): Promise<StoredRange> {
    const [first] = segments;
    if (first === undefined) return storedRangeOf(null);
    const lastSeq = segments.reduce((last, segment) => Math.max(last, segment.lastSeq), 0);
    // Inserts the first part last. It marks the range as stored: with it in place, no segment of the range is inserted
    // again.
    const inserts = [...segments.slice(1), first].map((segment) =>
      insertStatement(this.#db, workspaceId, segment, first.firstSeq),
    );
    const params = [workspaceId, first.projectId, watermark + 1, lastSeq];
    const statement = (sql: string, ...more: (string | number)[]) => this.#db.prepare(sql).bind(...more, ...params);
    const before =
      replacedAt === null
        ? []
        : [statement(NOTE_REPLACED, workspaceId, replacedAt), statement(`DELETE FROM segments ${OF_RANGE}`)];
    const after = segments.some(({ file }) => file !== null) ? [statement(FORGET_NAMED)] : [];
    const totals = statement(RANGE_TOTALS);
    const results = await this.#db.batch<RangeRow>([...before, ...inserts, ...after, totals]);
    const last = results.at(-1);
    this.#databaseBytes = last?.meta.size_after ?? 0;
    return storedRangeOf(last?.results[0]);
  }

  /**
   * Records files as orphans before they are put in the bucket, so that none stays there if no row follows.
   * @param now epoch milliseconds
   */
  async noteFiles(workspaceId: string, files: readonly string[], now: number): Promise<void> {
    await this.#db
      .prepare(
        `INSERT INTO orphans (file, workspace_id, noted_at) SELECT value, ?1, ?2 FROM json_each(?3) WHERE true
         ON CONFLICT (file) DO UPDATE SET noted_at = ?2`,
      )
      .bind(workspaceId, now, JSON.stringify(files))
      .run();
  }

  /** Returns the totals of the ranges that begin in a run of `seq`. */
  async totalsOfRange(workspaceId: string, { projectId, from, to }: ProjectRange): Promise<SegmentTotals> {
    const statement = this.#db.prepare(`${TOTALS} ${OF_RANGE}`).bind(workspaceId, projectId, from, to);
    return totalsOf(await statement.first<SegmentTotals>());
  }

  /**
   * Returns the ranges of a project's segments that overlap a run of `seq`, in order, each with its entries. The parts of one
   * range count together.
   */
  async covers(
    workspaceId: string,
    projectId: string,
    { from, to }: { from: number; to: number },
  ): Promise<StoredCover[]> {
    const { results } = await this.#db
      .prepare(
        // Ranges do not overlap, so the one that contains `from` has the largest `first_seq` up to `from`.
        `SELECT first_seq AS firstSeq, max(last_seq) AS lastSeq, sum(count) AS entries FROM segments
         WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq <= ?4 AND last_seq >= ?3 AND ${CURRENT}
           AND first_seq >= coalesce((SELECT first_seq FROM segments WHERE workspace_id = ?1 AND project_id = ?2
             AND first_seq <= ?3 AND ${CURRENT} ORDER BY first_seq DESC LIMIT 1), 0)
         GROUP BY first_seq ORDER BY first_seq`,
      )
      .bind(workspaceId, projectId, from, to)
      .all<StoredCover>();
    return results;
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
}

function totalsOf(row: SegmentTotals | null | undefined): SegmentTotals {
  return row ?? { segments: 0, entries: 0, bytes: 0 };
}

/** Row of `RANGE_TOTALS`. */
type RangeRow = SegmentTotals & { files: string };

function storedRangeOf(row: RangeRow | null | undefined): StoredRange {
  if (!row) return { segments: 0, entries: 0, bytes: 0, files: [] };
  // SAFETY: `json_group_array` of a text column.
  return { ...row, files: JSON.parse(row.files) as string[] };
}

/** The files of the segments in a range become orphans. */
const NOTE_REPLACED = `INSERT INTO orphans (workspace_id, noted_at, file)
  SELECT ?, ?, file FROM segments ${OF_RANGE} AND file IS NOT NULL
  ON CONFLICT (file) DO NOTHING`;
/** Files that the segments of a range name are no orphans. */
const FORGET_NAMED = `DELETE FROM orphans WHERE file IN (SELECT file FROM segments ${OF_RANGE} AND file IS NOT NULL)`;
