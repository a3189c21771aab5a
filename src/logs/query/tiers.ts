import type { ReportUnreadable } from "../batch.ts";
import { allTokenTestsOf } from "../cold/filter/language-tokens.ts";
import type { PagerSelection } from "../cold/store/selection.ts";
import { idHashesOf } from "../id-filter.ts";
import { ColdFeed, FIRST_SEGMENTS, LONG_SEGMENTS } from "./cold-feed.ts";
import { direction, type Order, type ScanFeed, type ScanItem } from "./feed.ts";
import { categoryMaskOf, isForOneId, type LogFilter } from "./filter.ts";
import type { ReadMemory } from "./memory.ts";
import { MovedFeed, type MovedSource, openMoved } from "./moved-feed.ts";
import { type FollowedMove, RecentFeed, type RecentPage, type RecentScan, type RecentSource } from "./recent-feed.ts";
import type { RowGroupScan } from "./row-group-reader.ts";

/** The source of a workspace's logs. */
export interface LogSource {
  workspaceId: string;
  recent: RecentSource;
  cold: MovedSource;
  report: ReportUnreadable;
}

/** The part of the stored data that a read may need. Times are epoch milliseconds, `from` inclusive, `to` exclusive. */
export interface TierScan {
  /** `null` pins the newest commit. */
  asOf: number | null;
  from: number | null;
  to: number | null;
  order: Order;
}

/** Opens the recent tier, which pins the snapshot and returns the watermarks. */
export function openRecent(source: LogSource, filter: LogFilter, scan: TierScan): Promise<RecentFeed> {
  return RecentFeed.open(source.recent, recentSelection(filter, scan), isForOneId(filter));
}

/** Returns the selection of recent batches that a read may need. */
export function recentSelection(filter: LogFilter, scan: TierScan): Omit<RecentScan, "position" | "maxBytes"> {
  const { levelMask } = filter;
  return { ...scan, levelMask, categoryMask: categoryMaskOf(filter), ids: idHashesOf(filter) };
}

/**
 * Returns a feed over both tiers, and the filter with `from` at the retention cutoff or later.
 * @param reading of row groups
 * @param isRecentAlone whether the caller reads the cold tier. Entries that move there during the read are in the feed
 */
export async function withColdTier(
  source: LogSource,
  recent: RecentFeed,
  filter: LogFilter,
  { from, to, order }: TierScan,
  reading: Omit<RowGroupScan, "filter">,
  isRecentAlone = false,
): Promise<{ feed: ScanFeed; filter: LogFilter }> {
  const kept = keptFilter(filter, recent.first);
  const selection = coldSelection(source, recent.first, filter, { from, to, order });
  const { projects } = selection;
  const isLong = reading.rows === null || selection.tests.length > 0;
  const segments = isLong ? LONG_SEGMENTS : FIRST_SEGMENTS;
  const groups = { ...reading, filter: kept };
  const cold =
    isRecentAlone || projects.size === 0 ? null : await ColdFeed.open(source.cold, selection, segments, groups);
  const openMove = async (move: FollowedMove) =>
    new MovedFeed(
      order,
      await openMoved(source.cold, { ...selection, afterCommit: 0 }, move, groups),
      move.bound,
      move.received,
    );
  return { feed: new TieredFeed(order, recent, cold, openMove), filter: kept };
}

/** Returns a filter with `from` at the retention cutoff or later. */
export function keptFilter(filter: LogFilter, { oldest }: RecentPage): LogFilter {
  return { ...filter, from: Math.max(filter.from ?? oldest, oldest) };
}

/** Returns the selection of segments that a read may need. @param page of the recent tier, with the watermarks */
export function coldSelection(
  { workspaceId }: LogSource,
  { asOf, oldest, flushed }: RecentPage,
  filter: LogFilter,
  { from, to, order }: Omit<TierScan, "asOf">,
): PagerSelection {
  return {
    workspaceId,
    projects: coldProjects(flushed),
    from: Math.max(from ?? oldest, oldest),
    to,
    levelMask: filter.levelMask,
    categoryMask: categoryMaskOf(filter),
    asOf,
    tests: allTokenTestsOf(filter),
    order,
  };
}

