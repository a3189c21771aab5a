import type { BatchEncoding, RecentBatch } from "../../logs/batch.ts";
import { mayContainIds } from "../../logs/id-filter.ts";
import type { ProjectProgress, RecentPage, RecentScan } from "../../logs/query/recent-feed.ts";
import { packSummaries, type RecentCountPage, type RecentCountScan } from "../../logs/stats/recent-counts.ts";
import { countsOf, idFiltersOf } from "../../logs/summary.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { maybe, one } from "../../platform/sql.ts";
import type { ProjectRow } from "../projects.ts";
import { type BatchSelection, positionOf } from "./batch-columns.ts";
import type { BatchIndex, Selected } from "./batch-index.ts";
import { lastCommit } from "./batches.ts";

export type { RecentPage, RecentScan };

/** Maximum stored bytes and batches of one turn, whatever a scan requests: either takes about 5 ms. */
const PAGE_MAX_BYTES = 4 * 1024 * 1024;
const PAGE_MAX_BATCHES = 500;
/** Maximum id filters tested in one turn, and bytes of their summaries: about 5 ms more. */
const PAGE_MAX_FILTERS = 1000;
const PAGE_MAX_FILTER_BYTES = 4 * 1024 * 1024;

/** The projects to search, and the scope's name in cursors. */
export interface RecentScope {
  name: string;
  projects: readonly { num: number; id: string; flushedSeq: number; lastSeq: number }[];
  /** See `RecentPage.oldest`. */
  oldest: number;
}

/** Progress of each project. `isNewest`: the snapshot includes everything that was committed. */
export function progressOf(projects: RecentScope["projects"], isNewest: boolean): ProjectProgress[] {
  return projects.map(({ id, flushedSeq, lastSeq }) => {
    return { projectId: id, seq: flushedSeq, ...(isNewest ? { lastSeq } : {}) };
  });
}

/** A page, or a selection to run outside of the turn first, because it would block the thread for too long. */
export type RecentRead = { ok: true; page: RecentPage } | { ok: false; selection: BatchSelection };

/**
 * Returns one page of candidate batches.
 * @param found the result of an earlier read's `selection`, selected in several turns
 */
export function readRecent(
  sql: SqlStorage,
  index: Pick<BatchIndex, "select">,
  scan: RecentScan,
  scope: RecentScope,
  found: Selected | null = null,
): RecentRead {
  const newest = lastCommit(sql);
  const asOf = scan.asOf ?? newest;
  const { name, projects, oldest } = scope;
  const flushed = progressOf(projects, asOf === newest);
  const page: RecentPage = { asOf, lastCommit: newest, scope: name, flushed, oldest, batches: [], next: null };
  if (asOf > newest) return { ok: true, page };
  const projectIds = new Map(projects.map(({ num, id }) => [num, id]));
  const selection = { ...scan, asOf, projects: projectIds };
  const selected = found ?? index.select(selection);
  if (selected === null) return { ok: false, selection };
  const maxBytes = Math.min(scan.maxBytes, PAGE_MAX_BYTES);
  let bytes = 0;
  const ids = scan.ids ?? [];
  let tested = 0;
  let testedBytes = 0;
  for (const [at, batch] of selected.batches.entries()) {
    const isLast = selected.isCut && at === selected.batches.length - 1;
    const isPageEnd = isLast || tested === PAGE_MAX_FILTERS || testedBytes > PAGE_MAX_FILTER_BYTES;
    if (!isPageEnd && ids.length > 0) {
      const summary = readSummaryOf(sql, batch.commit);
      if (summary === null) continue;
      tested++;
      testedBytes += summary.length;
      if (!mayContainIds(idFiltersOf(summary), ids)) continue;
    }
    bytes += batch.bodyBytes;
    if (isPageEnd || page.batches.length === PAGE_MAX_BATCHES || (bytes > maxBytes && page.batches.length > 0)) {
      page.next = positionOf(scan.order, batch);
      break;
    }
    const given = giveBatch(sql, batch.commit, projectIds.get(batch.project) ?? "");
    if (given) page.batches.push(given);
  }
  return { ok: true, page };
}

