// Named here, so that pure modules tested on Node may name the store.
import type { D1Database, D1PreparedStatement } from "@cloudflare/workers-types";
import { toHex } from "./hex.ts";
import type { EncodedSegment } from "./segment.ts";

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
export function insertStatement(
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
