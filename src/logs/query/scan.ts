import { type ReportUnreadable, reportEntries, UnreadableItem } from "../batch.ts";
import { BatchMatcher, type LineMatch, type Wanted } from "./batch-matcher.ts";
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

/** The result of a scan. */
export interface ScanOutcome {
  collector: TopRows;
  /**
   * Time at which the budget ended the scan. Not all entries from this time on were seen. `null`: the scan was
   * complete.
   */
  frontier: number | null;
  /** `null` if it was not requested or not every entry was counted. */
  total: number | null;
  scanned: number;
  /** Work units used. */
  work: number;
  /** Time at which the page begins, if the work ran out before the scan could advance from it. `null`: it advanced. */
  stuckAt: number | null;
}

/**
 * Every page reads the items again that begin before the page and reach into it. They have a separate budget, so that a
 * page advances as far as any other. One request uses at most this many budgets.
 */
const FRONT_BUDGETS = 1.5;

/**
 * Scans a feed for the rows of one page.
 * @param filter the query's, with `from` at the retention cutoff or later
 */
export async function scan(
  feed: ScanFeed,
  query: LogQuery,
  filter: LogFilter,
  budget: QueryBudget,
  report: ReportUnreadable,
  memory: ReadMemory = UNBOUNDED_MEMORY,
  pacer = new ScanPacer(),
): Promise<ScanOutcome> {
  const { order, includeTotal } = query;
  const sign = direction(order);
  const after = query.cursor?.position ?? null;
  const { meter } = pacer;
  const matcher = new BatchMatcher(filter, meter);
  const mayHold = (bytes: number) => bytes <= budget.heldBytes && memory.canHoldRows(bytes);
  const collector = new TopRows(order, skipOf(query) + query.limit + 1, mayHold);
  const total = includeTotal ? 0 : null;
  const outcome: ScanOutcome = { collector, frontier: null, total, scanned: 0, work: 0, stuckAt: null };
  const start = startOf(feed, query);
  /** Work on items from the page's start on, and on those before it. */
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
    const isOver = isOverBudget(bound);
    // A page must advance: the next page begins at the frontier, so the frontier must be after the start of this page.
    const advances = sign * (bound - start) > 0;
    if (isOver && (!canChangePage || advances)) {
      outcome.frontier = bound;
      break;
    }
    // Only a resumable scan can advance from here. A single item is no reason for one.
    if (isOver && isSpent() && taken > 0) {
      outcome.stuckAt = start;
      break;
    }
    const item = await feed.take();
    taken++;
    const holdsRows = canChangePage && mayContainRow(order, item, after, last);
    if (!holdsRows && (isOver || outcome.total === null)) {
      outcome.total = null;
      meter.add(WORK.item + item.loadedBytes);
      continue;
    }
    if (!holdsRows && matcher.passesAll && item.isWhole && outcome.total !== null && isWithin(item, filter)) {
      outcome.total += item.count;
      continue;
    }
    memory.renew();
    const lines = await openItem(item, report);
    if (lines === null) continue;
    outcome.scanned += item.count;
    meter.add(WORK.item);
    const rows = new ItemRows(item, lines, query, collector, meter, outcome.total);
    for (const _ of readable(rows.steps(matcher), matcher, item, report)) {
      // One item may take a request's whole work, which is many seconds while other requests read.
      memory.renew();
      await pacer.pause();
      if (!isOverBudget(bound)) continue;
      // All rows of this item come after the frontier. Those already collected are left to the next page.
      if (advances) outcome.frontier = bound;
      else if (isSpent() && taken > 1) outcome.stuckAt = start;
      else continue;
      break;
    }
    lines.close?.();
    if (outcome.frontier !== null || outcome.stuckAt !== null) break;
    reportEntries(report, lines.projectId, rows.damaged);
    outcome.total = rows.total;
    await pacer.pause();
  }
  if (outcome.frontier !== null || outcome.stuckAt !== null) outcome.total = null;
  outcome.work = meter.done + feed.cost;
  return outcome;
}

