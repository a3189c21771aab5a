import type { SegmentKey, SegmentMeta } from "../cold/format/segment.ts";
import type { PagerSelection } from "../cold/store/selection.ts";
import { ColdFeed, type ColdSource, type FoundSegment } from "./cold-feed.ts";
import {
  direction,
  type LineSource,
  type Move,
  type Order,
  type ScanFeed,
  type ScanItem,
  type SeqRun,
} from "./feed.ts";
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
