import type { D1Database, D1PreparedStatement } from "@cloudflare/workers-types";
import type { EncodedSegment } from "../format/segment.ts";

export interface SegmentTotals {
  segments: number;
  entries: number;
  /** As stored. */
  bytes: number;
}

/** Up to which `seq` a project's entries are in the cold tier. */
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

/** A run of a project's `seq`, in which ranges begin. */
export interface ProjectRange {
  projectId: string;
  from: number;
  to: number;
}

/** Rows that one call deletes: each frees a hundred pages and more. */
export const DELETION_ROWS = 50;

const OF_RANGE = "WHERE workspace_id = ? AND project_id = ? AND first_seq BETWEEN ? AND ?";

const TOTALS = `SELECT count(*) AS segments, coalesce(sum(count), 0) AS entries, coalesce(sum(stored_bytes), 0) AS bytes
  FROM segments`;

/** Writes, deletes and counts the segments of one D1 database. Every statement names a workspace. */
export class SegmentWriter {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /**
   * Stores all segments of one range, or none. Safe to repeat, whatever became of the first call, also by a version that
   * would cut the range otherwise: what is stored first stays.
   *
   * @param segments as `encodeSegments` gave them for the range, all of one project
   * @param watermark of the project, below the range: nothing but set-aside batches lies between
   * @returns what is stored from the watermark to the range's end now, by this call or an earlier one: anything but every
   * entry of the range once is a fault that the caller must not pass over
   */
  async insertSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark = (segments[0]?.firstSeq ?? 1) - 1,
  ): Promise<SegmentTotals> {
    return this.#store(workspaceId, segments, watermark, false);
  }

  /**
   * The same, in place of whatever lies between the watermark and the range's end. Nothing there has ever been read: the
   * object has it all, and holds it for right.
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
    // The first part of all stands for the range: with it in place nothing of the range is stored again, so it comes last.
    const inserts = [...segments.slice(1), first].map((segment) =>
      insertStatement(this.#db, workspaceId, segment, first.firstSeq),
    );
    const params = [workspaceId, first.projectId, watermark + 1, lastSeq];
    const before = isReplacing ? [this.#db.prepare(`DELETE FROM segments ${OF_RANGE}`).bind(...params)] : [];
    const totals = this.#db.prepare(`${TOTALS} ${OF_RANGE}`).bind(...params);
    const results = await this.#db.batch<SegmentTotals>([...before, ...inserts, totals]);
    return totalsOf(results.at(-1)?.results[0]);
  }

  /** What is stored of ranges that begin in a run of `seq`. */
  async totalsOfRange(workspaceId: string, { projectId, from, to }: ProjectRange): Promise<SegmentTotals> {
    const statement = this.#db.prepare(`${TOTALS} ${OF_RANGE}`).bind(workspaceId, projectId, from, to);
    return totalsOf(await statement.first<SegmentTotals>());
  }

  /** The same of runs of one project, one for each. */
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
           AND first_seq BETWEEN wanted.value ->> 0 AND wanted.value ->> 1 GROUP BY wanted.key`,
      )
      .bind(workspaceId, projectId, JSON.stringify(wanted))
      .all<SegmentTotals & { at: number }>();
    const found = new Map(results.map(({ at, ...totals }) => [at, totals]));
    return ranges.map((_, index) => totalsOf(found.get(index)));
  }

  /** What projects have here: how much, and the first and last `seq` that segments cover. */
  async coverageOf(workspaceId: string, projectIds: readonly string[]): Promise<ProjectCoverage[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT project_id AS projectId, count(*) AS segments, sum(count) AS entries, min(first_seq) AS firstSeq,
           max(last_seq) AS lastSeq
         FROM segments WHERE workspace_id = ? AND project_id IN (SELECT value FROM json_each(?)) GROUP BY project_id`,
      )
      .bind(workspaceId, JSON.stringify(projectIds))
      .all<ProjectCoverage>();
    return results;
  }

  /** Deletes the segments of ranges that begin in a run of `seq`. */
  async deleteRange(workspaceId: string, { projectId, from, to }: ProjectRange): Promise<void> {
    await this.#db.prepare(`DELETE FROM segments ${OF_RANGE}`).bind(workspaceId, projectId, from, to).run();
  }

  /** All that a workspace has here: a look at each of its rows, so 10,000 rows read per 100 million entries. */
  async usage(workspaceId: string): Promise<SegmentTotals> {
    return totalsOf(
      await this.#db.prepare(`${TOTALS} WHERE workspace_id = ?`).bind(workspaceId).first<SegmentTotals>(),
    );
  }

  /**
   * What a workspace has here, as of the moment at which the object told the watermarks: what has arrived since, or is
   * still counted as recent, lies above them, and deleted projects have none.
   */
  async usageUpTo(workspaceId: string, watermarks: readonly Watermark[]): Promise<SegmentTotals> {
    const flushed = watermarks.filter(({ seq }) => seq > 0);
    if (flushed.length === 0) return totalsOf(null);
    const totals = await this.#db
      .prepare(
        `${TOTALS} JOIN json_each(?2) AS project ON project_id = project.value ->> 'projectId'
           AND last_seq <= project.value ->> 'seq'
         WHERE workspace_id = ?1`,
      )
      .bind(workspaceId, JSON.stringify(flushed))
      .first<SegmentTotals>();
    return totalsOf(totals);
  }

  /** Deletes some of a project's segments; to be called until it gives 0. */
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

