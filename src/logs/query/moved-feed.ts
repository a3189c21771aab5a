import type { SegmentKey, SegmentMeta } from "../cold/segment.ts";
import type { LineSource, ScanFeed, ScanItem } from "./feed.ts";
import type { Move, SeqRun } from "./moves.ts";
import { direction, type Order } from "./row-order.ts";
import type { PagerSelection } from "./segment-walk.ts";
import { ColdFeed, type ColdSource, type FoundSegment } from "./stored-feed.ts";

/** Segments that one statement names. */
const SEGMENTS_AT_ONCE = 64;

/** The part of the cold tier's store that finds what has moved. */
export interface MovedSource extends ColdSource {
  /** Segments of a project that cover a run of `seq`, in its order, behind a segment; fewer than `limit` are the last ones. */
  segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
  ): Promise<SegmentMeta[]>;
}

/** What of the moved entries is wanted. */
export type MovedSelection = Pick<
  PagerSelection,
  "workspaceId" | "from" | "to" | "levelMask" | "categoryMask" | "asOf" | "order"
> & {
  /** Entries of this commit and earlier ones have been read; 0 where `MovedFeed` is to leave them out by `seq`. */
  afterCommit: number;
};

/**
 * Opens what has moved to the cold tier while a read went through the recent one. The object raises a watermark only after
 * D1 has stored the range, so all of a move is there.
 */
export async function openMoved(source: MovedSource, selection: MovedSelection, { projectId, after, until }: Move) {
  const { workspaceId, order } = selection;
  const metas: SegmentMeta[] = [];
  for (let last: SegmentMeta | null = null; ; ) {
    const range = { from: after + 1, to: until };
    const found: SegmentMeta[] = await source.segmentsBySeq(workspaceId, projectId, range, last, SEGMENTS_AT_ONCE);
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
  };
  return ColdFeed.open(found, { ...selection, projects: new Map([[projectId, until]]), tests: [] });
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

/** Moved entries that the read has not been given before they moved. */
export class MovedFeed implements ScanFeed {
  readonly #feed: ColdFeed;
  readonly #sign: number;
  readonly #place: number;
  readonly #given: readonly SeqRun[];

  /**
   * @param place where the read stood when it learned of the move, epoch milliseconds: no entry that is left lies before it,
   *   while its frame may, which holds others
   * @param given in order of `seq`
   */
  constructor(order: Order, feed: ColdFeed, place: number, given: readonly SeqRun[]) {
    this.#feed = feed;
    this.#sign = direction(order);
    this.#place = place;
    this.#given = given;
  }

  get cost(): number {
    return this.#feed.cost;
  }

  bound(): number | null {
    const bound = this.#feed.bound();
    return bound === null || this.#sign * (bound - this.#place) >= 0 ? bound : this.#place;
  }

  async take(): Promise<ScanItem> {
    const item = await this.#feed.take();
    if (this.#given.length === 0) return item;
    return {
      ...item,
      isWhole: false,
      open: async () => {
        const unit = await item.open();
        return unit && withoutGiven(unit, this.#given);
      },
    };
  }
}

function withoutGiven(unit: LineSource, given: readonly SeqRun[]): LineSource {
  // Entries are mostly asked for in order, so the run found last is mostly the one.
  let at = 0;
  const isGiven = (seq: number) => {
    if (seq < (given[at]?.first ?? 0)) at = 0;
    while (at < given.length - 1 && seq > (given[at]?.last ?? 0)) at++;
    const run = given[at];
    return run !== undefined && run.first <= seq && seq <= run.last;
  };
  return {
    projectId: unit.projectId,
    pieces: () => unit.pieces(),
    seqAt: (index) => unit.seqAt(index),
    receivedAtOf: (index) => unit.receivedAtOf(index),
    isVisible: (index) => unit.isVisible(index) && !isGiven(unit.seqAt(index)),
    close: () => unit.close?.(),
  };
}
