import { type ReportUnreadable, reportEntries, UnreadableItem } from "../batch.ts";
import { BatchMatcher, type LineMatch } from "./batch-matcher.ts";
import { type QueryBudget, ScanPacer, WORK, type WorkMeter } from "./budget.ts";
import {
  direction,
  isBehind,
  type LineSource,
  mayContainRow,
  type ScanFeed,
  type ScanItem,
  type Tier,
} from "./feed.ts";
import type { LogFilter } from "./filter.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "./memory.ts";
import type { LogQuery } from "./schema.ts";
import { type Row, TopRows } from "./top-rows.ts";

/** What a scan found. */
export interface ScanOutcome {
  collector: TopRows;
  /** Where the budget ended the scan: entries from this time on have not all been seen. Null: it went to its end. */
  frontier: number | null;
  /** Null when it was not asked for or not every entry was counted. */
  total: number | null;
  scanned: number;
  /** Units of work done. */
  work: number;
  /** Where the work ended before the scan could get on: the time that the page begins at. Null: it got on. */
  stuckAt: number | null;
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
  const pacer = new ScanPacer();
  const { meter } = pacer;
  const matcher = new BatchMatcher(filter, meter);
  const mayHold = (bytes: number) => bytes <= budget.heldBytes && memory.canHoldRows(bytes);
  const collector = new TopRows(order, skipOf(query) + query.limit + 1, mayHold);
  const total = includeTotal ? 0 : null;
  const outcome: ScanOutcome = { collector, frontier: null, total, scanned: 0, work: 0, stuckAt: null };
  const start = startOf(feed, query);
  /** Work on items from the page's beginning on, and on those before it. */
  let [cost, frontCost] = [0, 0];
  let spent = 0;
  let taken = 0;
  const isOverBudget = (bound: number) => {
    const done = meter.done + feed.cost;
    if (sign * (bound - start) < 0) frontCost += done - spent;
    else cost += done - spent;
    spent = done;
    return cost >= budget.work || cost + frontCost >= FRONT_BUDGETS * budget.work;
  };
  const isSpent = () => cost + frontCost >= FRONT_BUDGETS * budget.work;
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
    // Only a sweep gets on from here; see `sweep.ts`. A single item is no reason for one.
    if (overBudget && isSpent() && taken > 0) {
      outcome.stuckAt = start;
      break;
    }
    const item = await feed.take();
    taken++;
    const holdsRows = canChangePage && mayContainRow(order, item, after, last);
    if (!holdsRows && (overBudget || outcome.total === null)) {
      outcome.total = null;
      meter.add(WORK.unit + item.loadedBytes);
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
      // One item may take a request's whole work, and while others read that is many seconds.
      memory.renew();
      await pacer.pause();
      if (!isOverBudget(bound)) continue;
      // All rows of this item lie behind the frontier: those collected already are left to the next page.
      if (getsOn) outcome.frontier = bound;
      else if (isSpent() && taken > 1) outcome.stuckAt = start;
      else continue;
      break;
    }
    unit.close?.();
    if (outcome.frontier !== null || outcome.stuckAt !== null) break;
    reportEntries(report, unit.projectId, rows.damaged);
    outcome.total = rows.total;
    await pacer.pause();
  }
  if (outcome.frontier !== null || outcome.stuckAt !== null) outcome.total = null;
  outcome.work = meter.done + feed.cost;
  return outcome;
}

/** What an item holds; null where that is nothing, or not to be read, which is reported. */
export async function openItem(item: ScanItem, report: ReportUnreadable): Promise<LineSource | null> {
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
  readonly #unit: LineSource;
  readonly #query: LogQuery;
  readonly #collector: TopRows;
  readonly #meter: WorkMeter;

  constructor(
    item: ScanItem,
    unit: LineSource,
    query: LogQuery,
    collector: TopRows,
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
    const { timestamp, index, start, end } = match;
    const isTaken = this.total === null || this.#isRow(timestamp, index);
    // A row of an answer is an entry, whatever was looked at so far.
    if (isTaken && !matcher.reads && !matcher.isEntry(match)) {
      this.damaged.push(this.#unit.seqAt(index));
      return;
    }
    if (this.total !== null) this.total++;
    if (!isTaken) return;
    this.#meter.add(WORK.row + end - start);
    this.#collector.add(rowOf(match, this.#unit, this.#item.tier));
  }
}

/** The row of a line that was found. */
export function rowOf({ timestamp, index, raw, start, end }: LineMatch, unit: LineSource, tier: Tier): Row {
  return {
    timestamp,
    seq: unit.seqAt(index),
    projectId: unit.projectId,
    receivedAt: unit.receivedAtOf(index),
    tier,
    // Copied rather than sliced: a slice would hold all lines around it in memory.
    line: raw.toString("latin1", start, end),
  };
}

/** The time the page begins at: the cursor's, or where the scan itself begins if that comes later. */
function startOf(feed: ScanFeed, { order, cursor }: LogQuery): number {
  const first = feed.bound() ?? 0;
  if (cursor === null) return first;
  const { timestamp } = cursor.position;
  return direction(order) * (timestamp - first) > 0 ? timestamp : first;
}

function isWithin(item: ScanItem, { from, to }: LogFilter): boolean {
  return (from === null || item.minTimestamp >= from) && (to === null || item.maxTimestamp < to);
}

/** Rows still to be passed over: a cursor carries what a partial answer left of its query's offset. */
export function skipOf(query: LogQuery): number {
  return query.cursor ? query.cursor.skip : query.offset;
}
