import type { D1Database } from "@cloudflare/workers-types";
import { type Bucket, bucketOf, type StoredFile } from "../../../platform/bucket.ts";
import { readBlockIndex } from "../format/batch-table.ts";
import { filePrefix } from "../format/file-key.ts";
import { FILE_HEAD_BYTES } from "../format/segment.ts";
import { fromHex } from "./hex.ts";
import { type ColdDatabases, coldDatabasesOf } from "./sources.ts";

/** A file that a segment names and that the bucket does not have, or not with its size. */
export interface DamagedFile {
  file: string;
  projectId: string;
  firstSeq: number;
  lastSeq: number;
  entries: number;
  problem: "missing" | "size";
}

export interface FileCheck {
  damaged: DamagedFile[];
  /** Files in the bucket that were compared. */
  compared: number;
  /** Files that no segment names and that are orphans now. */
  noted: number;
  /** Continues after this key; `null` at the end. */
  next: string | null;
}

/** Rows of the catalog that one page compares. The bucket lists up to 1,000 files at once. */
const ROWS = 1000;

interface Row {
  file: string;
  projectId: string;
  firstSeq: number;
  lastSeq: number;
  entries: number;
  isReplaced: number;
  footerBytes: number;
  blocks: string;
}

/**
 * Compares a page of a workspace's files, in order of their keys, with the rows of the catalog: every named file must be in
 * the bucket with the size that follows from its row, and a file that no row names becomes an orphan.
 *
 * Writers note a file as an orphan before they put it, so a file without a row and without a note is not about to get a row.
 * @param after continues after this key; the prefix of the workspace at the beginning
 * @param now epoch milliseconds
 */
export async function checkFiles(
  databases: ColdDatabases,
  workspaceId: string,
  after: string | null,
  now: number,
): Promise<FileCheck> {
  const bucket = bucketOf(databases);
  const dbs = coldDatabasesOf(databases).map(({ db }) => db);
  const prefix = filePrefix(workspaceId);
  const from = after ?? prefix;
  const listed = await filesAfter(bucket, prefix, from);
  // Read after the bucket, so that a named file that is missing in the list was put later, or is missing.
  const found = await Promise.all(dbs.map((db) => rowsBetween(db, from, listed.until ?? endOf(prefix))));
  const lastRow = found.flatMap((rows) => (rows.length === ROWS ? (rows.at(-1)?.file ?? []) : [])).sort()[0];
  const rows = found.flat().filter(({ file }) => lastRow === undefined || file <= lastRow);
  const until = lastRow ?? listed.until;
  const files = until === null ? listed.files : listed.files.filter(({ key }) => key <= until);
  const damaged = damagedOf(rows, new Map(files.map((file) => [file.key, file])));
  const isNew = damaged.length > 0 ? await filesAfter(bucket, prefix, from) : listed;
  const again = new Map(isNew.files.map((file) => [file.key, file]));
  const stillDamaged = damaged.length > 0 ? damagedOf(rows, again) : [];
  const noted = await noteUnnamed(dbs, workspaceId, files, now);
  return { damaged: stillDamaged, compared: files.length, noted, next: until };
}

/** @returns up to 1,000 files after a key, and the last key; `null` if no other file follows */
async function filesAfter(bucket: Bucket | null, prefix: string, after: string) {
  if (bucket === null) return { files: [], until: null };
  const { files, cursor } = await bucket.list(prefix, null, after);
  return { files, until: cursor === null ? null : (files.at(-1)?.key ?? null) };
}

/** The first text after all texts that begin with a prefix, which ends with a slash. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

async function rowsBetween(db: D1Database, after: string, until: string): Promise<Row[]> {
  const { results } = await db
    .prepare(
      `SELECT file, project_id AS projectId, first_seq AS firstSeq, last_seq AS lastSeq, count AS entries,
         replaced_at IS NOT NULL AS isReplaced, length(directory) AS footerBytes, hex(frames) AS blocks
       FROM segments WHERE file > ? AND file <= ? ORDER BY file LIMIT ${ROWS}`,
    )
    .bind(after, until)
    .all<Row>();
  return results;
}

function damagedOf(rows: readonly Row[], files: ReadonlyMap<string, StoredFile>): DamagedFile[] {
  return rows.flatMap(({ isReplaced, footerBytes, blocks, ...named }) => {
    const size = files.get(named.file)?.size;
    const expected = FILE_HEAD_BYTES + bytesOfBlocks(blocks) + footerBytes;
    if (isReplaced === 1 || size === expected) return [];
    return [{ ...named, problem: size === undefined ? "missing" : "size" } as const];
  });
}

function bytesOfBlocks(hex: string): number {
  return readBlockIndex({ blocks: fromHex(hex), minTimestamp: 0 }).at(-1)?.end ?? 0;
}

/** @returns the number of files that became orphans */
async function noteUnnamed(
  dbs: readonly D1Database[],
  workspaceId: string,
  files: readonly StoredFile[],
  now: number,
): Promise<number> {
  let unnamed = files.map(({ key }) => key);
  for (const db of dbs) {
    if (unnamed.length === 0) return 0;
    const { results } = await db.prepare(UNNAMED).bind(JSON.stringify(unnamed)).all<{ file: string }>();
    unnamed = results.map(({ file }) => file);
  }
  const note = `INSERT INTO orphans (file, workspace_id, noted_at) SELECT value, ?1, ?2 FROM json_each(?3) WHERE true
    ON CONFLICT (file) DO NOTHING`;
  const noted = await dbs.at(-1)?.prepare(note).bind(workspaceId, now, JSON.stringify(unnamed)).run();
  return noted?.meta.changes ?? 0;
}

/** Those of some files that no row and no orphan of a database names. */
const UNNAMED = `SELECT value AS file FROM json_each(?) AS given
  WHERE NOT EXISTS (SELECT 1 FROM segments WHERE segments.file = given.value)
    AND NOT EXISTS (SELECT 1 FROM segments WHERE segments.filter_file = given.value)
    AND NOT EXISTS (SELECT 1 FROM orphans WHERE orphans.file = given.value)`;
