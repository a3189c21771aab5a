import type { D1Database, D1PreparedStatement } from "@cloudflare/workers-types";
import type { EncodedSegment } from "../format/segment.ts";

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

// Named here, so that pure modules tested on Node may name the store.

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
