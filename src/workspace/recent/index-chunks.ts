import { maybe, one } from "../../platform/sql.ts";
import { BatchColumns, type BatchSelection, type ProjectNumbers } from "./batch-columns.ts";

/** The summary columns of runs of batches, packed into a row each: read from here, no batch's row is touched. */
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

/** Batches of a block when it is made. */
export const CHUNK_BATCHES = 512;
/** So many batches without a block make one due; the newest stay without, as they are likely to be asked for. */
const PACK_AT = 768;

/** What a block's batches have in common. */
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

/** In order of commits, those that reach into a run of commits. The packed columns are not read. */
export function readIndexChunks(sql: SqlStorage, from = 0, to = Number.MAX_SAFE_INTEGER): IndexChunk[] {
  const rows = sql
    .exec(
      `SELECT first_commit, last_commit, least_min, most_min, least_max, most_max, level_mask, category_mask, project_mask
       FROM batch_blocks WHERE last_commit >= ? AND first_commit <= ? ORDER BY last_commit`,
      from,
      to,
    )
    // Arrays rather than objects: there may be thousands of rows.
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

/** A block's batches; null where all of them are gone. */
export function readIndexChunk(sql: SqlStorage, { lastCommit }: IndexChunk): BatchColumns | null {
  const select = "SELECT columns FROM batch_blocks WHERE last_commit = ?";
  const row = maybe<{ columns: ArrayBuffer }>(sql, select, lastCommit);
  return row ? BatchColumns.unpack(new Uint8Array(row.columns)) : null;
}

/** The last commit that a block covers; 0 without blocks. */
export function lastPacked(sql: SqlStorage): number {
  return one<{ last: number }>(sql, "SELECT COALESCE(MAX(last_commit), 0) AS last FROM batch_blocks").last;
}

/** The batches that no block covers, from their rows. They are few; see `packIndexChunk`. */
export function readUnpacked(sql: SqlStorage, most = -1): BatchColumns {
  const rows = sql
    .exec(
      `SELECT commit_no, project, first_seq, min_ts, max_ts, level_mask, category_mask, body_bytes FROM batches
       WHERE commit_no > ? ORDER BY commit_no LIMIT ?`,
      lastPacked(sql),
      most,
    )
    .raw<[number, number, number, number, number, number, number, number]>();
  const columns = new BatchColumns();
  for (const [commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes] of rows) {
    columns.append({ commit, project, firstSeq, minTimestamp, maxTimestamp, levelMask, categoryMask, bodyBytes });
  }
  return columns;
}

/** Batches without a block, as far as they matter: `PACK_AT` at most. */
export function countUnpacked(sql: SqlStorage): number {
  const rows = `SELECT 1 FROM batches WHERE commit_no > ? LIMIT ${PACK_AT}`;
  return one<{ count: number }>(sql, `SELECT COUNT(*) AS count FROM (${rows})`, lastPacked(sql)).count;
}

export function isPackingDue(unpacked: number): boolean {
  return unpacked >= PACK_AT;
}

/** Makes a block of the oldest batches without one. Takes about 2 ms. */
export function packIndexChunk(sql: SqlStorage): void {
  const columns = readUnpacked(sql, CHUNK_BATCHES);
  const first = columns[Symbol.iterator]().next().value;
  if (first) writeBlock(sql, first.commit, columns.lastCommit, columns);
}

/** Takes deleted batches out of their blocks, in the caller's transaction: a row written a block. */
export function removeFromIndexChunks(sql: SqlStorage, commits: readonly number[]): void {
  const { from, to } = rangeOf(commits);
  const gone = new Set(commits);
  for (const block of readIndexChunks(sql, from, to)) {
    const columns = readIndexChunk(sql, block);
    const left = columns?.filter((commit) => !gone.has(commit)) ?? null;
    if (left === null || left.length === columns?.length) continue;
    if (left.length === 0) sql.exec("DELETE FROM batch_blocks WHERE last_commit = ?", block.lastCommit);
    else writeBlock(sql, block.firstCommit, block.lastCommit, left);
  }
}

/** The smallest and the largest of some commits. */
export function rangeOf(commits: readonly number[]): { from: number; to: number } {
  return {
    from: commits.reduce((least, commit) => Math.min(least, commit), Number.MAX_SAFE_INTEGER),
    to: commits.reduce((most, commit) => Math.max(most, commit), 0),
  };
}

function writeBlock(sql: SqlStorage, firstCommit: number, lastCommit: number, columns: BatchColumns): void {
  const block = indexChunkOf(firstCommit, lastCommit, columns);
  sql.exec(
    `INSERT OR REPLACE INTO batch_blocks (first_commit, last_commit, least_min, most_min, least_max, most_max, level_mask,
       category_mask, project_mask, columns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    firstCommit,
    lastCommit,
    block.minTimestampMin,
    block.minTimestampMax,
    block.maxTimestampMin,
    block.maxTimestampMax,
    block.levelMask,
    block.categoryMask,
    block.projectMask,
    columns.pack(),
  );
}

function indexChunkOf(firstCommit: number, lastCommit: number, columns: BatchColumns): IndexChunk {
  const block: IndexChunk = {
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
    block.minTimestampMin = Math.min(block.minTimestampMin, minTimestamp);
    block.minTimestampMax = Math.max(block.minTimestampMax, minTimestamp);
    block.maxTimestampMin = Math.min(block.maxTimestampMin, maxTimestamp);
    block.maxTimestampMax = Math.max(block.maxTimestampMax, maxTimestamp);
    block.levelMask |= levelMask;
    block.categoryMask |= categoryMask;
    block.projectMask |= projectBit(project);
  }
  return block;
}

function projectBit(project: number): number {
  return 1 << (project % 32);
}

export function projectMaskOf(projects: ProjectNumbers): number {
  let mask = 0;
  for (const project of projects.keys()) mask |= projectBit(project);
  return mask;
}

/** Whether a block may hold a batch of a selection at or behind its position. */
export function mayContainBatch(block: IndexChunk, selection: BatchSelection, projectMask: number): boolean {
  const { asOf, from, to, levelMask, categoryMask, order, position } = selection;
  if (block.firstCommit > asOf || (block.projectMask & projectMask) === 0) return false;
  if ((block.levelMask & levelMask) === 0 || (block.categoryMask & categoryMask) === 0) return false;
  if ((from !== null && block.maxTimestampMax < from) || (to !== null && block.minTimestampMin >= to)) return false;
  if (position === null) return true;
  return order === "desc" ? block.maxTimestampMin <= position.timestamp : block.minTimestampMax >= position.timestamp;
}
