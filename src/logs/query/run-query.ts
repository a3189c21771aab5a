import type { StoredBatch } from "../batch.ts";
import { decodeBody } from "../codec.ts";
import type { Entry, StoredEntry } from "../entry.ts";
import { logId } from "../log-id.ts";
import { BatchMatcher } from "./batch-matcher.ts";
import { Collector, type Row } from "./collector.ts";
import { type Cursor, encodeAsOf, encodeCursor, fingerprint } from "./cursor.ts";
import { categoryMaskOf } from "./filter.ts";
import { QUERY_BUDGET, type QueryBudget } from "./limits.ts";
import { type BatchFeed, RecentFeed, type RecentSource } from "./recent-feed.ts";
import type { RecentScan } from "./recent-scan.ts";
import { direction, isBehind, type RowPosition } from "./row-order.ts";
import type { LogQuery } from "./schema.ts";

/** One page, as `POST /logger/query` answers it. */
export interface QueryPage {
  logs: StoredEntry[];
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

/** What only the object can tell about a request: both are the caller's mistake. */
export type QueryFailure = "foreign_cursor" | "future_snapshot";

export type QueryResult = { ok: true; page: QueryPage } | { ok: false; reason: QueryFailure };

/**
 * Runs one page of a query. Batches are scanned in the order of the nearest entry that each can hold, so the scan ends
 * as soon as the rest cannot change the page, or when the budget is used up.
 */
export async function runQuery(
  source: RecentSource,
  query: LogQuery,
  clock: () => number,
  budget: QueryBudget = QUERY_BUDGET,
): Promise<QueryResult> {
  const startedAt = clock();
  const feed = await RecentFeed.open(source, scanOf(query));
  if (feed.asOf > feed.lastCommit) return { ok: false, reason: "future_snapshot" };
  const own = fingerprint(query.filter, feed.scope);
  if (query.cursor && query.cursor.fingerprint !== own) return { ok: false, reason: "foreign_cursor" };
  const scan = await scanBatches(feed, query, budget);
  const cut = cutPage(scan, query, budget);
  const { next } = cut;
  const cursor = next && encodeCursor({ asOf: feed.asOf, order: query.order, fingerprint: own, ...next });
  const complete = cut.complete && (scan.total !== null || !query.includeTotal);
  const pagination = { offset: query.offset, limit: query.limit, hasMore: cursor !== null, nextCursor: cursor };
  return {
    ok: true,
    page: {
      logs: cut.rows.map(toStoredEntry),
      pagination: complete && scan.total !== null ? { ...pagination, total: scan.total } : pagination,
      complete,
      asOf: encodeAsOf(feed.asOf),
      stats: { scanned: scan.scanned, recent: cut.rows.length, stored: 0, tookMs: clock() - startedAt },
    },
  };
}

/** Rows before the cursor are not asked for again, unless a total counts them, too. */
function scanOf({ filter, order, cursor, includeTotal, asOf }: LogQuery): Omit<RecentScan, "position" | "maxBytes"> {
  let { from, to } = filter;
  if (cursor && !includeTotal) {
    const { timestamp } = cursor.position;
    if (order === "asc") from = Math.max(from ?? timestamp, timestamp);
    else to = Math.min(to ?? timestamp + 1, timestamp + 1);
  }
  return { asOf, from, to, levelMask: filter.levelMask, categoryMask: categoryMaskOf(filter), order };
}

interface ScanOutcome {
  collector: Collector;
  /** Where the budget ended the scan: entries from this time on have not all been seen. Null: it went to its end. */
  frontier: number | null;
  /** Null when it was not asked for or not every batch was counted. */
  total: number | null;
  scanned: number;
}

/** Characters of `search` that double what a byte costs: hostile text is compared with a good part of the needle. */
const SEARCH_COST_LENGTH = 32;

/**
 * Batches that begin before a page and reach into it are read again by every page. They have a budget of their own, so
 * that a page gets on by as much as any other; this many budgets are the most that one request may cost.
 */
const FRONT_BUDGETS = 4;

async function scanBatches(feed: BatchFeed, query: LogQuery, budget: QueryBudget): Promise<ScanOutcome> {
  const { order, filter, includeTotal } = query;
  const sign = direction(order);
  const after = query.cursor?.position ?? null;
  const matcher = new BatchMatcher(filter);
  const collector = new Collector(order, skipOf(query) + query.limit + 1, budget.heldCharacters);
  const outcome: ScanOutcome = { collector, frontier: null, total: includeTotal ? 0 : null, scanned: 0 };
  const start = startOf(feed, query);
  const byteCost = 1 + (filter.search?.length ?? 0) / SEARCH_COST_LENGTH;
  let cost = 0;
  let frontCost = 0;
  for (let bound = feed.bound(); bound !== null; bound = feed.bound()) {
    const { last } = collector;
    const canChangePage = last === null || sign * (bound - last.timestamp) <= 0;
    if (!canChangePage && outcome.total === null) break;
    const overBudget = cost >= budget.scanBytes || cost + frontCost >= FRONT_BUDGETS * budget.scanBytes;
    // A page must get on: the next one begins at the frontier, so that has to lie behind where this one began.
    if (overBudget && (!canChangePage || sign * (bound - start) > 0)) {
      outcome.frontier = bound;
      break;
    }
    const batch = await feed.take();
    const holdsRows = canChangePage && (after === null || reaches(order, batch, after));
    if (!holdsRows && overBudget) {
      outcome.total = null;
      continue;
    }
    if (!holdsRows && matcher.passesAll && outcome.total !== null && isWithin(batch, filter.from, filter.to)) {
      outcome.total += batch.count;
      continue;
    }
    const body = decodeBody(batch.encoding, batch.body);
    outcome.scanned += batch.count;
    if (sign * (bound - start) < 0) frontCost += body.length * byteCost;
    else cost += body.length * byteCost;
    outcome.total = scanBatch(matcher, batch, body, query, collector, outcome.total);
  }
  return outcome;
}

/** Offers the rows of one batch that pass the filter; gives back the total with them counted. */
function scanBatch(
  matcher: BatchMatcher,
  batch: StoredBatch,
  body: Uint8Array,
  { order, cursor }: LogQuery,
  collector: Collector,
  total: number | null,
): number | null {
  const { projectId, firstSeq, receivedAt } = batch;
  const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const after = cursor?.position ?? null;
  let counted = total;
  const isRow = (timestamp: number, index: number) => {
    const key = { timestamp, seq: firstSeq + index, projectId };
    return collector.accepts(key) && (after === null || isBehind(order, after, key));
  };
  matcher.forEachMatch(
    body,
    (timestamp, index) => counted !== null || isRow(timestamp, index),
    ({ timestamp, index, start, end }) => {
      if (counted !== null) {
        counted++;
        if (!isRow(timestamp, index)) return;
      }
      // Decoded anew rather than sliced: a slice would hold the whole batch in memory.
      collector.add({
        timestamp,
        seq: firstSeq + index,
        projectId,
        receivedAt,
        line: raw.toString("utf8", start, end),
      });
    },
  );
  return counted;
}

/** The time the page begins at: the cursor's, or where the scan itself begins if that comes later. */
function startOf(feed: BatchFeed, { order, cursor }: LogQuery): number {
  const first = feed.bound() ?? 0;
  if (cursor === null) return first;
  const { timestamp } = cursor.position;
  return direction(order) * (timestamp - first) > 0 ? timestamp : first;
}

/** Whether a batch can hold a row at or behind a position. */
function reaches(order: LogQuery["order"], batch: StoredBatch, position: RowPosition): boolean {
  return order === "desc" ? batch.minTimestamp <= position.timestamp : batch.maxTimestamp >= position.timestamp;
}

function isWithin(batch: StoredBatch, from: number | null, to: number | null): boolean {
  return (from === null || batch.minTimestamp >= from) && (to === null || batch.maxTimestamp < to);
}

/** Rows still to be passed over: a cursor carries what a partial answer left of its query's offset. */
function skipOf(query: LogQuery): number {
  return query.cursor ? query.cursor.skip : query.offset;
}

interface PageCut {
  rows: Row[];
  complete: boolean;
  /** Null only when nothing more can match. */
  next: Pick<Cursor, "position" | "skip"> | null;
}

/** Takes the page out of what was collected: only rows that no unseen entry can come before. */
function cutPage({ collector, frontier }: ScanOutcome, query: LogQuery, budget: QueryBudget): PageCut {
  const sign = direction(query.order);
  const kept = collector.rows();
  const rows = frontier === null ? kept : kept.filter((row) => sign * (row.timestamp - frontier) < 0);
  const skip = skipOf(query);
  const page = fitting(rows.slice(skip, skip + query.limit), budget.answerCharacters);
  const last = page.at(-1);
  const isCut = page.length < Math.min(query.limit, rows.length - skip);
  if (last && rows.length > skip + page.length) {
    return { rows: page, complete: frontier === null && !isCut, next: { position: keyOf(last), skip: 0 } };
  }
  const end = rows.at(-1);
  const skipLeft = Math.max(0, skip - rows.length);
  if (collector.truncated && end && rows.length === kept.length) {
    return { rows: page, complete: false, next: { position: keyOf(end), skip: skipLeft } };
  }
  if (frontier === null) return { rows: page, complete: true, next: null };
  return { rows: page, complete: false, next: { position: { timestamp: frontier, seq: null }, skip: skipLeft } };
}

function fitting(rows: readonly Row[], maxCharacters: number): Row[] {
  let characters = 0;
  const tooMany = rows.findIndex((row, index) => {
    characters += row.line.length;
    return index > 0 && characters > maxCharacters;
  });
  return rows.slice(0, tooMany < 0 ? rows.length : tooMany);
}

function keyOf({ timestamp, seq, projectId }: Row): RowPosition {
  return { timestamp, seq, projectId };
}

function toStoredEntry({ line, seq, projectId, receivedAt }: Row): StoredEntry {
  // SAFETY: every stored line was written by `JSON.stringify` of an `Entry`.
  const entry = JSON.parse(line) as Entry;
  return { id: logId(projectId, seq), ...entry, seq, projectId, receivedAt: new Date(receivedAt).toISOString() };
}
