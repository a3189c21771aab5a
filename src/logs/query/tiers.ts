import { tokenTestsOf } from "../cold/tokens.ts";
import { idHashesOf } from "../id-filter.ts";
import type { ReportUnreadable } from "../unreadable.ts";
import { MergedFeed, type ScanFeed } from "./feed.ts";
import { categoryMaskOf, type LogFilter } from "./filter.ts";
import { RecentFeed, type RecentSource, WatermarkMoved } from "./recent-feed.ts";
import type { Order } from "./row-order.ts";
import type { WalkSelection } from "./segment-walk.ts";
import { FIRST_SEGMENTS, ID_SEGMENTS, StoredFeed, type StoredSource } from "./stored-feed.ts";

/** Where a workspace's logs are read from. */
export interface LogSource {
  workspaceId: string;
  recent: RecentSource;
  stored: StoredSource;
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

/** Reads of one answer that begin anew because a flush came between; each holds the next one off (`recent` leases). */
const TRIES = 3;

/** Runs a read until no flush comes between its pages; null where that does not come about. */
export async function withSnapshot<T>(read: () => Promise<T>): Promise<T | null> {
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof WatermarkMoved)) throw error;
    }
  }
  return null;
}

/** Opens the recent tier, which pins the snapshot and says how far the cold one is to be looked through. */
export function openRecent(source: LogSource, filter: LogFilter, scan: TierScan): Promise<RecentFeed> {
  const { levelMask } = filter;
  const selection = { ...scan, levelMask, categoryMask: categoryMaskOf(filter), ids: idHashesOf(filter) };
  return RecentFeed.open(source.recent, selection, isForOneId(filter));
}

/** Whether few entries of all can pass, wherever they are: then the first answers are to hold as much as they may. */
function isForOneId({ session, traceId }: LogFilter): boolean {
  return session !== null || traceId !== null;
}

/** Both tiers as one feed, and the filter with what is past the retention left out. */
export async function withStored(
  source: LogSource,
  recent: RecentFeed,
  filter: LogFilter,
  { from, to, order }: TierScan,
): Promise<{ feed: ScanFeed; filter: LogFilter }> {
  const { asOf, oldest, flushed } = recent.first;
  const kept = { ...filter, from: Math.max(filter.from ?? oldest, oldest) };
  const projects = new Map(flushed.filter(({ seq }) => seq > 0).map(({ projectId, seq }) => [projectId, seq]));
  if (projects.size === 0) return { feed: recent, filter: kept };
  const selection: WalkSelection = {
    workspaceId: source.workspaceId,
    projects,
    from: Math.max(from ?? oldest, oldest),
    to,
    levelMask: filter.levelMask,
    categoryMask: categoryMaskOf(filter),
    asOf,
    tests: tokenTestsOf(filter),
    order,
  };
  const stored = await StoredFeed.open(source.stored, selection, isForOneId(filter) ? ID_SEGMENTS : FIRST_SEGMENTS);
  return { feed: new MergedFeed(order, recent, stored), filter: kept };
}