/** `null` if the batch was deleted since it was selected. */
function readSummaryOf(sql: SqlStorage, commit: number): Uint8Array | null {
  const select = "SELECT summary FROM batches WHERE commit_no = ?";
  const row = maybe<{ summary: ArrayBuffer }>(sql, select, commit);
  return row ? new Uint8Array(row.summary) : null;
}

type BatchRow = {
  firstSeq: number;
  count: number;
  minTimestamp: number;
  maxTimestamp: number;
  receivedAt: number;
  encoding: BatchEncoding;
  size: number;
  bodyBytes: number;
  body: ArrayBuffer;
  partsKey: number | null;
};

/** Reads a whole batch. Its commit number must exist. @throws RangeError if a part of it is missing */
export function readBatch(sql: SqlStorage, commit: number, projectId: string): RecentBatch {
  const batch = readRow(sql, commit, projectId);
  if (!batch?.isWhole) throw new RangeError("A batch's parts are not as long as its row says.");
  return batch.stored;
}

/** A body that no decoder accepts. Each batch has its own, because readers free bodies. */
function notWhole(): Pick<RecentBatch, "encoding" | "body"> {
  return { encoding: 1, body: Uint8Array.of(0) };
}

/**
 * Like `readBatch`, for a reader that must not fail because of one bad batch: it gets bytes that do not decode, and
 * reports the batch. `null` if the batch was deleted.
 */
export function giveBatch(sql: SqlStorage, commit: number, projectId: string): RecentBatch | null {
  const row = readRow(sql, commit, projectId);
  return row && (row.isWhole ? row.stored : { ...row.stored, ...notWhole() });
}

function readRow(sql: SqlStorage, commit: number, projectId: string): { stored: RecentBatch; isWhole: boolean } | null {
  const row = maybe<BatchRow>(
    sql,
    `SELECT first_seq AS firstSeq, count, min_ts AS minTimestamp, max_ts AS maxTimestamp, received_at AS receivedAt,
       encoding, size, body_bytes AS bodyBytes, body, parts_key AS partsKey
     FROM batches WHERE commit_no = ?`,
    commit,
  );
  if (!row) return null;
  const { bodyBytes, body, partsKey, ...columns } = row;
  const bytes = body.byteLength === bodyBytes ? new Uint8Array(body) : joinParts(sql, partsKey ?? commit, body);
  return { stored: { commit, projectId, ...columns, body: bytes }, isWhole: bytes.length === bodyBytes };
}

/** The batch's row has part 0; the rest is in `batch_parts`. */
function joinParts(sql: SqlStorage, key: number, first: ArrayBuffer): Uint8Array {
  const rows = sql.exec("SELECT body FROM batch_parts WHERE commit_no = ? ORDER BY part", key).raw<[ArrayBuffer]>();
  const parts = [first, ...[...rows].map(([part]) => part)].map((part) => new Uint8Array(part));
  const body = Buffer.concat(parts);
  for (const part of parts) detachBuffer(part);
  return body;
}

/** Batches scanned in one turn: about 3 ms. */
const COUNTS_PAGE_BATCHES = 1500;
/**
 * Maximum bytes of their summaries, plus the last one: a summary of 1,000 entries with distinct types has up to half a
 * megabyte.
 */
const COUNTS_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Returns a page of summaries of recent batches. Skips most bytes of the table, because bodies are after the summaries.
 */
