import { readLevelCounts } from "../cold/format/counts.ts";
import { type PagerSelection, type ReadSegments, SegmentPager, type SegmentPosition } from "../cold/store/selection.ts";
import { type ScanPacer, WORK } from "../query/budget.ts";
import { ColdFeed, LONG_SEGMENTS } from "../query/cold-feed.ts";
import { Watermarks } from "../query/feed.ts";
import { categoryMaskOf, isListed, type LogFilter, needsContent } from "../query/filter.ts";
import { openMoved } from "../query/moved-feed.ts";
import type { ProjectProgress } from "../query/recent-feed.ts";
import { coldProjects, coldSelection, type LogSource, openRecent, withColdTier } from "../query/tiers.ts";
import { readSummary, SUMMARY_BUCKET_MS } from "../summary.ts";
import { type Counting, type CountSink, countFeed, endOf, groupsOf } from "./count-feed.ts";
import { countParts, type ScanPool } from "./count-parts.ts";
import { type RecentCountPage, type RecentCountScan, unpackSummaries } from "./recent-counts.ts";

/** A segment's position with its packed counts. */
export interface CountedSegment extends SegmentPosition {
  counts: Uint8Array;
}

/** The sources of counts, in addition to the logs themselves. */
export interface StatsSource extends LogSource {
  recentCounts(scan: RecentCountScan): Promise<RecentCountPage>;
  /** Segments with counts by minute and level, or by all four, and the maximum number of them on a page. */
  levels: { read: ReadSegments<CountedSegment>; max: number };
  summaries: { read: ReadSegments<CountedSegment>; max: number };
  /** Scan objects that read parts of large tables; absent if the caller reads all. */
  scanners?: ScanPool | undefined;
}

/** The resources of one request. */
export type StatsCounting = Counting & { source: StatsSource };

/** The result of a count. */
export interface Read {
  /** Whether the budget and the sink sufficed. */
  complete: boolean;
  /** Progress of each project in the snapshot. */
  progress: readonly ProjectProgress[];
  /** Commit number of the snapshot, and the newest one. */
  asOf: number;
  lastCommit: number;
  /** Retention cutoff, epoch milliseconds. */
  oldest: number;
}

/**
 * Adds all entries of both tiers that pass a filter to the sink, newest first. Uses stored counts where they suffice, and
 * scans entries for other filters and sinks, and for the two partial minutes at the ends of a time range.
 * @param asOf commit number of the snapshot; `null` pins the newest commit
 * @param isNewest whether `asOf` was the newest commit at the start of the request
 */
