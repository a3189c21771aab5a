import { maybe, one } from "../../platform/sql.ts";
import { BatchColumns, type BatchSelection, type ProjectNumbers } from "./batch-columns.ts";

/** Metadata of runs of batches, packed into a row each. Reading it touches no batch's row. */
export const INDEX_CHUNK_SCHEMA = [
  `CREATE TABLE batch_blocks (
     -- Row: an index chunk: the metadata of up to 512 batches in order of commits (decision 18).
     -- Every batch from \`first_commit\` to \`last_commit\` that is still in \`batches\` is in \`columns\`.
     last_commit INTEGER PRIMARY KEY,
     first_commit INTEGER NOT NULL,
     -- Minimum of \`min_ts\`.
     least_min INTEGER NOT NULL,
     -- Maximum of \`min_ts\`.
     most_min INTEGER NOT NULL,
     -- Minimum of \`max_ts\`.
     least_max INTEGER NOT NULL,
     -- Maximum of \`max_ts\`.
     most_max INTEGER NOT NULL,
     -- Of all batches.
     level_mask INTEGER NOT NULL,
     -- Of all batches.
     category_mask INTEGER NOT NULL,
     -- A bit per project: its number modulo 32.
     project_mask INTEGER NOT NULL,
     -- LEB128: the count, then per batch commit and \`min_ts\` as differences, span, project, \`first_seq\`, masks,
     -- \`body_bytes\`.
     columns BLOB NOT NULL
   ) STRICT`,
] as const;

/** Batches of a new chunk. */
export const CHUNK_BATCHES = 512;
/**
 * Number of batches without a chunk at which one is due. The newest batches stay without, because reads are likely to
 * need them.
 */
const PACK_AT = 768;

/** Common metadata of a chunk's batches. */
export interface IndexChunk {
  firstCommit: number;
  lastCommit: number;
  minTimestampMin: number;
  minTimestampMax: number;
  maxTimestampMin: number;
  maxTimestampMax: number;
  levelMask: number;
  categoryMask: number;
  projectMask: number;
}

type Nine = [number, number, number, number, number, number, number, number, number];

/** Chunks that overlap a range of commit numbers, in order. Does not read the packed columns. */
export function readIndexChunks(sql: SqlStorage, from = 0, to = Number.MAX_SAFE_INTEGER): IndexChunk[] {
  const rows = sql
    .exec(
      `SELECT first_commit, last_commit, least_min, most_min, least_max, most_max, level_mask, category_mask, project_mask
       FROM batch_blocks WHERE last_commit >= ? AND first_commit <= ? ORDER BY last_commit`,
      from,
      to,
    )
    // Arrays instead of objects, because there may be thousands of rows.
    .raw<Nine>();
  return [...rows].map((row) => {
    const [
      firstCommit,
      lastCommit,
      minTimestampMin,
      minTimestampMax,
      maxTimestampMin,
      maxTimestampMax,
      levelMask,
      categoryMask,
      projectMask,
    ] = row;
    return {
      firstCommit,
      lastCommit,
      minTimestampMin,
      minTimestampMax,
      maxTimestampMin,
      maxTimestampMax,
      levelMask,
      categoryMask,
      projectMask,
    };
  });
}

/** A chunk's batches; `null` if all of them were deleted. */
export function readIndexChunk(sql: SqlStorage, { lastCommit }: IndexChunk): BatchColumns | null {
  const select = "SELECT columns FROM batch_blocks WHERE last_commit = ?";
  const row = maybe<{ columns: ArrayBuffer }>(sql, select, lastCommit);
  return row ? BatchColumns.unpack(new Uint8Array(row.columns)) : null;
}

/** The last commit number that a chunk covers; 0 without chunks. */
export function lastPacked(sql: SqlStorage): number {
  return one<{ last: number }>(sql, "SELECT COALESCE(MAX(last_commit), 0) AS last FROM batch_blocks").last;
}

/** Batches that no chunk covers, from their rows. There are few; see `packIndexChunk`. */
export function readUnpacked(sql: SqlStorage, limit = -1): BatchColumns {
  const rows = sql
    .exec(
      `SELECT commit_no, project, first_seq, min_ts, max_ts, level_mask, category_mask, body_bytes FROM batches
       WHERE commit_no > ? ORDER BY commit_no LIMIT ?`,
      lastPacked(sql),
      limit,
    )
    .raw<[number, number, number, number, number, number, number, number]>();
  const columns = new BatchColumns();
  for (const [commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes] of rows) {
    columns.append({ commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes });
  }
  return columns;
}