export function readRecentCounts(sql: SqlStorage, scan: RecentCountScan, scope: RecentScope): RecentCountPage {
  const newest = lastCommit(sql);
  const asOf = scan.asOf ?? newest;
  const { projects, oldest } = scope;
  const rows = sql
    .exec(
      `SELECT commit_no, project, min_ts, max_ts, level_mask, category_mask, summary FROM batches
       WHERE commit_no > ? AND commit_no <= ? ORDER BY commit_no LIMIT ?`,
      scan.after,
      asOf,
      COUNTS_PAGE_BATCHES,
    )
    .raw<[number, number, number, number, number, number, ArrayBuffer]>();
  const flushedOf = new Map(projects.map(({ num, flushedSeq }) => [num, flushedSeq]));
  const summaries: Uint8Array[] = [];
  let scanned = 0;
  let bytes = 0;
  let next = scan.after;
  for (const [commit, project, min, max, levels, categories, summary] of rows) {
    scanned++;
    next = commit;
    if (!flushedOf.has(project)) continue;
    if (scan.from !== null && max < scan.from) continue;
    if (scan.to !== null && min >= scan.to) continue;
    if ((levels & scan.levelMask) === 0 || (categories & scan.categoryMask) === 0) continue;
    summaries.push(countsOf(new Uint8Array(summary)));
    bytes += summary.byteLength;
    if (bytes > COUNTS_PAGE_BYTES) break;
  }
  return {
    asOf,
    flushed: progressOf(projects, asOf === newest),
    oldest,
    summaries: packSummaries(summaries),
    next: scanned < COUNTS_PAGE_BATCHES && bytes <= COUNTS_PAGE_BYTES ? null : next,
  };
}

/** Entries of a project with `after < seq <= until`, as far as one response goes. */
export interface SeqScan {
  after: number;
  until: number;
}

/**
 * The recent part of a range, and what a reader needs to know about the rest. Read it before the cold tier, because a
 * batch leaves the object only after it is in the cold tier.
 */
export interface SeqPage {
  projectId: string;
  /** The project's newest `seq`. */
  lastSeq: number;
  /** Everything up to this `seq` is in the cold tier, except quarantined batches, which are still here. */
  flushedSeq: number;
  /** Epoch milliseconds of the retention cutoff. Entries with an earlier timestamp are expired in either tier. */
  oldest: number;
  /** `batches` has everything recent of the range up to here. */
  through: number;
  /** In order; the first and the last may extend beyond the range. */
  batches: RecentBatch[];
}

/** Maximum stored bytes that one turn reads, except for a single larger body. Takes about 2 ms. */
const SEQ_PAGE_BYTES = 1024 * 1024;
const SEQ_PAGE_BATCHES = 200;

export function readBySeq(
  sql: SqlStorage,
  index: BatchIndex,
  project: ProjectRow,
  oldest: number,
  scan: SeqScan,
): SeqPage {
  const { lastSeq, flushedSeq, id: projectId } = project;
  const until = Math.min(scan.until, lastSeq);
  const page: SeqPage = { projectId, lastSeq, flushedSeq, oldest, through: until, batches: [] };
  let bytes = 0;
  index.visitBatchesAfter(project.num, scan.after, ({ commit, firstSeq, bodyBytes }) => {
    if (firstSeq > until) return false;
    bytes += bodyBytes;
    if (page.batches.length > 0 && (bytes > SEQ_PAGE_BYTES || page.batches.length === SEQ_PAGE_BATCHES)) {
      page.through = firstSeq - 1;
      return false;
    }
    const batch = giveBatch(sql, commit, projectId);
    if (batch) page.batches.push(batch);
    return true;
  });
  return page;
}

/** Where a reader at a `seq` continues: with batches, or with the cold tier up to a `seq`. */
export type NextBySeq = { tier: "recent"; page: SeqPage } | { tier: "cold"; until: number };

export function nextBySeq(
  sql: SqlStorage,
  index: BatchIndex,
  project: ProjectRow,
  oldest: number,
  after: number,
): NextBySeq {
  const { flushedSeq, lastSeq, num } = project;
  const recent = (until: number): NextBySeq => {
    return { tier: "recent", page: readBySeq(sql, index, project, oldest, { after, until }) };
  };
  if (after >= flushedSeq) return recent(lastSeq);
  let next: NextBySeq = { tier: "cold", until: flushedSeq };
  // Quarantined batches may be below the watermark.
  index.visitBatchesAfter(num, after, ({ commit, firstSeq }) => {
    if (firstSeq > flushedSeq) return false;
    const { count } = one<{ count: number }>(sql, "SELECT count FROM batches WHERE commit_no = ?", commit);
    const last = firstSeq + count - 1;
    if (firstSeq > after + 1) next = { tier: "cold", until: firstSeq - 1 };
    else if (last > after) next = recent(last);
    else return true;
    return false;
  });
  return next;
}
