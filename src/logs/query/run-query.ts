import { logId } from "../entry-view.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer } from "./budget.ts";
import {
  type Cursor,
  encodeAsOf,
  encodeCursor,
  fingerprint,
  RESUMABLE_SCAN_START,
  type ResumableScanState,
} from "./cursor.ts";
import { direction, type RowPosition } from "./feed.ts";
import { FoundRowReader } from "./found-row-reader.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "./memory.ts";
import type { RecentFeed, RecentPage } from "./recent-feed.ts";
import { ResumableScan, type ResumableScanQuery } from "./resumable-scan.ts";
import { type ScanOutcome, scan, skipOf } from "./scan.ts";
import type { LogQuery } from "./schema.ts";
import {
  boundedSource,
  coldSelection,
  keptFilter,
  type LogSource,
  openRecent,
  recentSelection,
  type TierScan,
  withColdTier,
} from "./tiers.ts";
import type { Row } from "./top-rows.ts";

/** Bytes as stored of the first page of batches. */
const FIRST_PAGE_BYTES = 512 * 1024;

/** A cursor in the middle of a resumable scan. */
export type ResumingCursor = Cursor & { resume: ResumableScanState };

/** Requests the page of the recent tier with which every request starts. It has no batches if the scan needs none. */
export function openResumed(
  source: LogSource,
  { filter }: LogQuery,
  { resumeAt }: ResumableScanState,
  scan: TierScan,
): Promise<RecentPage> {
  const selection = { ...recentSelection(filter, scan), followsMoves: true };
  if (resumeAt?.tier !== "recent") return source.recent({ ...selection, levelMask: 0, position: null, maxBytes: 1 });
  return source.recent({ ...selection, position: resumeAt.position, maxBytes: FIRST_PAGE_BYTES });
}

/** Continues a resumable scan. Returns its rows when it has finished. */
export async function readResumed(
  source: LogSource,
  query: LogQuery,
  cursor: ResumingCursor,
  first: RecentPage,
  scan: TierScan,
  budget: QueryBudget,
  memory: ReadMemory,
): Promise<PageCut> {
  const { asOf } = first;
  const pacer = new ScanPacer();
  const wanted: ResumableScanQuery = {
    order: query.order,
    position: cursor.position,
    filter: keptFilter(query.filter, first),
    recent: { ...recentSelection(query.filter, { ...scan, asOf }), followsMoves: true },
    cold: coldSelection(source, first, query.filter, scan),
    work: budget.work,
    rows: budget.resumableRows,
  };
  const scanner = new ResumableScan(source, wanted, pacer, memory, cursor.resume);
  const { resumeAt } = cursor.resume;
  const state = resumeAt === null ? cursor.resume : await scanner.run(resumeAt, first);
  const { meter } = pacer;
  const { position, skip } = cursor;
  if (state.resumeAt !== null || (resumeAt !== null && meter.done >= budget.work)) {
    const next = { position, skip, resume: state };
    return { rows: [], complete: false, next, total: null, scanned: scanner.scanned, work: meter.done };
  }
  const passed = Math.min(skip, state.keys.length);
  const projects = new Set(first.flushed.map(({ projectId }) => projectId));
  const reader = new FoundRowReader(source, wanted, pacer, memory, budget, projects);
  const { rows, taken } = await reader.read(state.keys.slice(passed), query.limit);
  const rest = state.keys.slice(passed + taken);
  const continuation = {
    position: state.keys[passed + taken - 1] ?? position,
    skip: skip - passed,
    resume: rest.length > 0 ? { ...state, keys: rest } : null,
  };
  const next = rest.length === 0 && state.isLast ? null : continuation;
  const complete = next === null || rows.length === query.limit;
  return { rows, complete, next, total: null, scanned: scanner.scanned, work: meter.done };
}

/** One page, as in the response of `POST /logger/query` except for its rows; see `pageTexts`. */
export interface QueryPage {
  rows: Row[];
  pagination: { offset: number; limit: number; hasMore: boolean; nextCursor: string | null; total?: number };
  /**
   * `false` if the budget ran out. The page may then have fewer rows than `limit` without being the last, and `total`
   * is absent.
   */
  complete: boolean;
  asOf: string;
  stats: QueryStats;
}

