import type { D1Database, D1PreparedStatement } from "@cloudflare/workers-types";
import { formOfKey } from "../filter/wide-filter.ts";
import type { EncodedSegment, SegmentKey, SegmentMeta } from "../format/segment.ts";
import { fromHex } from "../store/hex.ts";
import { CONDITION_PARAM, insertIf } from "../store/insert-statement.ts";
import { CURRENT, SegmentWriter } from "../store/writer.ts";
import { type Candidate, PARTS } from "./policy.ts";

/** A segment to be merged, without its body. */
export interface MergeInput extends SegmentMeta {
  isFile: boolean;
  /** Key of its file in the bucket; `null` if its bytes are in its row. */
  file: string | null;
  levels: Uint8Array;
  summary: Uint8Array;
  /** The footer of a file, or the packed batch table of line blocks. */
  table: Uint8Array;
}

/** Names a segment of a project. */
type Name = Pick<SegmentKey, "firstSeq" | "part">;

const OF_PROJECT = "workspace_id = ?1 AND project_id = ?2";
const OF_NAMES = `(first_seq, part) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))`;

/** Whether all named segments exist and are current. */
const ALL_CURRENT = `(SELECT count(*) FROM segments WHERE ${OF_PROJECT} AND ${CURRENT} AND (first_seq, part) IN
  (SELECT value ->> 0, value ->> 1 FROM json_each(?${CONDITION_PARAM}))) = ?${CONDITION_PARAM + 1}`;

/** Statements of a compaction in one D1 database. Segments are named by workspace, project, first `seq` and part. */
export class CompactionStore {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /**
   * Returns the current segments of a project in a range of `seq`, in order of `seq` and part.
   * @param after,to covers segments with `after < firstSeq` and `lastSeq <= to`
   */
  async candidates(
    workspaceId: string,
    projectId: string,
    { after, to }: { after: number; to: number },
    limit: number,
  ): Promise<Candidate[]> {
    const { results } = await this.#db
      .prepare(
        // The length of a blob is in the record's header, so no blob is read.
        `SELECT first_seq AS firstSeq, last_seq AS lastSeq, part, count, min_ts AS minTimestamp, max_ts AS maxTimestamp,
           stored_bytes - length(frames) - length(levels) - length(summary) - length(directory) - length(filter)
             - length(frame_filter) AS fileBytes, length(directory) AS footerBytes, length(levels) AS levelsBytes,
           length(summary) AS summaryBytes, format AS isFile
         FROM segments WHERE ${OF_PROJECT} AND first_seq > ?3 AND last_seq <= ?4 AND ${CURRENT}
         ORDER BY first_seq, part LIMIT ?5`,
      )
      .bind(workspaceId, projectId, after, to, limit)
      .all<Omit<Candidate, "isFile"> & { isFile: number }>();
    return results.map((row) => ({ ...row, isFile: row.isFile === 1 }));
  }

  /** Returns what a merge needs of segments, without their bodies, in order of `seq` and part. */
  async inputs(workspaceId: string, projectId: string, names: readonly Name[]): Promise<MergeInput[]> {
    type Row = Omit<SegmentMeta, "blocks"> &
      Record<"blocks" | "levels" | "summary" | "directory", string> & { format: number; file: string | null };
    const { results } = await this.#db
      .prepare(
        `SELECT project_id AS projectId, first_seq AS firstSeq, part, last_seq AS lastSeq, count, min_ts AS minTimestamp,
           max_ts AS maxTimestamp, min_commit AS minCommit, max_commit AS maxCommit, level_mask AS levelMask,
           category_mask AS categoryMask, raw_bytes AS rawBytes, stored_bytes AS storedBytes, hex(frames) AS blocks,
           hex(levels) AS levels, hex(summary) AS summary, hex(directory) AS directory, format, file
         FROM segments WHERE ${OF_PROJECT} AND ${OF_NAMES} AND ${CURRENT} ORDER BY first_seq, part`,
      )
      .bind(workspaceId, projectId, namesOf(names))
      .all<Row>();
    return results.map(({ format, file, blocks, levels, summary, directory, ...meta }) => ({
      ...meta,
      isFile: format === 1,
      file,
      blocks: fromHex(blocks),
      levels: fromHex(levels),
      summary: fromHex(summary),
      table: fromHex(directory),
    }));
  }

  /** Returns the body of a segment; `null` if the segment was deleted. */
  async body(workspaceId: string, projectId: string, { firstSeq, part }: Name): Promise<Uint8Array | null> {
    const body = await this.#db
      .prepare(`SELECT hex(body) AS body FROM segments WHERE ${OF_PROJECT} AND first_seq = ?3 AND part = ?4`)
      .bind(workspaceId, projectId, firstSeq, part)
      .first<string>("body");
    return body === null ? null : fromHex(body);
  }

