import type { D1Database } from "@cloudflare/workers-types";
import { type Bucket, bucketOf } from "../../../platform/bucket.ts";
import { SegmentReader } from "../../segments/decode/segment-reader.ts";
import { footerBytes } from "../../segments/parquet/metadata.ts";
import { MalformedFile } from "../../segments/parquet/thrift.ts";
import { PARTS } from "../compaction/policy.ts";
import { filePrefix, readFileKey } from "../format/file-key.ts";
import type { EncodedSegment } from "../format/segment.ts";
import { CONDITION_PARAM, insertIf } from "../store/insert-statement.ts";
import { type ColdDatabases, coldDatabasesOf } from "../store/sources.ts";
import { CURRENT } from "../store/writer.ts";
import {
  chooseRanges,
  type FileFacts,
  type FileRangeGroup,
  hasQuarantined,
  type QuarantinedRun,
  rangesOfFiles,
  rangesWithin,
} from "./choose-files.ts";
import { type OpenFile, rebuildRow } from "./rebuild-row.ts";

/** A project whose catalog is rebuilt. */
export interface RecoveryScope {
  workspaceId: string;
  projectId: string;
  /** The project's watermark: entries after it are in the workspace object. */
  flushedSeq: number;
  /** Continues after this `seq`; 0 at the beginning. */
  after: number;
  /** Batches of the project that stay in the workspace object. */
  quarantined?: readonly QuarantinedRun[];
}

export interface RecoveryStep {
  /** Rows that were inserted, and their entries. */
  segments: number;
  entries: number;
  /** Files that cannot be read. */
  unreadable: string[];
  /** Continues after this `seq`; `null` at the end. */
  next: number | null;
}

/** Files whose metadata a step reads, and entries from which on it ends. */
const FILES = 200;
const ENTRIES = 100_000;
/** Bytes at the end of a file that are read first. Most footers fit. */
const TAIL_BYTES = 64 * 1024;

type Pause = () => Promise<void>;

/**
 * Inserts rows of the catalog for files in the bucket whose entries it lacks, in order of `seq`. Safe to repeat; in a complete
 * catalog it changes nothing. Entries whose bytes were in the catalog itself are lost with it.
 */
export async function recoverFiles(
  databases: ColdDatabases,
  scope: RecoveryScope,
  pause: Pause = () => new Promise((resolve) => setTimeout(resolve, 0)),
): Promise<RecoveryStep> {
  const bucket = bucketOf(databases);
  const step: RecoveryStep = { segments: 0, entries: 0, unreadable: [], next: null };
  if (bucket === null) return step;
  const dbs = coldDatabasesOf(databases).map(({ db }) => db);
  const page = await readPage(bucket, scope);
  step.unreadable.push(...page.unreadable);
  const { quarantined = [] } = scope;
  const isWritten = (range: FileRangeGroup) => range.lastSeq <= scope.flushedSeq && !hasQuarantined(range, quarantined);
  const ranges = rangesOfFiles(page.files).filter(isWritten);
  const chosen = chooseRanges(ranges);
  for (const [index, range] of chosen.entries()) {
    // A range that reaches beyond the page may overlap with better ones. The first one is taken nevertheless.
    if (index > 0 && range.lastSeq >= page.end) return { ...step, next: range.firstSeq - 1 };
    if (step.entries >= ENTRIES) return { ...step, next: range.firstSeq - 1 };
    const added = await recoverRange({ dbs, bucket, scope, ranges, pause }, range);
    step.segments += added.segments;
    step.entries += added.entries;
    step.unreadable.push(...added.unreadable);
    // What the range covers is needed from no further page, unless it cannot be read.
    if (range.lastSeq >= page.end) return { ...step, next: added.unreadable.length > 0 ? page.end - 1 : range.lastSeq };
  }
  return { ...step, next: page.end === Number.POSITIVE_INFINITY ? null : page.end - 1 };
}

interface Page {
  files: FileFacts[];
  unreadable: string[];
  /** First `seq` of the first file that is not on the page; infinite at the end. */
  end: number;
}

