import { type ReportUnreadable, reportEntries, UnreadableItem } from "../unreadable.ts";
import { BatchMatcher, type LineMatch } from "./batch-matcher.ts";
import { Collector } from "./collector.ts";
import type { ScanFeed, ScanItem, ScanUnit } from "./feed.ts";
import type { LogFilter } from "./filter.ts";
import type { QueryBudget } from "./limits.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "./memory.ts";
import { Pacer } from "./pacer.ts";
import { direction, isBehind, type RowPosition } from "./row-order.ts";
import type { LogQuery } from "./schema.ts";
import { WORK, type WorkMeter } from "./work.ts";

/** What a scan found. */
export interface ScanOutcome {
  collector: Collector;
  /** Where the budget ended the scan: entries from this time on have not all been seen. Null: it went to its end. */
  frontier: number | null;
  /** Null when it was not asked for or not every entry was counted. */
  total: number | null;
  scanned: number;
  /** Units of work done. */
  work: number;
}

/**
 * Items that begin before a page and reach into it are read again by every page. They have a budget of their own, so
 * that a page gets on by as much as any other; this many budgets are the most that one request may cost.
 */
const FRONT_BUDGETS = 1.5;

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
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<ScanOutcome> {
  const { order, includeTotal } = query;
  const sign = direction(order);
  const after = query.cursor?.position ?? null;
  const pacer = new Pacer();
  const { meter } = pacer;
  const matcher = new BatchMatcher(filter, meter);
  const mayHold = (bytes: number) => bytes <= budget.heldBytes && memory.mayHoldRows(bytes);
  const collector = new Collector(order, skipOf(query) + query.limit + 1, mayHold);
  const outcome: ScanOutcome = { collector, frontier: null, total: includeTotal ? 0 : null, scanned: 0, work: 0 };
  const start = startOf(feed, query);
  /** Work on items from the page's beginning on, and on those before it. */
  let [cost, frontCost] = [0, 0];
  let spent = 0;
  const isOverBudget = (bound: number) => {
    const done = meter.done + feed.cost;
    if (sign * (bound - start) < 0) frontCost += done - spent;
    else cost += done - spent;
    spent = done;
    return cost >= budget.work || cost + frontCost >= FRONT_BUDGETS * budget.work;
  };
  for (let bound = feed.bound(); bound !== null; bound = feed.bound()) {
    const { last } = collector;
    const canChangePage = last === null || sign * (bound - last.timestamp) <= 0;
    if (!canChangePage && outcome.total === null) break;
    const overBudget = isOverBudget(bound);
    // A page must get on: the next one begins at the frontier, so that has to lie behind where this one began.
    const getsOn = sign * (bound - start) > 0;
    if (overBudget && (!canChangePage || getsOn)) {
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
    memory.renew();
    const unit = await openItem(item, report);
    if (unit === null) continue;
    outcome.scanned += item.count;
    meter.add(WORK.unit);
    const rows = new UnitRows(item, unit, query, collector, meter, outcome.total);
    for (const _ of readable(rows.steps(matcher), matcher, item, report)) {
      await pacer.pause();
      if (!isOverBudget(bound) || !getsOn) continue;
      // All rows of this item lie behind the frontier: those collected already are left to the next page.
      outcome.frontier = bound;
      break;
    }
    if (outcome.frontier !== null) break;
    reportEntries(report, unit.projectId, rows.damaged);
    outcome.total = rows.total;
    await pacer.pause();
  }
  if (outcome.frontier !== null) outcome.total = null;
  outcome.work = meter.done + feed.cost;
  return outcome;
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

/** The steps of looking through an item, to its end or to where it cannot be read, which is reported. */
export function* readable(
  steps: Generator<void>,
  matcher: BatchMatcher,
  item: ScanItem,
  report: ReportUnreadable,
): Generator<void> {
  try {
    yield* steps;
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    report(error, item.count - matcher.linesRead);
  }
}

/** Offers the rows of one item that pass the filter, and counts them. */
class UnitRows {
  /** Null where it was not asked for. */
  total: number | null;
  /** `seq` of lines that are no entries. */
  readonly damaged: number[] = [];
  readonly #item: ScanItem;
  readonly #unit: ScanUnit;
  readonly #query: LogQuery;
  readonly #collector: Collector;
  readonly #meter: WorkMeter;

  constructor(
    item: ScanItem,
    unit: ScanUnit,
    query: LogQuery,
    collector: Collector,
    meter: WorkMeter,
    total: number | null,
  ) {
    this.#item = item;
    this.#unit = unit;
    this.#query = query;
    this.#collector = collector;
    this.#meter = meter;
    this.total = total;
  }

  steps(matcher: BatchMatcher): Generator<void> {
    return matcher.steps(
      this.#unit.pieces(),
      (timestamp, index) =>
        (this.#item.isWhole || this.#unit.isVisible(index)) && (this.total !== null || this.#isRow(timestamp, index)),
      (match) => this.#take(matcher, match),
      (index) => this.damaged.push(this.#unit.seqAt(index)),
    );
  }

  #isRow(timestamp: number, index: number): boolean {
    const { order, cursor } = this.#query;
    const key = { timestamp, seq: this.#unit.seqAt(index), projectId: this.#unit.projectId };
    return this.#collector.accepts(key) && (cursor === null || isBehind(order, cursor.position, key));
  }

  #take(matcher: BatchMatcher, match: LineMatch): void {
    const { timestamp, index, raw, start, end } = match;
    const isTaken = this.total === null || this.#isRow(timestamp, index);
    // A row of an answer is an entry, whatever was looked at so far.
    if (isTaken && !matcher.reads && !matcher.isEntry(match)) {
      this.damaged.push(this.#unit.seqAt(index));
      return;
    }
    if (this.total !== null) this.total++;
    if (!isTaken) return;
    this.#meter.add(WORK.row + end - start);
    const { projectId } = this.#unit;
    // Copied rather than sliced: a slice would hold all lines around it in memory.
    const line = raw.toString("latin1", start, end);
    const receivedAt = this.#unit.receivedAtOf(index);
    this.#collector.add({
      timestamp,
      seq: this.#unit.seqAt(index),
      projectId,
      receivedAt,
      tier: this.#item.tier,
      line,
    });
  }
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
