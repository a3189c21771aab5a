import { tokenTestsOf } from "../cold/tokens.ts";
import { idHashesOf } from "../id-filter.ts";
import type { ReportUnreadable } from "../unreadable.ts";
import type { ScanFeed, ScanItem } from "./feed.ts";
import { categoryMaskOf, type LogFilter } from "./filter.ts";
import { MovedFeed, type MovedSource, openMoved } from "./moved-feed.ts";
import { type FollowedMove, RecentFeed, type RecentSource } from "./recent-feed.ts";
import type { RecentPage, RecentScan } from "./recent-scan.ts";
import { direction, type Order } from "./row-order.ts";
import type { PagerSelection } from "./segment-walk.ts";
import { ColdFeed, FIRST_SEGMENTS, ID_SEGMENTS } from "./stored-feed.ts";

/** Where a workspace's logs are read from. */
export interface LogSource {
  workspaceId: string;
  recent: RecentSource;
  cold: MovedSource;
  report: ReportUnreadable;
}

/** The part of what is stored that a read may need. Times are epoch milliseconds, `from` inclusive, `to` exclusive. */
export interface TierScan {
  /** Null pins the newest commit. */
  asOf: number | null;
  from: number | null;
  to: number | null;
  order: Order;
}

/** Opens the recent tier, which pins the snapshot and says how far the cold one is to be looked through. */
export function openRecent(source: LogSource, filter: LogFilter, scan: TierScan): Promise<RecentFeed> {
  return RecentFeed.open(source.recent, recentSelection(filter, scan), isForOneId(filter));
}

/** Which recent batches a read may need. */
export function recentSelection(filter: LogFilter, scan: TierScan): Omit<RecentScan, "position" | "maxBytes"> {
  const { levelMask } = filter;
  return { ...scan, levelMask, categoryMask: categoryMaskOf(filter), ids: idHashesOf(filter) };
}

/** Whether few entries of all can pass, wherever they are: then the first answers are to hold as much as they may. */
function isForOneId({ session, traceId }: LogFilter): boolean {
  return session !== null || traceId !== null;
}

/** Both tiers as one feed, and the filter with what is past the retention left out. */
export async function withColdTier(
  source: LogSource,
  recent: RecentFeed,
  filter: LogFilter,
  { from, to, order }: TierScan,
): Promise<{ feed: ScanFeed; filter: LogFilter }> {
  const kept = keptFilter(filter, recent.first);
  const selection = storedSelection(source, recent.first, filter, { from, to, order });
  const { projects } = selection;
  const segments = isForOneId(filter) ? ID_SEGMENTS : FIRST_SEGMENTS;
  const cold = projects.size === 0 ? null : await ColdFeed.open(source.cold, selection, segments);
  const openMove = async (move: FollowedMove) =>
    new MovedFeed(order, await openMoved(source.cold, { ...selection, afterCommit: 0 }, move), move.place, move.given);
  return { feed: new TieredFeed(order, recent, cold, openMove), filter: kept };
}

/** A filter with what is past the retention left out. */
export function keptFilter(filter: LogFilter, { oldest }: RecentPage): LogFilter {
  return { ...filter, from: Math.max(filter.from ?? oldest, oldest) };
}

/** Which segments a read may need. @param page of the recent tier, that says how far the cold one is to be looked through */
export function storedSelection(
  { workspaceId }: LogSource,
  { asOf, oldest, flushed }: RecentPage,
  filter: LogFilter,
  { from, to, order }: Omit<TierScan, "asOf">,
): PagerSelection {
  return {
    workspaceId,
    projects: storedProjects(flushed),
    from: Math.max(from ?? oldest, oldest),
    to,
    levelMask: filter.levelMask,
    categoryMask: categoryMaskOf(filter),
    asOf,
    tests: tokenTestsOf(filter),
    order,
  };
}

/** The projects that have anything in the cold tier, each with its last `seq` there. */
export function storedProjects(flushed: RecentPage["flushed"]): ReadonlyMap<string, number> {
  return new Map(flushed.filter(({ seq }) => seq > 0).map(({ projectId, seq }) => [projectId, seq]));
}

/** Both tiers as one feed. What moves from one to the other while it is read is read where it lies then, and once. */
class TieredFeed implements ScanFeed {
  readonly #sign: number;
  readonly #recent: RecentFeed;
  readonly #openMove: (move: FollowedMove) => Promise<ScanFeed>;
  /** Those that have something left. At the same place the recent tier comes first. */
  #feeds: ScanFeed[];
  /** What those cost that have nothing left. */
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
    let least = Number.POSITIVE_INFINITY;
    for (const feed of this.#feeds) {
      const bound = feed.bound();
      if (bound === null || this.#sign * bound >= least) continue;
      least = this.#sign * bound;
      nearest = feed;
    }
    return nearest;
  }
}
