import type { Row } from "./collector.ts";
import { type Cursor, encodeAsOf, encodeCursor, fingerprint } from "./cursor.ts";
import { QUERY_BUDGET, type QueryBudget } from "./limits.ts";
import { boundedSource, type ReadMemory, UNBOUNDED_MEMORY } from "./memory.ts";
import type { RecentFeed } from "./recent-feed.ts";
import type { RecentPage } from "./recent-scan.ts";
import { direction, type RowPosition } from "./row-order.ts";
import { type ScanOutcome, scan, skipOf } from "./scan.ts";
import type { LogQuery } from "./schema.ts";
import { SWEEP_BEGIN } from "./sweep-state.ts";
import { openResumed, type ResumingCursor, readResumed } from "./swept-page.ts";
import { type LogSource, openRecent, type TierScan, withColdTier } from "./tiers.ts";

/** One page, as `POST /logger/query` answers it but for its rows; see `answer.ts`. */
export interface QueryPage {
  rows: Row[];
  pagination: { offset: number; limit: number; hasMore: boolean; nextCursor: string | null; total?: number };
  /** False: a budget ended first. Fewer rows than `limit` are then no end, and a total asked for is missing. */
  complete: boolean;
  asOf: string;
  stats: QueryStats;
}

export interface QueryStats {
  /** Entries in the batches looked through. */
  scanned: number;
  /** Rows of this page by the tier that they came from. */
  recent: number;
  stored: number;
  tookMs: number;
}

/** What only the object can tell about a request: the caller's mistakes. */
export type QueryFailure = "foreign_cursor" | "future_snapshot";

/** `work`: units of work done. */
export type QueryResult = { ok: true; page: QueryPage; work: number } | { ok: false; reason: QueryFailure };

/**
 * Runs one page of a query over both tiers. What is stored is scanned in the order of the nearest entry that each part can
 * hold, so the scan ends as soon as the rest cannot change the page, or when the budget is used up.
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
  const cursor = next && encodeCursor({ asOf, order: query.order, fingerprint: own, ...next });
  const complete = cut.complete && (total !== null || !query.includeTotal);
  const pagination = { offset: query.offset, limit: query.limit, hasMore: cursor !== null, nextCursor: cursor };
  const stored = rows.filter(({ tier }) => tier === "stored").length;
  return {
    ok: true,
    work: cut.work,
    page: {
      rows,
      pagination: complete && total !== null ? { ...pagination, total } : pagination,
      complete,
      asOf: encodeAsOf(asOf),
      stats: { scanned: cut.scanned, recent: rows.length - stored, stored, tookMs: 0 },
    },
  };
}

/** The first page of the recent tier, which pins the snapshot, and what reads all the rest. */
interface Opened {
  first: RecentPage;
  read(): Promise<PageCut>;
}

async function open(source: LogSource, query: LogQuery, budget: QueryBudget, memory: ReadMemory): Promise<Opened> {
  const { cursor } = query;
  const scanned = scanOf(query);
  if (isSweeping(cursor)) {
    const first = await openResumed(source, query, cursor.sweep, scanned);
    return { first, read: () => readResumed(source, query, cursor, first, scanned, budget, memory) };
  }
  const recent = await openRecent(source, query.filter, scanned);
  return { first: recent.first, read: () => readInOrder(source, query, recent, scanned, budget, memory) };
}

function isSweeping(cursor: Cursor | null): cursor is ResumingCursor {
  return cursor !== null && cursor.sweep !== null;
}

async function readInOrder(
  source: LogSource,
  query: LogQuery,
  recent: RecentFeed,
  scanned: TierScan,
  budget: QueryBudget,
  memory: ReadMemory,
): Promise<PageCut> {
  const { feed, filter } = await withColdTier(source, recent, query.filter, scanned);
  const outcome = await scan(feed, query, filter, budget, source.report, memory);
  const { total, work } = outcome;
  return { ...cutPage(outcome, query, budget), total, scanned: outcome.scanned, work };
}

/** Rows before the cursor are not asked for again, unless a total counts them, too. */
function scanOf({ filter, order, cursor, includeTotal, asOf }: LogQuery): TierScan {
  let { from, to } = filter;
  if (cursor && !includeTotal) {
    const { timestamp } = cursor.position;
    if (order === "asc") from = Math.max(from ?? timestamp, timestamp);
    else to = Math.min(to ?? timestamp + 1, timestamp + 1);
  }
  return { asOf, from, to, order };
}

/** A page, and what it took. */
export interface PageCut {
  rows: Row[];
  complete: boolean;
  /** Null only when nothing more can match. */
  next: Pick<Cursor, "position" | "skip" | "sweep"> | null;
  /** Null where not every entry was counted. */
  total: number | null;
  scanned: number;
  /** Units of work done. */
  work: number;
}

/** Takes the page out of what was collected: only rows that no unseen entry can come before. */
function cutPage(
  { collector, frontier, stuckAt }: ScanOutcome,
  query: LogQuery,
  budget: QueryBudget,
): Pick<PageCut, "rows" | "complete" | "next"> {
  const skip = skipOf(query);
  if (stuckAt !== null) {
    const position = query.cursor?.position ?? { timestamp: stuckAt, seq: null };
    return { rows: [], complete: false, next: { position, skip, sweep: SWEEP_BEGIN } };
  }
  const sign = direction(query.order);
  const kept = collector.rows();
  const rows = frontier === null ? kept : kept.filter((row) => sign * (row.timestamp - frontier) < 0);
  const page = fitting(rows.slice(skip, skip + query.limit), budget.answerBytes);
  const last = page.at(-1);
  const isCut = page.length < Math.min(query.limit, rows.length - skip);
  const behind = (position: RowPosition, left: number) => ({ position, skip: left, sweep: null });
  if (last && rows.length > skip + page.length) {
    return { rows: page, complete: frontier === null && !isCut, next: behind(keyOf(last), 0) };
  }
  const end = rows.at(-1);
  const skipLeft = Math.max(0, skip - rows.length);
  if (collector.truncated && end && rows.length === kept.length) {
    return { rows: page, complete: false, next: behind(keyOf(end), skipLeft) };
  }
  if (frontier === null) return { rows: page, complete: true, next: null };
  return { rows: page, complete: false, next: behind({ timestamp: frontier, seq: null }, skipLeft) };
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