async function readPage(bucket: Bucket, { workspaceId, projectId, after }: RecoveryScope): Promise<Page> {
  const prefix = filePrefix(workspaceId, projectId);
  const from = `${prefix}${(after + 1).toString(16).padStart(16, "0")}`;
  const { files: listed, cursor } = await bucket.list(prefix, null, from);
  const names = listed.flatMap((file) => {
    const name = readFileKey(file.key);
    return name === null ? [] : [{ ...file, ...name }];
  });
  const cut = names[FILES] ?? (cursor === null ? undefined : names.at(-1));
  // All parts of a range are on one page, unless they are more than fit.
  const isWhole = cut !== undefined && names.some(({ firstSeq }) => firstSeq < cut.firstSeq);
  const end = cut === undefined ? Number.POSITIVE_INFINITY : isWhole ? cut.firstSeq : cut.firstSeq + 1;
  const page: Page = { files: [], unreadable: [], end };
  const wanted = names.filter(({ firstSeq }) => firstSeq < end);
  // Some at a time: each takes one connection, and its footer is in memory.
  for (let at = 0; at < wanted.length; at += CONCURRENT) {
    await Promise.all(
      wanted.slice(at, at + CONCURRENT).map(async ({ key, firstSeq, part }) => {
        const open = await openFile(bucket, key).catch(ignoreMalformed);
        const { properties } = open?.reader ?? {};
        // The file of another range, under a name that it was not stored under.
        const isForeign = properties?.projectId !== projectId || properties.firstSeq < firstSeq;
        if (open === null || properties === undefined || isForeign) page.unreadable.push(key);
        else {
          const { lastSeq, count, encoder } = properties;
          page.files.push({ key, firstSeq, part, lastSeq, count, encoder });
        }
      }),
    );
  }
  return page;
}

const CONCURRENT = 4;

async function openFile(bucket: Bucket, file: string): Promise<OpenFile | null> {
  for (let bytes = TAIL_BYTES; ; ) {
    const tail = await bucket.readTail(file, bytes);
    if (tail === null) return null;
    const opened = SegmentReader.open(tail.bytes, tail.size);
    if (typeof opened === "number") {
      bytes = opened;
      continue;
    }
    const footer = tail.bytes.slice(tail.bytes.length - footerBytes(tail.bytes));
    return { file, size: tail.size, footer, reader: opened };
  }
}

function ignoreMalformed(error: unknown): null {
  if (error instanceof MalformedFile || error instanceof RangeError) return null;
  throw error;
}

/** What a step of a recovery reads and writes. */
interface RecoveryPorts {
  dbs: readonly D1Database[];
  bucket: Bucket;
  scope: RecoveryScope;
  /** All ranges of the page. */
  ranges: readonly FileRangeGroup[];
  pause: Pause;
}

type Recovered = Pick<RecoveryStep, "segments" | "entries" | "unreadable">;

/** Inserts the missing rows of a range. For files that cannot be read it takes those that they replaced, if they are still there. */
async function recoverRange(ports: RecoveryPorts, range: FileRangeGroup): Promise<Recovered> {
  const { dbs, bucket, scope, pause } = ports;
  const { workspaceId, projectId } = scope;
  const missing = await missingParts(dbs, scope, range);
  const rows: EncodedSegment[] = [];
  const unreadable: string[] = [];
  for (const file of missing) {
    const open = await openFile(bucket, file.key).catch(ignoreMalformed);
    const key = { projectId, firstSeq: range.firstSeq, lastSeq: range.lastSeq, part: file.part };
    const row = open && (await rebuildRow(bucket, open, key, pause).catch(ignoreMalformed));
    if (row === null) unreadable.push(file.key);
    else rows.push(row);
  }
  const entries = countOf(rows);
  const others = unreadable.length > 0 ? rangesWithin(range, ports.ranges) : [];
  const replaced = chooseRanges(others);
  if (countOf(replaced) > entries) {
    const total: Recovered = { segments: 0, entries: 0, unreadable };
    for (const other of replaced) {
      const added = await recoverRange({ ...ports, ranges: others }, other);
      total.segments += added.segments;
      total.entries += added.entries;
      unreadable.push(...added.unreadable);
    }
    return total;
  }
  const isInserted = rows.length > 0 && (await insertRows(dbs, workspaceId, range, rows));
  return isInserted ? { segments: rows.length, entries, unreadable } : { segments: 0, entries: 0, unreadable };
}

