import type { D1Database } from "@cloudflare/workers-types";
import { type BlockHits, slotsColumn } from "../filter/block-filter.ts";
import type { BodyRange, SegmentBody, SegmentKey, SegmentMeta } from "../format/segment.ts";
import type { FilterPlace } from "./filter-lookup.ts";
import { fromHex } from "./hex.ts";
import {
  readPosition,
  type SegmentPage,
  type SegmentPosition,
  type SegmentSelection,
  selectStatement,
  visibleCondition,
} from "./selection.ts";

/** Maximum number of rows on a page. Levels are at most 80 KB a row and mostly 300 bytes, summaries at most 64 KB. */
export const STORE_LIMITS = {
  metas: 256,
  levels: 128,
  summaries: 64,
  /**
   * Bytes of bodies in a response. A single larger body is returned as well. Hexadecimal doubles the transferred bytes.
   */
  bodyBytes: 2 * 1024 * 1024,
} as const;

/** A segment that a query may need, with its block filter columns; see `../filter/block-filter.ts`. */
export type FoundSegment = SegmentMeta & BlockHits & { filterPlace?: FilterPlace | null };

/** A segment's position with its packed counts. `from` and `to` of a query may cut through the segment. */
export interface CountedSegment extends SegmentPosition {
  /** `levels` or `summary` of an `EncodedSegment`. */
  counts: Uint8Array;
}

const KEY_COLUMNS = "project_id, first_seq, part";
const META_COLUMNS = `${KEY_COLUMNS}, last_seq, count, min_ts, max_ts, min_commit, max_commit, level_mask, category_mask,
  raw_bytes, stored_bytes, hex(frames), CASE format WHEN 1 THEN length(directory) END, length(body)`;
type MetaRow = [
  projectId: string,
  firstSeq: number,
  part: number,
  lastSeq: number,
  count: number,
  minTimestamp: number,
  maxTimestamp: number,
  minCommit: number,
  maxCommit: number,
  levelMask: number,
  categoryMask: number,
  rawBytes: number,
  storedBytes: number,
  blocks: string,
  footerBytes: number | null,
  bodyBytes: number,
];

type PlaceRow = [filterFile: string | null, filterSlot: number | null];

/**
 * Finds and reads the segments of one D1 database. Every statement names a workspace, so no result mixes workspaces.
 */
