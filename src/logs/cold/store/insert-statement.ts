import type { D1Database, D1PreparedStatement } from "@cloudflare/workers-types";
import type { EncodedSegment } from "../format/segment.ts";
import { toHex } from "./hex.ts";

/** Number of values before the blobs in `INSERT`, and number of blobs. */
const PLAIN_VALUES = 19;
const BLOBS = 7;
const VALUES = Array.from({ length: PLAIN_VALUES + BLOBS }, (_, index) =>
  index < PLAIN_VALUES ? `?${index + 1}` : `unhex(?${index + 1})`,
);
const KEY_COLUMNS = "project_id, first_seq, part";

/** Number of the first parameter of a condition of `insertIf`. */
export const CONDITION_PARAM = PLAIN_VALUES + BLOBS + 1;

const INSERT = `INSERT INTO segments (workspace_id, ${KEY_COLUMNS}, last_seq, count, min_ts, max_ts, min_commit,
  max_commit, level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, format, file,
  frames, levels, summary, directory, filter, frame_filter, body) SELECT ${VALUES.join(", ")}`;
/** Ignores only a conflict with an existing row. `OR IGNORE` would also ignore a violated constraint. */
const ON_CONFLICT = `ON CONFLICT (workspace_id, ${KEY_COLUMNS}) DO NOTHING`;

/** A replaced row marks its range as stored, too: a late writer must not insert the range beside the segment that replaced it. */
const IS_NEW = `NOT EXISTS (SELECT 1 FROM segments
  WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq = ?${CONDITION_PARAM} AND part = 0)`;

/**
 * Inserts a segment, unless its range is already stored.
 * @param rangeFirstSeq first `seq` of the range. A segment at it marks the whole range as stored.
 */
export function insertStatement(
  db: D1Database,
  workspaceId: string,
  segment: EncodedSegment,
  rangeFirstSeq: number,
): D1PreparedStatement {
  return insertIf(db, workspaceId, segment, IS_NEW, [rangeFirstSeq]);
}

/**
 * Inserts a segment if a condition holds.
 * @param condition with the workspace as `?1`, the project as `?2`, and `params` from `CONDITION_PARAM` on
 */
export function insertIf(
  db: D1Database,
  workspaceId: string,
  segment: EncodedSegment,
  condition: string,
  params: readonly (string | number)[],
): D1PreparedStatement {
  const { levels, summary, batchTable, filter, blockFilter, body, blocks } = segment;
  return db
    .prepare(`${INSERT} WHERE ${condition} ${ON_CONFLICT}`)
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
      ...params,
    );
}
