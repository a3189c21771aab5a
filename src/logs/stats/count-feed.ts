import type { PartialTable } from "../aggregate/aggregator.ts";
import type { AggregatePlan } from "../aggregate/plan.ts";
import { reportEntries, UnreadableItem } from "../batch.ts";
import { BatchMatcher, type LineMatch } from "../query/batch-matcher.ts";
import { type QueryBudget, type ScanPacer, WORK } from "../query/budget.ts";
import type { LineSource, RowSource, ScanFeed, ScanItem } from "../query/feed.ts";
import type { LogFilter } from "../query/filter.ts";
import type { ReadMemory } from "../query/memory.ts";
import { NO_ROWS } from "../query/row-group.ts";
import type { RowGroupScan } from "../query/row-group-reader.ts";
import { openItem, readable } from "../query/scan.ts";
import type { LogSource } from "../query/tiers.ts";
import type { SkippedTypes } from "../search/data-values.ts";
import type { SegmentReader } from "../segments/decode/segment-reader.ts";
import { MalformedFile } from "../segments/parquet/thrift.ts";
import type { ColumnSource } from "../segments/scan/open-group.ts";

/** The unit of counting: entries of one level, category and type. */
export interface Counted {
  /** Severity, 0..6. */
  level: number;
  category: string;
  type: string;
}

/** What entries are added to. Times are epoch milliseconds; those of stored counts are whole minutes. */
export interface CountSink {
  /** Whether stored counts by minute, level, category and type suffice. */
  readonly takesCounts: boolean;
  /** Whether counts by minute and level suffice. */
  readonly needsLevelsAlone: boolean;
  /** Whether nothing more can be added. */
  readonly isFull: boolean;
  add(timestamp: number, counted: Counted, count: number): void;
  /** Counts entries of which only the level is known. */
  addLevel(timestamp: number, level: number, count: number): void;
  /** Adds rows of files from their columns. */
  readonly rows: RowSink;
  /** Adds states of entries that scan objects added up; absent if the sink takes none. */
  readonly parts?: PartSink | undefined;
  /** Adds an entry that passes the filter. @returns `false` if the line is no entry */
  addLine(match: LineMatch, lines: LineSource, matcher: BatchMatcher): boolean;
  /** Called with the number of entries whose lines or stored counts are examined. */
  scanned(count: number): void;
}

/** Adds the rows of a row group from its columns. */
export interface RowSink {
  /** Columns of a row group whose bytes `add` needs. */
  columnsOf(reader: SegmentReader, group: number): readonly number[];
  /**
   * Adds rows, in steps of some milliseconds.
   * @returns rows that must be added from their lines, in rising order
   * @throws MalformedFile
   */
  add(reader: SegmentReader, group: number, rows: Int32Array, chunk: ColumnSource): Generator<void, Int32Array>;
}

/** The state of the entries of a part of a read. Plain data. */
export interface PartState {
  partial: PartialTable;
  /** Approximate bytes of `partial`. */
  bytes: number;
  matched: number;
  examined: number;
  /** Work units. */
  work: number;
  /** Row groups and blocks that could not be read, with the numbers of their entries. */
  faults: readonly { message: string; entries: number }[];
  /** What comparisons of the filter met in place of numbers; absent from a version before. */
  compared?: SkippedTypes;
}

/** Takes states that were made by the same plan. */
export interface PartSink {
  readonly plan: AggregatePlan;
  /** Whether there is memory for a state of the given bytes. */
  hasRoom(bytes: number): boolean;
  /** Yields work units between two pieces of work. */
  merge(state: PartState): Generator<number>;
}

/** The resources of one request. */
export interface Counting {
  source: LogSource;
  sink: CountSink;
  budget: QueryBudget;
  memory: ReadMemory;
  pacer: ScanPacer;
}

/** Maximum budgets of one histogram: 1.9 s. Each of its parts may use at most one budget. */
const MAX_BUDGETS = 1.5;

/** Share of a budget by which the last item may exceed the end, so that most items are counted as a whole. */
const OVERRUN = 0.1;