export class SegmentStore {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /**
   * Returns a page of segments in the order of the selection. Examining a segment takes 19 us with tests, 5 us without.
   */
  async findSegments(selection: SegmentSelection): Promise<SegmentPage<FoundSegment>> {
    // The filter's place is after the blobs, so it is read only if it is needed. The file's saves the read of a footer.
    const place = selection.tests.length === 0 ? "null, null" : "filter_file, filter_slot";
    const columns = `${META_COLUMNS}, frame_kinds, slot_bytes, ${slotsColumn(selection.tests) ?? "''"}, ${place}, file`;
    type Row = [...MetaRow, blockKinds: number, slotBytes: number, slots: string, ...PlaceRow, file: string | null];
    refuseMoreThan(STORE_LIMITS.metas, selection.limit);
    return this.#select<Row, FoundSegment>(selection, columns, (row) => {
      const found = { ...metaOf(row), blockKinds: row[16], slotBytes: row[17], slots: row[18] };
      if (found.parquet !== undefined && row[21] !== null) found.parquet.file = row[21];
      return row[19] === null ? found : { ...found, filterPlace: { file: row[19], slot: row[20] ?? 0 } };
    });
  }

  /** Returns counts by minute and level, for at most `STORE_LIMITS.levels` segments. */
  async readLevels(selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> {
    return this.#readCounts(selection, "levels", STORE_LIMITS.levels);
  }

  /** Returns counts by minute, level, category and type, for at most `STORE_LIMITS.summaries` segments. */
  async readSummaries(selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> {
    return this.#readCounts(selection, "summary", STORE_LIMITS.summaries);
  }

  async #readCounts(selection: SegmentSelection, column: "levels" | "summary", max: number) {
    const limit = Math.min(selection.limit, max);
    const columns = `${KEY_COLUMNS}, min_ts, max_ts, hex(${column})`;
    type Row = [projectId: string, firstSeq: number, part: number, min: number, max: number, counts: string];
    return this.#select<Row, CountedSegment>({ ...selection, limit }, columns, (row) => {
      const [projectId, firstSeq, part, minTimestamp, maxTimestamp, counts] = row;
      return { projectId, firstSeq, part, minTimestamp, maxTimestamp, counts: fromHex(counts) };
    });
  }

  async #select<Row extends unknown[], S extends SegmentPosition>(
    selection: SegmentSelection,
    columns: string,
    segmentOf: (row: Row) => S,
  ): Promise<SegmentPage<S>> {
    if (selection.projects.size === 0) return { segments: [], next: null };
    const { sql, params } = selectStatement(selection, columns);
    const rows = await this.#db
      .prepare(sql)
      .bind(...params)
      .raw<[position: string | null, ...Row] | [position: string | null, nothing: null]>();
    const segments: S[] = [];
    for (const [, ...row] of rows) {
      // SAFETY: only the one row without a segment has null here, the project's id.
      if (row[0] !== null) segments.push(segmentOf(row as Row));
    }
    const isCut = segments.length === selection.limit;
    return { segments, next: isCut ? (segments.at(-1) ?? null) : readPosition(rows[0]?.[0] ?? null) };
  }

  /**
   * Returns the segments of a project that cover a range of `seq`, in order of `seq` and part.
   * @param from,to first and last `seq`; `to` at most the project's watermark
   * @param after continues after this segment; `null` from the beginning
   * @param limit at most `STORE_LIMITS.metas`; a shorter result is the last page
   * @param readAt of a read of several pages; see `SegmentSelection`
   */
  async segmentsBySeq(
    workspaceId: string,
    projectId: string,
    { from, to }: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
    readAt?: number,
  ): Promise<SegmentMeta[]> {
    refuseMoreThan(STORE_LIMITS.metas, limit);
    const params: (string | number)[] = [
      workspaceId,
      projectId,
      from,
      to,
      after?.firstSeq ?? 0,
      after?.part ?? 0,
      limit,
    ];
    const visible = visibleCondition(readAt, (value) => `?${params.push(value)}`);
    const rows = await this.#db
      .prepare(
        // Ranges do not overlap, so the range that contains `from` has the largest `first_seq` up to `from`.
        `SELECT ${META_COLUMNS} FROM segments
         WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq <= ?4 AND last_seq >= ?3 AND first_seq >= coalesce(
           (SELECT first_seq FROM segments WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq <= ?3 AND ${visible}
             ORDER BY first_seq DESC LIMIT 1), 0)
           AND (first_seq, part) > (?5, ?6) AND ${visible}
         ORDER BY first_seq, part LIMIT ?7`,
      )
      .bind(...params)
      .raw<MetaRow>();
    return rows.map(metaOf);
  }

  /**
   * Reads the first of the given ranges, up to the bytes of one response. Also reads segments that a compaction has replaced:
   * the caller may have found them before it.
   * @returns the bytes of each range read, in order, or `null` if the segment was deleted
   */
  async readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]> {
    let bytes = 0;
    const fitting = ranges.findIndex(({ start, end, footerBytes = 0 }, index) => {
      bytes += end - start + footerBytes;
      return index > 0 && bytes > STORE_LIMITS.bodyBytes;
    });
    const read = fitting < 0 ? ranges : ranges.slice(0, fitting);
    if (read.length === 0) return [];
    const wanted = read.map(({ key, start, end }) => [key.projectId, key.firstSeq, key.part, start + 1, end - start]);
    const rows = await this.#db
      .prepare(
        `SELECT wanted.key, hex(directory), hex(substr(body, wanted.value ->> 3, wanted.value ->> 4)), file
         FROM json_each(?2) AS wanted CROSS JOIN segments ON workspace_id = ?1 AND project_id = wanted.value ->> 0
           AND first_seq = wanted.value ->> 1 AND part = wanted.value ->> 2`,
      )
      .bind(workspaceId, JSON.stringify(wanted))
      .raw<[index: number, batchTable: string, bytes: string, file: string | null]>();
    const bodies: (SegmentBody | null)[] = read.map(() => null);
    for (const [index, batchTable, body, file] of rows) {
      bodies[index] = { batchTable: fromHex(batchTable), bytes: fromHex(body), file };
    }
    return bodies;
  }
}

/** Rejects a larger limit: a truncated page would look like the last one. */
function refuseMoreThan(max: number, limit: number): void {
  if (limit > max) throw new RangeError(`At most ${max} segments at a time.`);
}

function metaOf(row: Readonly<[...MetaRow, ...unknown[]]>): SegmentMeta {
  return {
    projectId: row[0],
    firstSeq: row[1],
    part: row[2],
    lastSeq: row[3],
    count: row[4],
    minTimestamp: row[5],
    maxTimestamp: row[6],
    minCommit: row[7],
    maxCommit: row[8],
    levelMask: row[9],
    categoryMask: row[10],
    rawBytes: row[11],
    storedBytes: row[12],
    blocks: fromHex(row[13]),
    ...(row[14] === null ? {} : { parquet: { footerBytes: row[14], isInline: row[15] > 0 } }),
  };
}