export interface QueryStats {
  /** Number of entries in the scanned batches. */
  scanned: number;
  /** Number of rows of this page by tier. */
  recent: number;
  stored: number;
  tookMs: number;
}

/** Mistakes of the caller that only the object can find. */
export type QueryFailure = "foreign_cursor" | "future_snapshot";

/**
 * `work`: work units used. `cursor`: that of the page. `commit`, `oldest`: commit number of the snapshot, and the retention
 * cutoff in epoch milliseconds.
 */
export type QueryResult =
  | { ok: true; page: QueryPage; work: number; cursor: Cursor | null; snapshot: { commit: number; oldest: number } }
  | { ok: false; reason: QueryFailure };

/**
 * Runs one page of a query over both tiers. Scans items in the order of their bounds, so the scan ends when the rest
 * cannot change the page, or when the budget is used up.
 */
export async function runQuery(
  source: LogSource,
  query: LogQuery,
  clock: () => number,
  budget: QueryBudget = QUERY_BUDGET,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<QueryResult> {
  const startedAt = clock();
  const result = await readPage(boundedSource(source, memory), query, budget, memory);
  if (result.ok) result.page.stats.tookMs = clock() - startedAt;
  return result;
}

async function readPage(
  source: LogSource,
  query: LogQuery,
  budget: QueryBudget,
  memory: ReadMemory,
): Promise<QueryResult> {
  const { first, read } = await open(source, query, budget, memory);
  const { asOf, lastCommit, scope } = first;
  if (asOf > lastCommit) return { ok: false, reason: "future_snapshot" };
  const own = fingerprint(query.filter, scope);
  if (query.cursor && query.cursor.fingerprint !== own) return { ok: false, reason: "foreign_cursor" };
  const cut = await read();
  const { rows, next, total } = cut;
  const cursor = next && { asOf, order: query.order, fingerprint: own, ...next };
  const complete = cut.complete && (total !== null || !query.includeTotal);
  const nextCursor = cursor && encodeCursor(cursor);
  const pagination = { offset: query.offset, limit: query.limit, hasMore: cursor !== null, nextCursor };
  const stored = rows.filter(({ tier }) => tier === "cold").length;
  return {
    ok: true,
    work: cut.work,
    cursor,
    snapshot: { commit: asOf, oldest: first.oldest },
    page: {
      rows,
      pagination: complete && total !== null ? { ...pagination, total } : pagination,
      complete,
      asOf: encodeAsOf(asOf),
      stats: { scanned: cut.scanned, recent: rows.length - stored, stored, tookMs: 0 },
    },
  };
}

/** The first page of the recent tier, which pins the snapshot, and a feed of everything else. */
interface Opened {
  first: RecentPage;
  read(): Promise<PageCut>;
}

async function open(source: LogSource, query: LogQuery, budget: QueryBudget, memory: ReadMemory): Promise<Opened> {
  const { cursor } = query;
  const scanned = scanOf(query);
  if (isResuming(cursor)) {
    const first = await openResumed(source, query, cursor.resume, scanned);
    return { first, read: () => readResumed(source, query, cursor, first, scanned, budget, memory) };
  }
  const recent = await openRecent(source, query.filter, scanned);
  return { first: recent.first, read: () => readInOrder(source, query, recent, scanned, budget, memory) };
}

function isResuming(cursor: Cursor | null): cursor is ResumingCursor {
  return cursor !== null && cursor.resume !== null;
}

async function readInOrder(
  source: LogSource,
  query: LogQuery,
  recent: RecentFeed,
  scanned: TierScan,
  budget: QueryBudget,
  memory: ReadMemory,
): Promise<PageCut> {
  const pacer = new ScanPacer();
  const rows = query.includeTotal ? null : skipOf(query) + query.limit + 1;
  const { feed, filter } = await withColdTier(source, recent, query.filter, scanned, { pacer, memory, rows });
  const outcome = await scan(feed, query, filter, budget, source.report, memory, pacer);
  const { total, work } = outcome;
  return { ...cutPage(outcome, query, budget), total, scanned: outcome.scanned, work };
}

/** Excludes rows before the cursor, unless a total counts them. */
function scanOf({ filter, order, cursor, includeTotal, asOf }: LogQuery): TierScan {
  let { from, to } = filter;
  if (cursor && !includeTotal) {
    const { timestamp } = cursor.position;
    if (order === "asc") from = Math.max(from ?? timestamp, timestamp);
    else to = Math.min(to ?? timestamp + 1, timestamp + 1);
  }
  return { asOf, from, to, order };
}

/** A page and its work. */
export interface PageCut {
  rows: Row[];
  complete: boolean;
  /** `null` only if nothing more can match. */
  next: Pick<Cursor, "position" | "skip" | "resume"> | null;
  /** `null` if not every entry was counted. */
  total: number | null;
  scanned: number;
  /** Work units used. */
  work: number;
}

/** Takes the page out of the found rows: only rows that no unseen entry can precede. */
function cutPage(
  { collector, frontier, stuckAt }: ScanOutcome,
  query: LogQuery,
  budget: QueryBudget,
): Pick<PageCut, "rows" | "complete" | "next"> {
  const skip = skipOf(query);
  if (stuckAt !== null) {
    const position = query.cursor?.position ?? { timestamp: stuckAt, seq: null };
    return { rows: [], complete: false, next: { position, skip, resume: RESUMABLE_SCAN_START } };
  }
  const sign = direction(query.order);
  const kept = collector.rows();
  const rows = frontier === null ? kept : kept.filter((row) => sign * (row.timestamp - frontier) < 0);
  const page = fitting(rows.slice(skip, skip + query.limit), budget.answerBytes);
  const last = page.at(-1);
  const isCut = page.length < Math.min(query.limit, rows.length - skip);
  const after = (position: RowPosition, left: number) => ({ position, skip: left, resume: null });
  if (last && rows.length > skip + page.length) {
    return { rows: page, complete: frontier === null && !isCut, next: after(keyOf(last), 0) };
  }
  const end = rows.at(-1);
  const skipLeft = Math.max(0, skip - rows.length);
  if (collector.truncated && end && rows.length === kept.length) {
    return { rows: page, complete: false, next: after(keyOf(end), skipLeft) };
  }
  if (frontier === null) return { rows: page, complete: true, next: null };
  return { rows: page, complete: false, next: after({ timestamp: frontier, seq: null }, skipLeft) };
}

function fitting(rows: readonly Row[], maxBytes: number): Row[] {
  let bytes = 0;
  const tooMany = rows.findIndex((row, index) => {
    bytes += row.line.length;
    return index > 0 && bytes > maxBytes;
  });
  return rows.slice(0, tooMany < 0 ? rows.length : tooMany);
}

function keyOf({ timestamp, seq, projectId }: Row): RowPosition {
  return { timestamp, seq, projectId };
}

/**
 * Returns the JSON of a `StoredEntry`: bytes of UTF-8, one character each. A stored line is JSON, so it is completed as
 * text. Objects for a response of small members would take twenty times its bytes.
 */
export function rowText({ line, seq, projectId, receivedAt }: Row): string {
  // The members of the line, without its braces.
  const members = line.slice(1, -1);
  const received = new Date(receivedAt).toISOString();
  const id = logId(projectId, seq);
  return `{"id":"${id}",${members},"seq":${seq},"projectId":"${projectId}","receivedAt":"${received}"}`;
}

/** Yields the JSON of a page in parts: bytes of UTF-8, one character each. */
export function* pageTexts({ rows, ...page }: QueryPage): Generator<string> {
  yield '{"logs":[';
  for (const [index, row] of rows.entries()) yield index === 0 ? rowText(row) : `,${rowText(row)}`;
  // Cursors, snapshots and numbers are ASCII.
  yield `],${JSON.stringify(page).slice(1)}`;
}
