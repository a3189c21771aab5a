import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer } from "../query/budget.ts";
import { boundedSource, type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import type { ProjectProgress } from "../query/recent-feed.ts";
import { ColumnCounter } from "../segments/scan/column-counter.ts";
import { countMatching, type StatsSource } from "./count-entries.ts";
import type { Counted, CountSink, RowSink } from "./count-feed.ts";
import { type Bucket, Histogram, LineNames, NOTHING, type StatsQuery, TooManyBuckets } from "./histogram.ts";

/** The response of `POST /logger/stats`. */
export interface StatsAnswer {
  buckets: Bucket[];
  total: number;
  complete: boolean;
  /** The newest `seq` of the snapshot. Absent if the query covers several projects or the `seq` is not known. */
  lastSeq?: number;
}

export type StatsResult = { ok: true; answer: StatsAnswer } | { ok: false; reason: "too_many" };

/**
 * Counts entries by time. Uses the counts stored with batches and segments for filters on level, category, type and
 * whole minutes. Scans entries for other filters, and for the two partial minutes at the ends of a time range.
 */
export async function runStats(
  source: StatsSource,
  { filter, intervalMs, groupBy }: StatsQuery,
  budget: QueryBudget = QUERY_BUDGET,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<StatsResult> {
  const histogram = new Histogram(intervalMs, groupBy);
  const pacer = new ScanPacer();
  const sink = new HistogramSink(histogram, new ColumnCounter(intervalMs, groupBy, pacer.meter));
  try {
    const counting = { source: boundedSource(source, memory), sink, budget, memory, pacer };
    const { complete, progress } = await countMatching(counting, filter, null);
    const answer = { buckets: histogram.buckets(), total: histogram.total, complete, ...lastSeqOf(progress) };
    return { ok: true, answer };
  } catch (error) {
    if (error instanceof TooManyBuckets) return { ok: false, reason: "too_many" };
    throw error;
  }
}

function lastSeqOf(progress: readonly ProjectProgress[]): Pick<StatsAnswer, "lastSeq"> {
  const lastSeq = progress.length === 1 ? progress[0]?.lastSeq : undefined;
  return lastSeq === undefined ? {} : { lastSeq };
}

/** Adds entries to a histogram. */
class HistogramSink implements CountSink {
  readonly takesCounts = true;
  readonly isFull = false;
  readonly #histogram: Histogram;
  readonly #names = new LineNames();
  readonly rows: RowSink;

  constructor(histogram: Histogram, counter: ColumnCounter) {
    this.#histogram = histogram;
    this.rows = {
      columnsOf: (reader, group) => counter.columnsOf(reader, group),
      add: (reader, group, rows, chunk) =>
        counter.count(reader, group, rows, chunk, (start, name, count) => histogram.addNamed(start, name, count)),
    };
  }

  get needsLevelsAlone(): boolean {
    return this.#histogram.needsLevelsAlone;
  }

  add(timestamp: number, counted: Counted, count: number): void {
    this.#histogram.add(timestamp, counted, count);
  }

  addLevel(timestamp: number, level: number, count: number): void {
    this.#histogram.addLevel(timestamp, level, count);
  }

  addLine(match: LineMatch, _: unknown, matcher: BatchMatcher): boolean {
    const { needsNames } = this.#histogram;
    if (!matcher.reads && needsNames && !matcher.isEntry(match)) return false;
    this.#histogram.add(match.timestamp, needsNames ? this.#names.of(match) : NOTHING, 1);
    return true;
  }

  scanned(): void {}
}