/** Values before the blobs in `INSERT`, and the blobs. */
const PLAIN_VALUES = 17;
const BLOBS = 7;
const VALUES = Array.from({ length: PLAIN_VALUES + BLOBS }, (_, index) =>
  index < PLAIN_VALUES ? `?${index + 1}` : `unhex(?${index + 1})`,
);
const KEY_COLUMNS = "project_id, first_seq, part";

/** Only a row that is there already is passed over: `OR IGNORE` would also pass over one that breaks a constraint. */
const INSERT = `INSERT INTO segments (workspace_id, ${KEY_COLUMNS}, last_seq, count, min_ts, max_ts, min_commit,
  max_commit, level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, frames, levels,
  summary, directory, filter, frame_filter, body) SELECT ${VALUES.join(", ")} WHERE NOT EXISTS (SELECT 1 FROM segments
    WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq = ?${PLAIN_VALUES + BLOBS + 1} AND part = 0)
  ON CONFLICT (workspace_id, ${KEY_COLUMNS}) DO NOTHING`;

/**
 * Stores a segment, unless its range is stored already.
 * @param rangeFirstSeq where the range begins: a segment there stands for all of it
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
      ...[blocks, levels, summary, batchTable, filter, blockFilter, body].map(toHex),
      rangeFirstSeq,
    );
}

/**
 * Bytes on their way through D1, which hands a BLOB over as a JSON array of numbers: 60 ms a megabyte here, 9 ms in
 * hexadecimal (docs/decisions). SQLite turns it with `hex()` and `unhex()`, so what is stored are the bytes themselves.
 */

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

const ENCODER = new TextEncoder();

/** What two digits mean, by both of their character codes: the later one in the higher byte. */
const PAIRS = makePairs();

/**
 * The bytes of upper-case hexadecimal, as SQLite writes it. By table: `Buffer.from(text, "hex")` takes 8 ms a megabyte in
 * workerd, this one 2.
 */
export function fromHex(text: string): Uint8Array {
  const codes = ENCODER.encode(text);
  const pairs = new Uint16Array(codes.buffer, codes.byteOffset, codes.length >> 1);
  const bytes = new Uint8Array(pairs.length);
  for (let at = 0; at < pairs.length; at++) bytes[at] = PAIRS[pairs[at] ?? 0] ?? 0;
  return bytes;
}

function makePairs(): Uint8Array {
  const digits = "0123456789ABCDEF";
  const table = new Uint8Array(0x10000);
  for (let value = 0; value < 256; value++) {
    table[digits.charCodeAt(value >> 4) | (digits.charCodeAt(value & 15) << 8)] = value;
  }
  return table;
}
