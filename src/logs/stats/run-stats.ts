import { readLevelCounts } from "../cold/level-counts.ts";
import type { SegmentPosition } from "../cold/selection.ts";
import { LEVELS } from "../entry.ts";
import { BatchMatcher } from "../query/batch-matcher.ts";
import type { ScanFeed } from "../query/feed.ts";
import { categoryMaskOf, type LogFilter } from "../query/filter.ts";
import { QUERY_BUDGET, type QueryBudget } from "../query/limits.ts";
import { isListed } from "../query/listed.ts";
import { openMoved } from "../query/moved-feed.ts";
import { Watermarks } from "../query/moves.ts";
import { Pacer } from "../query/pacer.ts";
import { byteCostOf, isPassedOver, openItem } from "../query/scan.ts";
import { type ReadSegments, SegmentWalk, type WalkSelection } from "../query/segment-walk.ts";
import { type LogSource, openRecent, withStored } from "../query/tiers.ts";
import { readLine } from "../stored-line.ts";
import { readSummary, SUMMARY_BUCKET_MS } from "../summary.ts";
import { reportEntries } from "../unreadable.ts";
import { type Bucket, type Counted, Histogram, TooManyBuckets } from "./histogram.ts";
import { type RecentCountPage, type RecentCountScan, unpackSummaries } from "./recent-counts.ts";
import type { StatsQuery } from "./schema.ts";

/** A segment's place with its packed counts. */
export interface CountedSegment extends SegmentPosition {
  counts: Uint8Array;
}

/** Where counts come from, beside the logs themselves. */
export interface StatsSource extends LogSource {
  recentCounts(scan: RecentCountScan): Promise<RecentCountPage>;
  /** Segments with counts by minute and level, or with all four; and how many of them one answer holds. */
  levels: { read: ReadSegments<CountedSegment>; most: number };
  summaries: { read: ReadSegments<CountedSegment>; most: number };
}

/** What `POST /logger/stats` answers. */
export interface StatsAnswer {
  buckets: Bucket[];
  total: number;
  complete: boolean;
}

export type StatsResult = { ok: true; answer: StatsAnswer } | { ok: false; reason: "too_many" };

/**
 * Counts entries by time. Counts that batches and segments were stored with answer whatever asks for level, category,
 * type and whole minutes; entries are looked at for other filters, and in the two minutes that a range cuts through.
 */
export async function runStats(
  source: StatsSource,
  query: StatsQuery,
  budget: QueryBudget = QUERY_BUDGET,
): Promise<StatsResult> {
  try {
    return { ok: true, answer: await count(source, query, budget) };
  } catch (error) {
    if (error instanceof TooManyBuckets) return { ok: false, reason: "too_many" };
    throw error;
  }
}

async function count(source: StatsSource, query: StatsQuery, budget: QueryBudget): Promise<StatsAnswer> {
  const { filter } = query;
  const histogram = new Histogram(query.intervalMs, query.groupBy);
  let complete = true;
  if (needsEntries(filter)) complete = await countEntries(source, histogram, filter, null, budget);
  else {
    const whole = wholeMinutes(filter);
    const summed = await countSummaries(source, histogram, { ...filter, ...whole }, budget);
    const { asOf } = summed;
    complete = summed.complete;
    for (const edge of edgesOf(filter, whole)) {
      if (!(await countEntries(source, histogram, { ...filter, ...edge }, asOf, budget))) complete = false;
    }
  }
  return { buckets: histogram.buckets(), total: histogram.total, complete };
}

/** Whether counts by minute, level, category and type cannot tell. */
function needsEntries({ session, traceId, search, data }: LogFilter): boolean {
  return session !== null || traceId !== null || search !== null || data.length > 0;
}

interface TimeRange {
  from: number | null;
  to: number | null;
}

