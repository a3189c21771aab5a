import { readLine } from "../stored-line.ts";
import { type ReportUnreadable, reportEntries, UnreadableItem } from "../unreadable.ts";
import { BatchMatcher } from "./batch-matcher.ts";
import { Collector } from "./collector.ts";
import type { ScanFeed, ScanItem, ScanUnit } from "./feed.ts";
import type { LogFilter } from "./filter.ts";
import type { QueryBudget } from "./limits.ts";
import { Pacer } from "./pacer.ts";
import { direction, isBehind, type RowPosition } from "./row-order.ts";
import type { LogQuery } from "./schema.ts";

/** What a scan found. */
export interface ScanOutcome {
  collector: Collector;
  /** Where the budget ended the scan: entries from this time on have not all been seen. Null: it went to its end. */
  frontier: number | null;
  /** Null when it was not asked for or not every entry was counted. */
  total: number | null;
  scanned: number;
}

/** Characters of `search` that double what a byte costs: hostile text is compared with a good part of the needle. */
const SEARCH_COST_LENGTH = 32;
/** Tests of `data` that are in the price of a byte; where lines pass them, each further one costs as much again. */
const FREE_TESTS = 4;

/**
 * Items that begin before a page and reach into it are read again by every page. They have a budget of their own, so
 * that a page gets on by as much as any other; this many budgets are the most that one request may cost.
 */
const FRONT_BUDGETS = 4;

/**
 * Looks through a feed for the rows of one page.
 * @param filter the query's, with `from` no earlier than the retention
 */
export async function scan(
  feed: ScanFeed,
  query: LogQuery,
  filter: LogFilter,
  budget: QueryBudget,
  report: ReportUnreadable,
): Promise<ScanOutcome> {
  const { order, includeTotal } = query;
  const sign = direction(order);
  const after = query.cursor?.position ?? null;
  const matcher = new BatchMatcher(filter);
  const collector = new Collector(order, skipOf(query) + query.limit + 1, budget.heldCharacters);
  const outcome: ScanOutcome = { collector, frontier: null, total: includeTotal ? 0 : null, scanned: 0 };
  const start = startOf(feed, query);
  const byteCost = byteCostOf(filter);
  const pacer = new Pacer();
  let cost = 0;
  let frontCost = 0;
  let walked = 0;
  const spend = (bound: number, amount: number) => {
    if (sign * (bound - start) < 0) frontCost += amount;
    else cost += amount;
  };
  for (let bound = feed.bound(); bound !== null; bound = feed.bound()) {
    spend(bound, feed.cost - walked);
    walked = feed.cost;
    const { last } = collector;
    const canChangePage = last === null || sign * (bound - last.timestamp) <= 0;
    if (!canChangePage && outcome.total === null) break;
    const overBudget = cost >= budget.scanBytes || cost + frontCost >= FRONT_BUDGETS * budget.scanBytes;
    // A page must get on: the next one begins at the frontier, so that has to lie behind where this one began.
    if (overBudget && (!canChangePage || sign * (bound - start) > 0)) {
      outcome.frontier = bound;
      break;
    }
    const item = await feed.take();
    const holdsRows = canChangePage && (after === null || reaches(order, item, after));
    if (!holdsRows && overBudget) {
      outcome.total = null;
      continue;
    }
    if (!holdsRows && matcher.passesAll && item.isWhole && outcome.total !== null && isWithin(item, filter)) {
      outcome.total += item.count;
      continue;
    }
    const unit = await openItem(item, report);
    if (unit === null) continue;
    outcome.scanned += item.count;
    const unitCost = unit.size * byteCost;
    spend(bound, unitCost);
    if (isPassedOver(matcher, unit)) {
      await pacer.pause(unitCost);
      continue;
    }
    outcome.total = scanUnit(matcher, item, unit, query, collector, outcome.total, report);
    await pacer.pause(unitCost);
  }
  return outcome;
}

/** Whether a body in several pieces is seen to hold nothing wanted before they are put together. */
export function isPassedOver(matcher: BatchMatcher, { pieces }: ScanUnit): boolean {
  return pieces.length > 1 && !matcher.mayMatch(pieces);
}

/** What it costs to look through a byte, in bytes of a plain scan. */
export function byteCostOf({ search, data }: LogFilter): number {
  return 1 + (search?.length ?? 0) / SEARCH_COST_LENGTH + Math.max(0, data.length - FREE_TESTS);
}

/** What an item holds; null where that is nothing, or not to be read, which is reported. */
export async function openItem(item: ScanItem, report: ReportUnreadable): Promise<ScanUnit | null> {
  try {
    return await item.open();
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    report(error, item.count);
    return null;
  }
}

/** Offers the rows of one item that pass the filter; gives back the total with them counted. */
function scanUnit(
  matcher: BatchMatcher,
  { tier, isWhole }: ScanItem,
  unit: ScanUnit,
  { order, cursor }: LogQuery,
  collector: Collector,
  total: number | null,
  report: ReportUnreadable,
): number | null {
  const { projectId, body } = unit;
  const damaged: number[] = [];
  const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const after = cursor?.position ?? null;
  let counted = total;
  const isRow = (timestamp: number, index: number) => {
    const key = { timestamp, seq: unit.seqAt(index), projectId };
    return collector.accepts(key) && (after === null || isBehind(order, after, key));
  };
  matcher.forEachMatch(
    body,
    (timestamp, index) => (isWhole || unit.isVisible(index)) && (counted !== null || isRow(timestamp, index)),
    ({ timestamp, index, start, end }) => {
      const isTaken = counted === null || isRow(timestamp, index);
      // Decoded anew rather than sliced: a slice would hold the whole body in memory.
      const line = isTaken ? raw.toString("utf8", start, end) : "";
      // A row of an answer is an entry, whatever was looked at so far.
      if (isTaken && !matcher.parses && readLine(line) === null) {
        damaged.push(unit.seqAt(index));
        return;
      }
      if (counted !== null) counted++;
      if (!isTaken) return;
      const receivedAt = unit.receivedAtOf(index);
      collector.add({ timestamp, seq: unit.seqAt(index), projectId, receivedAt, tier, line });
    },
    (index) => damaged.push(unit.seqAt(index)),
  );
  reportEntries(report, projectId, damaged);
  return counted;
}

/** The time the page begins at: the cursor's, or where the scan itself begins if that comes later. */
function startOf(feed: ScanFeed, { order, cursor }: LogQuery): number {
  const first = feed.bound() ?? 0;
  if (cursor === null) return first;
  const { timestamp } = cursor.position;
  return direction(order) * (timestamp - first) > 0 ? timestamp : first;
}

/** Whether an item can hold a row at or behind a position. */
function reaches(order: LogQuery["order"], item: ScanItem, position: RowPosition): boolean {
  return order === "desc" ? item.minTimestamp <= position.timestamp : item.maxTimestamp >= position.timestamp;
}

function isWithin(item: ScanItem, { from, to }: LogFilter): boolean {
  return (from === null || item.minTimestamp >= from) && (to === null || item.maxTimestamp < to);
}

/** Rows still to be passed over: a cursor carries what a partial answer left of its query's offset. */
export function skipOf(query: LogQuery): number {
  return query.cursor ? query.cursor.skip : query.offset;
}
