import type { ReportUnreadable } from "../batch.ts";
import { allTokenTestsOf } from "../cold/filter/language-tokens.ts";
import type { SegmentKey, SegmentMeta } from "../cold/format/segment.ts";
import type { PagerSelection } from "../cold/store/selection.ts";
import { idHashesOf } from "../id-filter.ts";
import { ColdFeed, type ColdSource, FIRST_SEGMENTS, type FoundSegment, ID_SEGMENTS } from "./cold-feed.ts";
import {
  direction,
  type LineSource,
  type Move,
  type Order,
  type ScanFeed,
  type ScanItem,
  type SeqRun,
} from "./feed.ts";
import { categoryMaskOf, isForOneId, type LogFilter } from "./filter.ts";
import { type FollowedMove, RecentFeed, type RecentPage, type RecentScan, type RecentSource } from "./recent-feed.ts";
import type { RowGroupScan } from "./row-group-reader.ts";

/** Maximum number of segments of one statement. */
const SEGMENTS_AT_ONCE = 64;

/** The part of the cold tier that finds moved entries. */
export interface MovedSource extends ColdSource {
  /**
   * Returns the segments of a project that cover a range of `seq`, in order, after a segment. A page shorter than
   * `limit` is the last.
   * @param readAt of a read of several pages; see `SegmentSelection`
   */
  segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
    readAt?: number,
  ): Promise<SegmentMeta[]>;
}

/** The conditions on moved entries. */
export type MovedSelection = Pick<
  PagerSelection,
  "workspaceId" | "from" | "to" | "levelMask" | "categoryMask" | "asOf" | "order"
> & {
  /** Entries of this commit and earlier ones were read. 0 if `MovedFeed` excludes them by `seq`. */
  afterCommit: number;
};

/**
 * Opens the entries that moved to the cold tier during a read of the recent tier. The object raises a watermark only
 * after D1 has stored the range, so all of a move is in D1.
 */
export async function openMoved(
  source: MovedSource,
  selection: MovedSelection,
  { projectId, after, until }: Move,
  scan: RowGroupScan,
): Promise<ColdFeed> {
  const { workspaceId, order } = selection;
  const metas: SegmentMeta[] = [];
  const readAt = Date.now();
  for (let last: SegmentMeta | null = null; ; ) {
    const range = { from: after + 1, to: until };
    const found = await source.segmentsBySeq(workspaceId, projectId, range, last, SEGMENTS_AT_ONCE, readAt);
    metas.push(...found);
    last = found.at(-1) ?? null;
    if (found.length < SEGMENTS_AT_ONCE) break;
  }
  const segments = metas
    .filter((meta) => isWanted(meta, selection))
    .sort((a, b) => compareSegments(order, a, b))
    .map((meta): FoundSegment => ({ ...meta, blockKinds: 0, slotBytes: 0, slots: "" }));
  const found: ColdSource = {
    findSegments: async () => ({ segments, next: null }),
    readBodies: (...args) => source.readBodies(...args),
    readFiles: (ranges) => source.readFiles(ranges),
  };
  const projects = new Map([[projectId, until]]);
  return ColdFeed.open(found, { ...selection, projects, tests: [] }, segments.length, scan);
}

function isWanted(meta: SegmentMeta, selection: MovedSelection): boolean {
  const { from, to, levelMask, categoryMask, asOf, afterCommit } = selection;
  return (
    (from === null || meta.maxTimestamp >= from) &&
    (to === null || meta.minTimestamp < to) &&
    (meta.levelMask & levelMask) !== 0 &&
    (meta.categoryMask & categoryMask) !== 0 &&
    (asOf === null || meta.minCommit <= asOf) &&
    meta.maxCommit > afterCommit
  );
}

function compareSegments(order: Order, a: SegmentMeta, b: SegmentMeta): number {
  return order === "desc" ? b.maxTimestamp - a.maxTimestamp : a.minTimestamp - b.minTimestamp;
}

/** Moved entries, except those that the read received before they moved. */
export class MovedFeed implements ScanFeed {
  readonly #feed: ColdFeed;
  readonly #sign: number;
  readonly #start: number;
  readonly #received: readonly SeqRun[];

  /**
   * @param start bound of the read when it learned of the move, epoch milliseconds. No remaining entry comes before it,
   * but the block may, because it also holds others.
   * @param received ranges already received, in order of `seq`
   */
  constructor(order: Order, feed: ColdFeed, start: number, received: readonly SeqRun[]) {
    this.#feed = feed;
    this.#sign = direction(order);
    this.#start = start;
    this.#received = received;
  }

  get cost(): number {
    return this.#feed.cost;
  }

  bound(): number | null {
    const bound = this.#feed.bound();
    return bound === null || this.#sign * (bound - this.#start) >= 0 ? bound : this.#start;
  }

  async take(): Promise<ScanItem> {
    const item = await this.#feed.take();
    if (this.#received.length === 0) return item;
    return {
      ...item,
      isWhole: false,
      openRows: undefined,
      open: async () => {
        const lines = await item.open();
        return lines && withoutReceived(lines, this.#received);
      },
    };
  }
}

function withoutReceived(lines: LineSource, received: readonly SeqRun[]): LineSource {
  // Entries are mostly requested in order, so the last range found is tried first.
  let at = 0;
  const isReceived = (seq: number) => {
    if (seq < (received[at]?.first ?? 0)) at = 0;
    while (at < received.length - 1 && seq > (received[at]?.last ?? 0)) at++;
    const run = received[at];
    return run !== undefined && run.first <= seq && seq <= run.last;
  };
  return {
    projectId: lines.projectId,
    pieces: (wanted) => lines.pieces(wanted),
    seqAt: (index) => lines.seqAt(index),
    receivedAtOf: (index) => lines.receivedAtOf(index),
    isVisible: (index) => lines.isVisible(index) && !isReceived(lines.seqAt(index)),
    close: () => lines.close?.(),
  };
}

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
  const segments = isForOneId(filter) ? ID_SEGMENTS : FIRST_SEGMENTS;
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