  /** Like `SegmentWriter.noteFiles`. `swap` removes the note. */
  noteFiles(workspaceId: string, files: readonly string[], now: number): Promise<void> {
    return new SegmentWriter(this.#db).noteFiles(workspaceId, files, now);
  }

  /**
   * Replaces segments by others in one transaction, if all of them exist and are current; otherwise changes nothing. Safe to
   * repeat.
   * @param replacedAt from when on readers see the new segments, epoch milliseconds
   * @param filterFiles keys of the files with the filters of the new segments, if they are in the bucket
   * @returns whether the new segments are stored, by this call or an earlier one
   */
  async swap(
    workspaceId: string,
    replaced: readonly Name[],
    segments: readonly EncodedSegment[],
    replacedAt: number,
    filterFiles: readonly (string | null)[] = [],
  ): Promise<boolean> {
    const projectId = segments[0]?.projectId ?? "";
    const scope = [workspaceId, projectId] as const;
    const inserts = segments.map((segment) => this.#insert(workspaceId, segment, replaced));
    const [first] = segments;
    const isInserted = `EXISTS (SELECT 1 FROM segments WHERE ${OF_PROJECT} AND first_seq = ?4 AND part = ?5)`;
    const inserted = [first?.firstSeq ?? 0, first?.part ?? 0] as const;
    const replace = this.#db
      .prepare(
        `UPDATE segments SET replaced_at = ?6 WHERE ${OF_PROJECT} AND ${OF_NAMES} AND ${CURRENT} AND ${isInserted}`,
      )
      .bind(...scope, namesOf(replaced), ...inserted, replacedAt);
    const files = [...segments.map(({ file }) => file), ...filterFiles].filter((file) => file !== null);
    const filters = segments.flatMap(({ firstSeq, part }, index) => {
      const file = filterFiles[index] ?? null;
      const update = `UPDATE segments SET filter_file = ?5, filter_slot = 0 WHERE ${OF_PROJECT} AND first_seq = ?3 AND part = ?4`;
      return file === null ? [] : [this.#db.prepare(update).bind(...scope, firstSeq, part, file)];
    });
    const release = this.#db
      .prepare(
        `DELETE FROM orphans WHERE file IN (SELECT value FROM json_each(?4))
           AND EXISTS (SELECT 1 FROM segments WHERE ${OF_PROJECT} AND ${OF_NAMES}
             AND (segments.file = orphans.file OR segments.filter_file = orphans.file))`,
      )
      .bind(...scope, namesOf(segments), JSON.stringify(files));
    const stored = this.#db
      .prepare(`SELECT count(*) AS rows FROM segments WHERE ${OF_PROJECT} AND ${OF_NAMES}`)
      .bind(...scope, namesOf(segments));
    const results = await this.#db.batch<{ rows: number }>([...inserts, ...filters, replace, release, stored]);
    return results.at(-1)?.results[0]?.rows === segments.length;
  }

  /**
   * Returns the newest merged segments of a project whose filters are files of their own and of this version, in order of
   * `seq`, if they follow each other.
   */
  async newestFilters(workspaceId: string, projectId: string, limit: number): Promise<(Name & { file: string })[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT first_seq AS firstSeq, part, filter_file AS file FROM segments
         WHERE ${OF_PROJECT} AND part >= ${PARTS} AND part % ${PARTS} = 0 AND ${CURRENT} ORDER BY first_seq DESC LIMIT ?3`,
      )
      .bind(workspaceId, projectId, limit)
      .all<Name & { file: string | null }>();
    const own: (Name & { file: string })[] = [];
    for (const { file, ...name } of results) {
      const form = file === null ? null : formOfKey(file);
      if (file !== null && form?.segments !== 1) break;
      // Small merged segments have their filter in the row.
      if (file !== null) own.push({ ...name, file });
    }
    return own.reverse();
  }

  /**
   * Makes segments name a file with all their filters instead of one each, whose files become orphans.
   * @param rows with the position of the first filter of each in the joined file
   */
  async joinFilters(
    workspaceId: string,
    projectId: string,
    rows: readonly (Name & { file: string; slot: number })[],
    joined: string,
    now: number,
  ): Promise<void> {
    const scope = [workspaceId, projectId] as const;
    const updates = rows.map(({ firstSeq, part, file, slot }) =>
      this.#db
        .prepare(
          `UPDATE segments SET filter_file = ?6, filter_slot = ?7
           WHERE ${OF_PROJECT} AND first_seq = ?3 AND part = ?4 AND filter_file = ?5`,
        )
        .bind(...scope, firstSeq, part, file, joined, slot),
    );
    const note = this.#db
      .prepare(
        `INSERT INTO orphans (file, workspace_id, noted_at) SELECT value, ?2, ?3 FROM json_each(?1) WHERE true
         ON CONFLICT (file) DO UPDATE SET noted_at = excluded.noted_at`,
      )
      .bind(JSON.stringify(rows.map(({ file }) => file)), workspaceId, now);
    const forget = this.#db.prepare("DELETE FROM orphans WHERE file = ?").bind(joined);
    await this.#db.batch([...updates, note, forget]);
  }

  #insert(workspaceId: string, segment: EncodedSegment, replaced: readonly Name[]): D1PreparedStatement {
    return insertIf(this.#db, workspaceId, segment, ALL_CURRENT, [namesOf(replaced), replaced.length]);
  }
}

function namesOf(names: readonly Name[]): string {
  return JSON.stringify(names.map(({ firstSeq, part }) => [firstSeq, part]));
}