/** Returns the watermarks of the projects that have entries in the cold tier. */
export function coldProjects(flushed: RecentPage["flushed"]): ReadonlyMap<string, number> {
  return new Map(flushed.filter(({ seq }) => seq > 0).map(({ projectId, seq }) => [projectId, seq]));
}

/** Minimum bytes of a page of batches or a read of segments if no further memory is free. */
const MIN_INPUT_BYTES = 512 * 1024;

/** Wraps a source so that each request returns at most the bytes for which the reader has memory. */
export function boundedSource<S extends LogSource>(source: S, memory: ReadMemory): S {
  return {
    ...source,
    recent: async (scan) => {
      memory.renew();
      const page = await source.recent({ ...scan, maxBytes: memory.grantInput(scan.maxBytes, MIN_INPUT_BYTES) });
      memory.recordInput(page.batches.reduce((sum, { body }) => sum + body.length, 0));
      for (const { body } of page.batches) memory.receive(body);
      return page;
    },
    cold: {
      ...source.cold,
      findSegments: (selection) => source.cold.findSegments(selection),
      readBodies: async (workspaceId, ranges) => {
        const bodies = await source.cold.readBodies(workspaceId, fitting(ranges, memory));
        for (const body of bodies) if (body !== null) memory.receive(body.bytes);
        return bodies;
      },
      readFiles: async (ranges) => {
        const read = await source.cold.readFiles(fitting(ranges, memory));
        for (const bytes of read) if (bytes !== null) memory.receive(bytes);
        return read;
      },
    },
  };
}

/** Returns the first ranges for which the reader has memory, at least one. */
function fitting<R extends { start: number; end: number; footerBytes?: number }>(
  ranges: readonly R[],
  memory: ReadMemory,
): readonly R[] {
  memory.renew();
  const sizes = ranges.map(({ start, end, footerBytes = 0 }) => end - start + footerBytes);
  let left = memory.grantInput(
    sizes.reduce((sum, size) => sum + size, 0),
    MIN_INPUT_BYTES,
  );
  const excess = sizes.findIndex((size, index) => {
    left -= size;
    return index > 0 && left < 0;
  });
  return excess < 0 ? ranges : ranges.slice(0, excess);
}

/** Both tiers as one feed. Entries that move during the read are read once, in the tier where they are at the time. */
class TieredFeed implements ScanFeed {
  readonly #sign: number;
  readonly #recent: RecentFeed;
  readonly #openMove: (move: FollowedMove) => Promise<ScanFeed>;
  /** Feeds that are not at their end. With equal bounds the recent tier comes first. */
  #feeds: ScanFeed[];
  /** Cost of the feeds that are at their end. */
  #cost = 0;

  constructor(
    order: Order,
    recent: RecentFeed,
    cold: ScanFeed | null,
    openMove: (move: FollowedMove) => Promise<ScanFeed>,
  ) {
    this.#sign = direction(order);
    this.#recent = recent;
    this.#openMove = openMove;
    this.#feeds = cold === null ? [recent] : [recent, cold];
  }

  get cost(): number {
    return this.#feeds.reduce((sum, { cost }) => sum + cost, this.#cost);
  }

  bound(): number | null {
    return this.#nearest()?.bound() ?? null;
  }

  async take(): Promise<ScanItem> {
    const feed = this.#nearest();
    if (!feed) throw new RangeError("There is no further item.");
    const item = await feed.take();
    if (feed === this.#recent) {
      for (const move of this.#recent.takeMoves()) this.#feeds.push(await this.#openMove(move));
    }
    if (feed.bound() === null) {
      this.#cost += feed.cost;
      this.#feeds = this.#feeds.filter((each) => each !== feed);
    }
    return item;
  }

  #nearest(): ScanFeed | undefined {
    let nearest: ScanFeed | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (const feed of this.#feeds) {
      const bound = feed.bound();
      if (bound === null || this.#sign * bound >= earliest) continue;
      earliest = this.#sign * bound;
      nearest = feed;
    }
    return nearest;
  }
}