/** Returns the work units at which the next part of the request must end. */
export function endOf({ budget, pacer }: Counting): number {
  return Math.min(pacer.meter.done + budget.work, MAX_BUDGETS * budget.work);
}

/** Returns how row groups are read. */
export function groupsOf({ sink, pacer, memory }: Counting): Omit<RowGroupScan, "filter"> {
  return { pacer, memory, rows: null, countedColumns: sink.rows.columnsOf.bind(sink.rows) };
}

/**
 * Counts the remaining entries of a feed.
 * @returns whether the budget sufficed
 */
export async function countFeed(counting: Counting, feed: ScanFeed, filter: LogFilter): Promise<boolean> {
  const { source, sink, budget, memory, pacer } = counting;
  const { meter } = pacer;
  const matcher = new BatchMatcher(filter, meter);
  const end = endOf(counting);
  // An item of ordinary lines ends before this. One of costly lines may take the work of many requests.
  const isOver = () => sink.isFull || meter.done + feed.cost >= end + budget.work * OVERRUN;
  while (feed.bound() !== null) {
    if (meter.done + feed.cost >= end || sink.isFull) return false;
    memory.renew();
    const item = await feed.take();
    const isWhole = item.openRows
      ? await countRows(counting, item, item.openRows, matcher, isOver)
      : await countLines(counting, item, await openItem(item, source.report), matcher, isOver);
    if (!isWhole) return false;
    await pacer.pause();
  }
  meter.add(feed.cost);
  return !sink.isFull;
}

/**
 * Counts the rows of a row group from its columns, and those from their lines that have values elsewhere.
 * @returns whether all were counted
 */
async function countRows(
  counting: Counting,
  item: ScanItem,
  openRows: () => Promise<RowSource | null>,
  matcher: BatchMatcher,
  isOver: () => boolean,
): Promise<boolean> {
  const { source, sink, memory, pacer } = counting;
  /** Entries of the row group that are not counted yet. */
  let open = item.count;
  try {
    const opened = await openRows();
    if (opened === null) return true;
    const { group, linesOf } = opened;
    const rows = group.found ?? NO_ROWS.rows;
    sink.scanned(item.count);
    if (rows.length === 0) return true;
    const { reader } = group.file;
    memory.recordDecoded(group.decodedBytesOf(sink.rows.columnsOf(reader, group.group)));
    const steps = sink.rows.add(reader, group.group, rows, (column) => group.bytes.chunk(column));
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      memory.renew();
      await pacer.pause();
      if (isOver()) return false;
    }
    memory.recordDecoded(0);
    const left = step.value;
    open = left.length;
    if (open > 0)
      return await countLines(counting, { ...item, count: open }, await linesOf(left), matcher, isOver, false);
    group.release();
  } catch (error) {
    const fault = error instanceof MalformedFile ? new UnreadableItem(error.message, { cause: error }) : error;
    if (!(fault instanceof UnreadableItem)) throw error;
    source.report(fault, open);
  }
  return true;
}

/**
 * Counts the lines of an item. If one is damaged, those before it are counted, and the number of the others is reported.
 * @param isNew whether the item was not examined before
 * @returns whether the work sufficed
 */
async function countLines(
  { source, sink, memory, pacer }: Counting,
  item: ScanItem,
  lines: LineSource | null,
  matcher: BatchMatcher,
  isOver: () => boolean,
  isNew = true,
): Promise<boolean> {
  if (lines === null) return true;
  if (isNew) sink.scanned(item.count);
  pacer.meter.add(WORK.item);
  const damaged: number[] = [];
  const steps = matcher.steps(
    lines.pieces(),
    (_, index) => lines.isVisible(index),
    (match) => {
      if (!sink.addLine(match, lines, matcher)) damaged.push(lines.seqAt(match.index));
    },
    (index) => damaged.push(lines.seqAt(index)),
    lines,
  );
  let isCut = false;
  for (const _ of readable(steps, matcher, { ...item, count: lines.passing ?? item.count }, source.report)) {
    memory.renew();
    await pacer.pause();
    isCut = isOver();
    if (isCut) break;
  }
  lines.close?.();
  reportEntries(source.report, lines.projectId, damaged);
  return !isCut;
}