export async function countMatching(
  counting: StatsCounting,
  filter: LogFilter,
  asOf: number | null,
  isNewest = asOf === null,
): Promise<Read> {
  // Stored counts of a segment cannot be cut at an earlier commit. Few segments are newer than the start of a request.
  if (!counting.sink.takesCounts || !isNewest || needsContent(filter)) return countEntries(counting, filter, asOf);
  const whole = wholeMinutes(filter);
  const read = await countSummaries(counting, { ...filter, ...whole }, asOf);
  let { complete } = read;
  for (const edge of edgesOf(filter, whole)) {
    if (!(await countEntries(counting, { ...filter, ...edge }, read.asOf)).complete) complete = false;
  }
  return { ...read, complete };
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

/** Adds up the stored counts of batches and segments, and scans segments that a flush has made after the snapshot. */
async function countSummaries(counting: StatsCounting, filter: LogFilter, pinned: number | null): Promise<Read> {
  const { source, sink, pacer } = counting;
  const { levelMask, from, to } = filter;
  const categoryMask = categoryMaskOf(filter);
  const scan = { from, to, levelMask, categoryMask, followsMoves: true };
  const first = await source.recentCounts({ ...scan, asOf: pinned, after: 0 });
  const kept = { ...filter, from: Math.max(from ?? first.oldest, first.oldest) };
  const { workspaceId } = source;
  const { asOf, oldest, flushed: progress } = first;
  const read = { asOf, lastCommit: asOf, progress, oldest };
  const watermarks = new Watermarks(first.flushed);
  const end = endOf(counting);
  let complete = true;
  for (let page = first; ; ) {
    for (const summary of unpackSummaries(page.summaries)) {
      addSummary(sink, summary, kept);
      await chargeCounts(pacer, summary);
    }
    if (page.next === null) break;
    // Recent batches are read in order of arrival, so the newest entries are missing here.
    if (pacer.meter.done >= end || sink.isFull) return { ...read, complete: false };
    const after = page.next;
    page = await source.recentCounts({ ...scan, asOf, after });
    const wanted = { workspaceId, from: kept.from, to, levelMask, categoryMask, asOf, afterCommit: after };
    for (const move of watermarks.follow(page.flushed)) {
      const groups = { filter: kept, ...groupsOf(counting) };
      const moved = await openMoved(source.cold, { ...wanted, order: "desc" }, move, groups);
      if (!(await countFeed(counting, moved, kept))) complete = false;
    }
  }
  const projects = coldProjects(first.flushed);
  const common = { workspaceId, projects, levelMask, categoryMask, tests: [], order: "desc" } as const;
  const selection = { ...common, from: kept.from, to, asOf: pinned, readAt: Date.now() };
  if (!(await countSegments(counting, kept, { ...selection, cut: "excluded" }))) complete = false;
  if (pinned === null) return { ...read, complete };
  const groups = { filter: kept, ...groupsOf(counting) };
  const cut = await ColdFeed.open(source.cold, { ...selection, cut: "only" }, LONG_SEGMENTS, groups);
  if (!(await countFeed(counting, cut, kept))) complete = false;
  return { ...read, complete };
}

/**
 * Adds up the counts of segments, newest first.
 * @returns whether the budget sufficed
 */
async function countSegments(counting: StatsCounting, filter: LogFilter, selection: PagerSelection): Promise<boolean> {
  const { source, sink, pacer } = counting;
  const byLevelAlone = filter.categories === null && filter.types === null && sink.needsLevelsAlone;
  const { read, max } = byLevelAlone ? source.levels : source.summaries;
  const pager = new SegmentPager(read, selection, max, max);
  const end = endOf(counting);
  while (!pager.isDone) {
    if (pacer.meter.done + pager.cost >= end || sink.isFull) return false;
    for (const { counts } of await pager.page()) {
      if (byLevelAlone) addLevels(sink, counts, filter);
      else addSummary(sink, counts, filter);
      await chargeCounts(pacer, counts);
    }
  }
  pacer.meter.add(pager.cost);
  return !sink.isFull;
}

/** Charges packed counts that were added up, and yields if a pause is due. */
function chargeCounts(pacer: ScanPacer, counts: Uint8Array): Promise<void> | undefined {
  pacer.meter.add(WORK.summary + counts.length * WORK.countsByte);
  return pacer.meter.isDue ? pacer.pause() : undefined;
}

function addLevels(sink: CountSink, packed: Uint8Array, filter: LogFilter): void {
  for (const { minute, level, count } of readLevelCounts(packed)) {
    sink.scanned(count);
    if (passes(filter, minute, level)) sink.addLevel(minute * SUMMARY_BUCKET_MS, level, count);
  }
}

function addSummary(sink: CountSink, packed: Uint8Array, filter: LogFilter): void {
  const { categories, types } = filter;
  for (const row of readSummary(packed)) {
    sink.scanned(row.count);
    if (!passes(filter, row.minute, row.level)) continue;
    if (categories !== null && !isListed(categories, row.category)) continue;
    if (types !== null && !isListed(types, row.type)) continue;
    sink.add(row.minute * SUMMARY_BUCKET_MS, row, row.count);
  }
}

function passes({ from, to, levelMask }: LogFilter, minute: number, level: number): boolean {
  const start = minute * SUMMARY_BUCKET_MS;
  return (from === null || start >= from) && (to === null || start < to) && ((1 << level) & levelMask) !== 0;
}

/** Scans entries, newest first. */
async function countEntries(counting: StatsCounting, wanted: LogFilter, asOf: number | null): Promise<Read> {
  const { source } = counting;
  const scan = { asOf, from: wanted.from, to: wanted.to, order: "desc" } as const;
  const recent = await openRecent(source, wanted, scan);
  const { asOf: pinned, lastCommit, oldest, flushed: progress } = recent.first;
  const read = { asOf: pinned, lastCommit, progress, oldest };
  if (pinned > lastCommit) return { ...read, complete: true };
  const pool = counting.sink.parts && source.scanners;
  const isShared = pool !== undefined;
  const { feed, filter } = await withColdTier(source, recent, wanted, scan, groupsOf(counting), isShared);
  const isWhole = await countFeed(counting, feed, filter);
  if (!isWhole || pool === undefined) return { ...read, complete: isWhole };
  const selection = coldSelection(source, recent.first, wanted, scan);
  return { ...read, complete: await countParts(counting, { filter, selection }, pool) };
}