function countOf(items: readonly { count: number }[]): number {
  return items.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Returns the files of a range that need a row. None if the catalog has other segments there that the range does not replace:
 * those of a later compaction, and those that reach beyond it.
 */
async function missingParts(
  dbs: readonly D1Database[],
  scope: RecoveryScope,
  range: FileRangeGroup,
): Promise<FileFacts[]> {
  const found = dbs.map((db) =>
    db
      .prepare(
        `SELECT first_seq AS firstSeq, last_seq AS lastSeq, part, count FROM segments
       WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq <= ?4 AND last_seq >= ?3 AND ${CURRENT}
         AND first_seq >= coalesce((SELECT first_seq FROM segments WHERE workspace_id = ?1 AND project_id = ?2
           AND first_seq <= ?3 AND ${CURRENT} ORDER BY first_seq DESC LIMIT 1), 0)`,
      )
      .bind(scope.workspaceId, scope.projectId, range.firstSeq, range.lastSeq)
      .all<{ firstSeq: number; lastSeq: number; part: number; count: number }>(),
  );
  const results = (await Promise.all(found)).flatMap((page) => page.results);
  const isOwn = (row: { firstSeq: number; part: number }) =>
    row.firstSeq === range.firstSeq && Math.floor(row.part / PARTS) === range.level;
  const others = results.filter((row) => !isOwn(row));
  const isReplaced = (row: { firstSeq: number; lastSeq: number; part: number }) =>
    row.firstSeq >= range.firstSeq && row.lastSeq <= range.lastSeq && Math.floor(row.part / PARTS) < range.level;
  if (!others.every(isReplaced)) return [];
  const stored = results.reduce((sum, { count }) => sum + count, 0);
  if (stored >= range.count) return [];
  const own = new Set(results.filter(isOwn).map(({ part }) => part));
  return range.files.filter(({ part }) => !own.has(part));
}

/**
 * Inserts rows into the last database, and deletes those that they replace: of earlier compactions and flushes, whose entries
 * they have. After a crash in between, the next recovery inserts the rows. Inserts nothing if a database has other segments in
 * the range by now: a compaction may have merged some of them while the files were read.
 * @returns whether the rows are inserted
 */
async function insertRows(
  dbs: readonly D1Database[],
  workspaceId: string,
  { firstSeq, lastSeq, level }: FileRangeGroup,
  rows: readonly EncodedSegment[],
): Promise<boolean> {
  const projectId = rows[0]?.projectId ?? "";
  const db = dbs.at(-1);
  if (db === undefined) return false;
  const range = [firstSeq, lastSeq, level * PARTS];
  const files = JSON.stringify(rows.map(({ file }) => file));
  const replacedIn = (own: D1Database) =>
    own
      .prepare(
        `DELETE FROM segments WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq BETWEEN ?3 AND ?4 AND last_seq <= ?4
         AND (part < ?5 OR replaced_at IS NOT NULL) AND ${freeSql(3)}`,
      )
      .bind(workspaceId, projectId, ...range);
  const named = db
    .prepare(
      `DELETE FROM orphans WHERE file IN (SELECT value FROM json_each(?))
         AND EXISTS (SELECT 1 FROM segments WHERE segments.file = orphans.file)`,
    )
    .bind(files);
  const freeIn = (own: D1Database) =>
    own.prepare(`SELECT ${freeSql(3)} AS isFree`).bind(workspaceId, projectId, ...range);
  /** @returns whether another database has no other segments in the range */
  const makeFree = async (other: D1Database): Promise<boolean> => {
    // Its cleanup must not delete files that only the rows of this database will name.
    const forget = other.prepare("DELETE FROM orphans WHERE file IN (SELECT value FROM json_each(?))").bind(files);
    const results = await other.batch<{ isFree: number }>([freeIn(other), replacedIn(other), forget]);
    return results[0]?.results[0]?.isFree === 1;
  };
  const inserts = rows.map((row) => insertIf(db, workspaceId, row, freeSql(CONDITION_PARAM), range));
  if (dbs.length > 1 && (await freeIn(db).first<number>("isFree")) !== 1) return false;
  for (const other of dbs) if (other !== db && !(await makeFree(other))) return false;
  const stored = db
    .prepare("SELECT count(*) AS n FROM segments WHERE file IN (SELECT value FROM json_each(?))")
    .bind(files);
  const results = await db.batch<{ n: number }>([replacedIn(db), ...inserts, named, stored]);
  return results.at(-1)?.results[0]?.n === rows.length;
}

/**
 * Returns the condition that a range of a project has no current segments but those that its rows replace, and the rows
 * themselves. `?1` is the workspace, `?2` the project.
 * @param first number of the parameter with the first `seq`; then follow the last one, and the first part of the level
 */
function freeSql(first: number): string {
  const [from, to, part] = [`?${first}`, `?${first + 1}`, `?${first + 2}`];
  return `NOT EXISTS (SELECT 1 FROM segments AS other
    WHERE other.workspace_id = ?1 AND other.project_id = ?2 AND other.first_seq <= ${to} AND other.last_seq >= ${from}
      AND other.replaced_at IS NULL AND other.first_seq >= coalesce((SELECT first_seq FROM segments
        WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq <= ${from} AND ${CURRENT}
        ORDER BY first_seq DESC LIMIT 1), 0)
      AND NOT (other.first_seq >= ${from} AND other.last_seq <= ${to} AND other.part < ${part})
      AND NOT (other.first_seq = ${from} AND other.part >= ${part} AND other.part < ${part} + ${PARTS}))`;
}