/** Number of batches without a chunk, at most `PACK_AT`. */
export function countUnpacked(sql: SqlStorage): number {
  const rows = `SELECT 1 FROM batches WHERE commit_no > ? LIMIT ${PACK_AT}`;
  return one<{ count: number }>(sql, `SELECT COUNT(*) AS count FROM (${rows})`, lastPacked(sql)).count;
}

export function isPackingDue(unpacked: number): boolean {
  return unpacked >= PACK_AT;
}

/** Writes a chunk of the oldest batches without one. Takes about 2 ms. */
export function packIndexChunk(sql: SqlStorage): void {
  const columns = readUnpacked(sql, CHUNK_BATCHES);
  const first = columns[Symbol.iterator]().next().value;
  if (first) writeChunk(sql, first.commit, columns.lastCommit, columns);
}

/** Removes deleted batches from their chunks in the caller's transaction: one row written per chunk. */
export function removeFromIndexChunks(sql: SqlStorage, commits: readonly number[]): void {
  const { from, to } = rangeOf(commits);
  const deleted = new Set(commits);
  for (const chunk of readIndexChunks(sql, from, to)) {
    const columns = readIndexChunk(sql, chunk);
    const left = columns?.filter((commit) => !deleted.has(commit)) ?? null;
    if (left === null || left.length === columns?.length) continue;
    if (left.length === 0) sql.exec("DELETE FROM batch_blocks WHERE last_commit = ?", chunk.lastCommit);
    else writeChunk(sql, chunk.firstCommit, chunk.lastCommit, left);
  }
}

/** The smallest and the largest of some commit numbers. */
export function rangeOf(commits: readonly number[]): { from: number; to: number } {
  return {
    from: commits.reduce((min, commit) => Math.min(min, commit), Number.MAX_SAFE_INTEGER),
    to: commits.reduce((max, commit) => Math.max(max, commit), 0),
  };
}

function writeChunk(sql: SqlStorage, firstCommit: number, lastCommit: number, columns: BatchColumns): void {
  const chunk = indexChunkOf(firstCommit, lastCommit, columns);
  sql.exec(
    `INSERT OR REPLACE INTO batch_blocks (first_commit, last_commit, least_min, most_min, least_max, most_max, level_mask,
       category_mask, project_mask, columns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    firstCommit,
    lastCommit,
    chunk.minTimestampMin,
    chunk.minTimestampMax,
    chunk.maxTimestampMin,
    chunk.maxTimestampMax,
    chunk.levelMask,
    chunk.categoryMask,
    chunk.projectMask,
    columns.pack(),
  );
}

function indexChunkOf(firstCommit: number, lastCommit: number, columns: BatchColumns): IndexChunk {
  const chunk: IndexChunk = {
    firstCommit,
    lastCommit,
    minTimestampMin: Number.MAX_SAFE_INTEGER,
    minTimestampMax: Number.MIN_SAFE_INTEGER,
    maxTimestampMin: Number.MAX_SAFE_INTEGER,
    maxTimestampMax: Number.MIN_SAFE_INTEGER,
    levelMask: 0,
    categoryMask: 0,
    projectMask: 0,
  };
  for (const { minTimestamp, maxTimestamp, levelMask, categoryMask, project } of columns) {
    chunk.minTimestampMin = Math.min(chunk.minTimestampMin, minTimestamp);
    chunk.minTimestampMax = Math.max(chunk.minTimestampMax, minTimestamp);
    chunk.maxTimestampMin = Math.min(chunk.maxTimestampMin, maxTimestamp);
    chunk.maxTimestampMax = Math.max(chunk.maxTimestampMax, maxTimestamp);
    chunk.levelMask |= levelMask;
    chunk.categoryMask |= categoryMask;
    chunk.projectMask |= projectBit(project);
  }
  return chunk;
}

function projectBit(project: number): number {
  return 1 << (project % 32);
}

export function projectMaskOf(projects: ProjectNumbers): number {
  let mask = 0;
  for (const project of projects.keys()) mask |= projectBit(project);
  return mask;
}

/** Whether a chunk may contain a batch of a selection at or after its position. */
export function mayContainBatch(chunk: IndexChunk, selection: BatchSelection, projectMask: number): boolean {
  const { asOf, from, to, levelMask, categoryMask, order, position } = selection;
  if (chunk.firstCommit > asOf || (chunk.projectMask & projectMask) === 0) return false;
  if ((chunk.levelMask & levelMask) === 0 || (chunk.categoryMask & categoryMask) === 0) return false;
  if ((from !== null && chunk.maxTimestampMax < from) || (to !== null && chunk.minTimestampMin >= to)) return false;
  if (position === null) return true;
  return order === "desc" ? chunk.maxTimestampMin <= position.timestamp : chunk.minTimestampMax >= position.timestamp;
}