/** Opens an item. Returns `null` if the item is gone or unreadable; an unreadable one is reported. */
export async function openItem(item: ScanItem, report: ReportUnreadable): Promise<LineSource | null> {
  try {
    return await item.open();
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    report(error, item.count);
    return null;
  }
}

/** Runs the steps of scanning an item to its end, or until a part is unreadable, which is reported. */
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
class ItemRows {
  /** `null` if no total was requested. */
  total: number | null;
  /** `seq` of lines that are not entries. */
  readonly damaged: number[] = [];
  readonly #item: ScanItem;
  readonly #lines: LineSource;
  readonly #query: LogQuery;
  readonly #collector: TopRows;
  readonly #meter: WorkMeter;
  readonly #isCounted: boolean;

  constructor(
    item: ScanItem,
    lines: LineSource,
    query: LogQuery,
    collector: TopRows,
    meter: WorkMeter,
    total: number | null,
  ) {
    this.#item = item;
    this.#lines = lines;
    this.#query = query;
    this.#collector = collector;
    this.#meter = meter;
    // Lines that are known to pass are counted at once. Only those of rows are put together.
    this.#isCounted = total !== null && lines.passing !== undefined;
    this.total = total === null ? null : total + (lines.passing ?? 0);
  }

  steps(matcher: BatchMatcher): Generator<void> {
    const wanted: Wanted = (timestamp, index) => {
      if (!this.#item.isWhole && !this.#lines.isVisible(index)) return false;
      return this.#countsLines || this.#isRow(timestamp, index);
    };
    return matcher.steps(
      this.#lines.pieces(wanted),
      wanted,
      (match) => this.#take(matcher, match),
      (index) => this.damaged.push(this.#lines.seqAt(index)),
      this.#lines,
    );
  }

  get #countsLines(): boolean {
    return this.total !== null && !this.#isCounted;
  }

  #isRow(timestamp: number, index: number): boolean {
    const { order, cursor } = this.#query;
    const key = { timestamp, seq: this.#lines.seqAt(index), projectId: this.#lines.projectId };
    return this.#collector.accepts(key) && (cursor === null || isBehind(order, cursor.position, key));
  }

  #take(matcher: BatchMatcher, match: LineMatch): void {
    const { timestamp, index, start, end } = match;
    const isTaken = !this.#countsLines || this.#isRow(timestamp, index);
    // A row in a response must be an entry, so it is checked unless the matcher has read it.
    if (isTaken && !matcher.reads && !matcher.isEntry(match)) {
      this.damaged.push(this.#lines.seqAt(index));
      return;
    }
    if (this.total !== null && !this.#isCounted) this.total++;
    if (!isTaken) return;
    this.#meter.add(WORK.row + end - start);
    this.#collector.add(rowOf(match, this.#lines, this.#item.tier));
  }
}

/** Returns the row of a found line. */
export function rowOf({ timestamp, index, raw, start, end }: LineMatch, lines: LineSource, tier: Tier): Row {
  return {
    timestamp,
    seq: lines.seqAt(index),
    projectId: lines.projectId,
    receivedAt: lines.receivedAtOf(index),
    tier,
    // Copies the text. A slice would keep all lines around it in memory.
    line: raw.toString("latin1", start, end),
  };
}

/** Returns the time at which the page begins: the cursor's, or the scan's own start if that comes later. */
function startOf(feed: ScanFeed, { order, cursor }: LogQuery): number {
  const first = feed.bound() ?? 0;
  if (cursor === null) return first;
  const { timestamp } = cursor.position;
  return direction(order) * (timestamp - first) > 0 ? timestamp : first;
}

function isWithin(item: ScanItem, { from, to }: LogFilter): boolean {
  return (from === null || item.minTimestamp >= from) && (to === null || item.maxTimestamp < to);
}

/**
 * Returns the number of rows still to be skipped. A cursor carries what a partial answer left of the query's offset.
 */
export function skipOf(query: LogQuery): number {
  return query.cursor ? query.cursor.skip : query.offset;
}
