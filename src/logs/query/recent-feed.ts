import type { RecentBatch } from "../batch.ts";
import {
  boundOf,
  itemOfBatch,
  type Move,
  nothingAt,
  type Order,
  ReturnedSeqs,
  type ScanFeed,
  type ScanItem,
  type SeqRun,
  Watermarks,
} from "./feed.ts";

/** Selects batches by their metadata columns. The router filters the entries. */
export interface RecentScan {
  /** Commit number of the snapshot. `null` pins the newest commit. */
  asOf: number | null;
  /** Epoch milliseconds. Selects batches that may hold an entry with `from <= timestamp < to`. `null`: unbounded. */
  from: number | null;
  to: number | null;
  /** Excludes batches that share no bit with a mask; see `levelBit` and `categoryBit`. */
  levelMask: number;
  categoryMask: number;
  /** Excludes batches whose filter lacks one of these ids; see `idHashesOf`. Routers of an older version send none. */
  ids?: readonly number[];
  /** `desc`: by largest timestamp, falling. `asc`: by smallest timestamp, rising. Ties by commit, the same way. */
  order: Order;
  /** First batch of this page, as in `next` of the page before; `null` from the beginning. */
  position: ScanPosition | null;
  /**
   * Whether the router reads moved entries in the cold tier, so that the object need not delay a flush for this read.
   * Routers of an older version start again instead and do not send this member.
   */
  followsMoves?: boolean;
  /** Maximum bytes of bodies on a page, as stored. A page has at least one batch, even if that alone is larger. */
  maxBytes: number;
}

/** A position in the order of batches. `timestamp` is the batch's largest (`desc`) or smallest (`asc`). */
export interface ScanPosition {
  timestamp: number;
  commit: number;
}

/** The progress of a project in each tier. */
export interface ProjectProgress {
  projectId: string;
  /** The watermark: the last `seq` in the cold tier, or 0. */
  seq: number;
  /**
   * The last `seq` of the snapshot; 0 if it has no entries. Absent if the snapshot is not the newest one, or if an
   * object of an older version answers.
   */
  lastSeq?: number;
}

/** One page of selected batches with their whole bodies. */
export interface RecentPage {
  /** The pinned commit; equal to the scan's `asOf` if that is not `null`. */
  asOf: number;
  /** The newest commit. An `asOf` above it is in the future; such a page has no batches. */
  lastCommit: number;
  /** Scope of the search: a project's id, or the workspace's id for all projects. A cursor is bound to it. */
  scope: string;
  /** Progress of each project searched. */
  flushed: ProjectProgress[];
  /**
   * Retention cutoff, epoch milliseconds, a full minute. Entries with an earlier timestamp have expired, in either
   * tier.
   */
  oldest: number;
  batches: RecentBatch[];
  /** The first selected batch after this page; `null` if there is none. */
  next: ScanPosition | null;
}

/** Requests one page of batches from the workspace object. */
export type RecentSource = (scan: RecentScan) => Promise<RecentPage>;

/**
 * Bytes as stored of the first page: most queries need few batches. Each further page requests more, up to the object's
 * own limit. A query for a single id needs all batches, and starts with that limit.
 */
const FIRST_PAGE_BYTES = 512 * 1024;
const WHOLE_PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_GROWTH = 4;
/** Work units of a page on which the id filters leave no batch: 5 ms. */
const FILTERED_PAGE_COST = 4 * 1024 * 1024;

/** A range that went to the cold tier between two pages, with the ranges that the read received of it before. */
export interface FollowedMove extends Move {
  received: SeqRun[];
  /** Bound of the read at the move, epoch milliseconds. No entry that the read has not received comes before it. */
  bound: number;
}

/** Recent batches as scan items. */
export class RecentFeed implements ScanFeed {
  /** The page that pinned the snapshot. Its state of the tiers holds for the whole query. */
  readonly first: RecentPage;
  readonly #source: RecentSource;
  readonly #scan: RecentScan;
  #page: RecentPage;
  #at = 0;
  #maxBytes: number;
  #cost = 0;
  readonly #watermarks: Watermarks;
  readonly #received = new ReturnedSeqs();
  #moves: FollowedMove[] = [];

  /** Reads the first page, which pins the snapshot. */
  static async open(
    source: RecentSource,
    scan: Omit<RecentScan, "position" | "maxBytes">,
    isForOneId = false,
  ): Promise<RecentFeed> {
    const first = {
      ...scan,
      followsMoves: true,
      position: null,
      maxBytes: isForOneId ? WHOLE_PAGE_BYTES : FIRST_PAGE_BYTES,
    };
    const page = await source(first);
    return new RecentFeed(source, { ...first, asOf: page.asOf }, page);
  }

  private constructor(source: RecentSource, scan: RecentScan, page: RecentPage) {
    this.#source = source;
    this.#scan = scan;
    this.#maxBytes = scan.maxBytes;
    this.first = page;
    this.#watermarks = new Watermarks(page.flushed);
    this.#page = page;
    this.#take(page);
  }

  /** The object finds batches by columns in its memory. Only id filters have to be read. */
  get cost(): number {
    return this.#cost;
  }

  bound(): number | null {
    const batch = this.#page.batches[this.#at];
    return batch ? boundOf(this.#scan.order, batch) : (this.#page.next?.timestamp ?? null);
  }

  /**
   * Returns the moves since the last call. The caller must read their entries, except those already received, in the
   * cold tier.
   */
  takeMoves(): FollowedMove[] {
    const moves = this.#moves;
    this.#moves = [];
    return moves;
  }

  async take(): Promise<ScanItem> {
    for (;;) {
      const batch = this.#page.batches[this.#at];
      if (batch) {
        this.#at++;
        return itemOfBatch(batch);
      }
      const position = this.#page.next;
      if (position === null) throw new RangeError("There is no further batch.");
      this.#maxBytes = Math.min(this.#maxBytes * PAGE_GROWTH, WHOLE_PAGE_BYTES);
      this.#page = await this.#source({ ...this.#scan, position, maxBytes: this.#maxBytes });
      this.#at = 0;
      for (const move of this.#watermarks.follow(this.#page.flushed)) {
        this.#moves.push({ ...move, received: this.#received.take(move), bound: position.timestamp });
      }
      this.#take(this.#page);
      if (this.#page.batches.length > 0) continue;
      // All remaining batches were moved or deleted since the last page, or the id filters excluded all that were
      // examined.
      if (this.#page.next !== null) this.#cost += FILTERED_PAGE_COST;
      return nothingAt("recent", position.timestamp);
    }
  }

  #take({ batches }: RecentPage): void {
    for (const { projectId, firstSeq, count } of batches) this.#received.add(projectId, firstSeq, firstSeq + count - 1);
  }
}
