import { reportEntries } from "../batch.ts";
import { readLevelCounts } from "../cold/format/counts.ts";
import { type PagerSelection, type ReadSegments, SegmentPager, type SegmentPosition } from "../cold/store/selection.ts";
import { BatchMatcher } from "../query/batch-matcher.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer, WORK } from "../query/budget.ts";
import { type ScanFeed, Watermarks } from "../query/feed.ts";
import { categoryMaskOf, isListed, type LogFilter, needsContent } from "../query/filter.ts";
import { boundedSource, type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import type { ProjectProgress } from "../query/recent-feed.ts";
import { openItem, readable } from "../query/scan.ts";
import { type LogSource, openMoved, openRecent, storedProjects, withColdTier } from "../query/tiers.ts";
import { readSummary, SUMMARY_BUCKET_MS } from "../summary.ts";
import { type Bucket, Histogram, LineNames, NOTHING, type StatsQuery, TooManyBuckets } from "./histogram.ts";
import { type RecentCountPage, type RecentCountScan, unpackSummaries } from "./recent-counts.ts";

/** A segment's position with its packed counts. */
export interface CountedSegment extends SegmentPosition {
  counts: Uint8Array;
}

/** The sources of counts, in addition to the logs themselves. */
export interface StatsSource extends LogSource {
  recentCounts(scan: RecentCountScan): Promise<RecentCountPage>;
  /** Segments with counts by minute and level, or by all four, and the maximum number of them on a page. */
  levels: { read: ReadSegments<CountedSegment>; most: number };
  summaries: { read: ReadSegments<CountedSegment>; most: number };
}

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
  query: StatsQuery,
  budget: QueryBudget = QUERY_BUDGET,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<StatsResult> {
  try {
    const pacer = new ScanPacer();
    return { ok: true, answer: await count({ source: boundedSource(source, memory), budget, memory, pacer }, query) };
  } catch (error) {
    if (error instanceof TooManyBuckets) return { ok: false, reason: "too_many" };
    throw error;
  }
}

/** The resources of one request. */
interface Counting {
  source: StatsSource;
  budget: QueryBudget;
  memory: ReadMemory;
  pacer: ScanPacer;
}

/** Maximum budgets of one histogram: 1.9 s. Each of its parts may use at most one budget. */
const MAX_BUDGETS = 1.5;

/** Returns the work units at which the next part of the request must end. */
function endOf({ budget, pacer }: Counting): number {
  return Math.min(pacer.meter.done + budget.work, MAX_BUDGETS * budget.work);
}

async function count(counting: Counting, query: StatsQuery): Promise<StatsAnswer> {
  const { filter } = query;
  const histogram = new Histogram(query.intervalMs, query.groupBy);
  let complete = true;
  let progress: readonly ProjectProgress[];
  if (needsContent(filter)) ({ complete, progress } = await countEntries(counting, histogram, filter, null));
  else {
    const whole = wholeMinutes(filter);
    const summed = await countSummaries(counting, histogram, { ...filter, ...whole });
    const { asOf } = summed;
    ({ complete, progress } = summed);
    for (const edge of edgesOf(filter, whole)) {
      if (!(await countEntries(counting, histogram, { ...filter, ...edge }, asOf)).complete) complete = false;
    }
  }
  return { buckets: histogram.buckets(), total: histogram.total, complete, ...lastSeqOf(progress) };
}

function lastSeqOf(progress: readonly ProjectProgress[]): Pick<StatsAnswer, "lastSeq"> {
  const lastSeq = progress.length === 1 ? progress[0]?.lastSeq : undefined;
  return lastSeq === undefined ? {} : { lastSeq };
}

/** The result of a count: whether it is complete, and the last `seq` of each project in its snapshot. */
interface Read {
  complete: boolean;
  progress: readonly ProjectProgress[];
}

interface TimeRange {
  from: number | null;
  to: number | null;
}

/** Returns the whole minutes of a range. The range is empty if `from` is not before `to`. */
function wholeMinutes({ from, to }: LogFilter): TimeRange {
  const up = from === null ? null : Math.ceil(from / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
  const down = to === null ? null : Math.floor(to / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
  return { from: up, to: down };
}

/** Returns the partial minutes at the ends of a range. A range within one minute is one part. */
function edgesOf({ from, to }: LogFilter, whole: TimeRange): TimeRange[] {
  if (from !== null && to !== null && (whole.from ?? 0) > (whole.to ?? 0)) return from < to ? [{ from, to }] : [];
  return [
    { from, to: whole.from },
    { from: whole.to, to },
  ].filter((edge) => edge.from !== null && edge.to !== null && edge.from < edge.to);
}

/**
 * Adds up the stored counts of batches and segments.
 * @returns `asOf` is the commit number of the counted snapshot
 */
async function countSummaries(
  counting: Counting,
  histogram: Histogram,
  filter: LogFilter,
): Promise<Read & { asOf: number }> {
  const { source, pacer } = counting;
  const { levelMask, from, to } = filter;
  const categoryMask = categoryMaskOf(filter);
  const scan = { from, to, levelMask, categoryMask, followsMoves: true };
  const first = await source.recentCounts({ ...scan, asOf: null, after: 0 });
  const kept = { ...filter, from: Math.max(from ?? first.oldest, first.oldest) };
  const { workspaceId } = source;
  const { asOf, flushed: progress } = first;
  const watermarks = new Watermarks(first.flushed);
  const end = endOf(counting);
  let complete = true;
  for (let page = first; ; ) {
    for (const summary of unpackSummaries(page.summaries)) {
      addSummary(histogram, summary, kept);
      await chargeCounts(pacer, summary);
    }
    if (page.next === null) break;
    // Recent batches are read in order of arrival, so the newest entries are missing here.
    if (pacer.meter.done >= end) return { asOf, complete: false, progress };
    const after = page.next;
    page = await source.recentCounts({ ...scan, asOf, after });
    const wanted = { workspaceId, from: kept.from, to, levelMask, categoryMask, asOf, afterCommit: after };
    for (const move of watermarks.follow(page.flushed)) {
      const moved = await openMoved(source.cold, { ...wanted, order: "desc" }, move);
      if (!(await countFeed(counting, histogram, moved, kept))) complete = false;
    }
  }
  const projects = storedProjects(first.flushed);
  const common = { workspaceId, projects, levelMask, categoryMask, asOf: null, tests: [], order: "desc" } as const;
  if (!(await countSegments(counting, histogram, kept, { ...common, from: kept.from, to }))) complete = false;
  return { asOf, complete, progress };
}

/**
 * Adds up the counts of segments, newest first.
 * @returns whether the budget sufficed
 */
async function countSegments(
  counting: Counting,
  histogram: Histogram,
  filter: LogFilter,
  selection: PagerSelection,
): Promise<boolean> {
  const { source, pacer } = counting;
  const byLevelAlone = filter.categories === null && filter.types === null && histogram.needsLevelsAlone;
  const { read, most } = byLevelAlone ? source.levels : source.summaries;
  const pager = new SegmentPager(read, selection, most, most);
  const end = endOf(counting);
  while (!pager.isDone) {
    if (pacer.meter.done + pager.cost >= end) return false;
    for (const { counts } of await pager.page()) {
      if (byLevelAlone) addLevels(histogram, counts, filter);
      else addSummary(histogram, counts, filter);
      await chargeCounts(pacer, counts);
    }
  }
  pacer.meter.add(pager.cost);
  return true;
}

/** Charges packed counts that were added up, and yields if a pause is due. */
function chargeCounts(pacer: ScanPacer, counts: Uint8Array): Promise<void> | undefined {
  pacer.meter.add(WORK.summary + counts.length * WORK.countsByte);
  return pacer.meter.isDue ? pacer.pause() : undefined;
}

function addLevels(histogram: Histogram, packed: Uint8Array, filter: LogFilter): void {
  for (const { minute, level, count } of readLevelCounts(packed)) {
    if (passes(filter, minute, level)) histogram.addLevel(minute * SUMMARY_BUCKET_MS, level, count);
  }
}

function addSummary(histogram: Histogram, packed: Uint8Array, filter: LogFilter): void {
  const { categories, types } = filter;
  for (const row of readSummary(packed)) {
    if (!passes(filter, row.minute, row.level)) continue;
    if (categories !== null && !isListed(categories, row.category)) continue;
    if (types !== null && !isListed(types, row.type)) continue;
    histogram.add(row.minute * SUMMARY_BUCKET_MS, row, row.count);
  }
}

function passes({ from, to, levelMask }: LogFilter, minute: number, level: number): boolean {
  const start = minute * SUMMARY_BUCKET_MS;
  return (from === null || start >= from) && (to === null || start < to) && ((1 << level) & levelMask) !== 0;
}

/** Scans entries, newest first. */
async function countEntries(
  counting: Counting,
  histogram: Histogram,
  wanted: LogFilter,
  asOf: number | null,
): Promise<Read> {
  const { source } = counting;
  const scan = { asOf, from: wanted.from, to: wanted.to, order: "desc" } as const;
  const recent = await openRecent(source, wanted, scan);
  const { feed, filter } = await withColdTier(source, recent, wanted, scan);
  return { complete: await countFeed(counting, histogram, feed, filter), progress: recent.first.flushed };
}

/**
 * Counts the remaining entries of a feed.
 * @returns whether the budget sufficed
 */
async function countFeed(
  counting: Counting,
  histogram: Histogram,
  feed: ScanFeed,
  filter: LogFilter,
): Promise<boolean> {
  const { source, memory, pacer } = counting;
  const { meter } = pacer;
  const matcher = new BatchMatcher(filter, meter);
  const names = new LineNames();
  const end = endOf(counting);
  while (feed.bound() !== null) {
    if (meter.done + feed.cost >= end) return false;
    memory.renew();
    const item = await feed.take();
    const lines = await openItem(item, source.report);
    if (lines === null) continue;
    meter.add(WORK.item);
    const damaged: number[] = [];
    const steps = matcher.steps(
      lines.pieces(),
      (_, index) => lines.isVisible(index),
      (match) => {
        const isEntry = matcher.reads || !histogram.needsNames || matcher.isEntry(match);
        if (isEntry) histogram.add(match.timestamp, histogram.needsNames ? names.of(match) : NOTHING, 1);
        else damaged.push(lines.seqAt(match.index));
      },
      (index) => damaged.push(lines.seqAt(index)),
    );
    for (const _ of readable(steps, matcher, item, source.report)) {
      memory.renew();
      await pacer.pause();
    }
    lines.close?.();
    reportEntries(source.report, lines.projectId, damaged);
    await pacer.pause();
  }
  meter.add(feed.cost);
  return true;
}