/** The whole minutes of a range; none where `from` is not before `to`. */
function wholeMinutes({ from, to }: LogFilter): TimeRange {
  const up = from === null ? null : Math.ceil(from / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
  const down = to === null ? null : Math.floor(to / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
  return { from: up, to: down };
}

/** The parts of minutes at a range's ends. A range within one minute is one part. */
function edgesOf({ from, to }: LogFilter, whole: TimeRange): TimeRange[] {
  if (from !== null && to !== null && (whole.from ?? 0) > (whole.to ?? 0)) return from < to ? [{ from, to }] : [];
  return [
    { from, to: whole.from },
    { from: whole.to, to },
  ].filter((edge) => edge.from !== null && edge.to !== null && edge.from < edge.to);
}

/** Adds up what batches and segments were counted by. @returns the snapshot counted, a commit number */
async function countSummaries(
  source: StatsSource,
  histogram: Histogram,
  filter: LogFilter,
  budget: QueryBudget,
): Promise<{ asOf: number; complete: boolean }> {
  const { levelMask, from, to } = filter;
  const categoryMask = categoryMaskOf(filter);
  const scan = { from, to, levelMask, categoryMask, followsMoves: true };
  const first = await source.recentCounts({ ...scan, asOf: null, after: 0 });
  const kept = { ...filter, from: Math.max(from ?? first.oldest, first.oldest) };
  const { workspaceId } = source;
  const { asOf } = first;
  const watermarks = new Watermarks(first.flushed);
  let complete = true;
  for (let page = first; ; ) {
    for (const summary of unpackSummaries(page.summaries)) addSummary(histogram, summary, kept);
    if (page.next === null) break;
    const after = page.next;
    page = await source.recentCounts({ ...scan, asOf, after });
    const wanted = { workspaceId, from: kept.from, to, levelMask, categoryMask, asOf, afterCommit: after };
    for (const move of watermarks.follow(page.flushed)) {
      const moved = await openMoved(source.stored, { ...wanted, order: "desc" }, move);
      if (!(await countFeed(source, histogram, moved, kept, budget))) complete = false;
    }
  }
  const projects = new Map(first.flushed.filter(({ seq }) => seq > 0).map(({ projectId, seq }) => [projectId, seq]));
  const common = { workspaceId, projects, levelMask, categoryMask, asOf: null, tests: [], order: "desc" } as const;
  if (!(await countSegments(source, histogram, kept, { ...common, from: kept.from, to }, budget))) complete = false;
  return { asOf, complete };
}

/** Newest first. @returns whether the budget sufficed */
async function countSegments(
  source: StatsSource,
  histogram: Histogram,
  filter: LogFilter,
  selection: WalkSelection,
  budget: QueryBudget,
): Promise<boolean> {
  const byLevelAlone = filter.categories === null && filter.types === null && histogram.needsLevelsAlone;
  const { read, most } = byLevelAlone ? source.levels : source.summaries;
  const walk = new SegmentWalk(read, selection, most, most);
  let cost = 0;
  while (!walk.isDone) {
    if (cost + walk.cost >= budget.scanBytes) return false;
    for (const { counts } of await walk.page()) {
      cost += counts.length * COUNTS_BYTE_COST;
      if (byLevelAlone) addLevels(histogram, counts, filter);
      else addSummary(histogram, counts, filter);
    }
  }
  return true;
}

/** To bring a byte of packed counts here and to unpack it, in bytes of a plain scan. */
const COUNTS_BYTE_COST = 10;

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

/** Looks at entries, newest first. @returns whether the budget sufficed */
async function countEntries(
  source: StatsSource,
  histogram: Histogram,
  wanted: LogFilter,
  asOf: number | null,
  budget: QueryBudget,
): Promise<boolean> {
  const scan = { asOf, from: wanted.from, to: wanted.to, order: "desc" } as const;
  const { feed, filter } = await withStored(source, await openRecent(source, wanted, scan), wanted, scan);
  return countFeed(source, histogram, feed, filter, budget);
}

/** Counts what a feed has left. @returns whether the budget sufficed */
async function countFeed(
  source: StatsSource,
  histogram: Histogram,
  feed: ScanFeed,
  filter: LogFilter,
  budget: QueryBudget,
): Promise<boolean> {
  const matcher = new BatchMatcher(filter);
  const byteCost = byteCostOf(filter);
  const pacer = new Pacer();
  let cost = 0;
  while (feed.bound() !== null) {
    if (cost + feed.cost >= budget.scanBytes) return false;
    const unit = await openItem(await feed.take(), source.report);
    if (unit === null) continue;
    const unitCost = unit.size * byteCost;
    cost += unitCost;
    if (isPassedOver(matcher, unit)) {
      await pacer.pause(unitCost);
      continue;
    }
    const { body } = unit;
    const damaged: number[] = [];
    const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    matcher.forEachMatch(
      body,
      (_, index) => unit.isVisible(index),
      ({ timestamp, index, start, end }) => {
        const counted = histogram.needsNames ? countedOf(raw.toString("utf8", start, end)) : NOTHING;
        if (counted === null) damaged.push(unit.seqAt(index));
        else histogram.add(timestamp, counted, 1);
      },
      (index) => damaged.push(unit.seqAt(index)),
    );
    reportEntries(source.report, unit.projectId, damaged);
    await pacer.pause(unitCost);
  }
  return true;
}

const NOTHING: Counted = { level: 0, category: "", type: "" };

function countedOf(line: string): Counted | null {
  const entry = readLine(line);
  return entry && { level: LEVELS.indexOf(entry.level), category: entry.category, type: entry.type };
}
