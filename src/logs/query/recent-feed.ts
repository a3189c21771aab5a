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

/** Which batches a query may need, told by their summary columns alone. The router filters entries. */
export interface RecentScan {
  /** Last commit that counts; null pins the newest one now. */
  asOf: number | null;
  /** Epoch milliseconds: only batches that may hold an entry with `from <= timestamp < to`. Null: open. */
  from: number | null;
  to: number | null;
  /** Batches that share no bit with a mask are left out; see `levelBit` and `categoryBit`. */
  levelMask: number;
  categoryMask: number;
  /** Batches whose filter lacks one of these ids are left out; see `idHashesOf`. Routers of an older version ask for none. */
  ids?: readonly number[];
  /** `desc`: by largest timestamp, falling. `asc`: by smallest timestamp, rising. Ties by commit, the same way. */
  order: Order;
  /** First batch of this page, as `next` of the page before named it; null begins at the beginning. */
  position: ScanPosition | null;
  /**
   * The router reads what moves to the cold tier meanwhile there, so the object holds no flush up for this read. Routers of
   * an older version begin again instead, and leave this out.
   */
  followsMoves?: boolean;
  /** Bodies of one page, in bytes as stored. At least one batch is given even if it alone is larger. */
  maxBytes: number;
}

/** A place in the batch order. `timestamp` is the batch's largest (`desc`) or smallest (`asc`). */
export interface ScanPosition {
  timestamp: number;
  commit: number;
}

/** How far a project is in each tier. */
export interface ProjectProgress {
  projectId: string;
  /** The last `seq` that is in the cold tier; 0 while none is. */
  seq: number;
  /**
   * The last `seq` of the snapshot; 0 while it has no entries. Absent where the snapshot is not the newest one, and in answers of
   * objects of an older version.
   */
  lastSeq?: number;
}

/** One turn's worth of candidate batches, bodies whole. */
export interface RecentPage {
  /** The commit pinned; equal to the scan's `asOf` where it named one. */
  asOf: number;
  /** Newest commit there is: an `asOf` above it is from the future, and such a page has no batches. */
  lastCommit: number;
  /** What was searched: a project's id, or the workspace's for all of it. A cursor is bound to it. */
  scope: string;
  /** Of each project searched, how far it is. */
  flushed: ProjectProgress[];
  /** Entries with an earlier timestamp are past the retention, wherever they still lie: epoch milliseconds, a full minute. */
  oldest: number;
  batches: RecentBatch[];
  /** The first candidate that did not fit into this page; null when there is none. */
  next: ScanPosition | null;
}

/** Asks the workspace object for one page of candidate batches. */
export type RecentSource = (scan: RecentScan) => Promise<RecentPage>;

/**
 * Bytes as stored of the first page asked for: most queries need few batches. Each further page asks for more, until the
 * object's own bound cuts it short. What looks for a single id needs all there are, and begins with that much.
 */
const FIRST_PAGE_BYTES = 512 * 1024;
const WHOLE_PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_GROWTH = 4;
/** What a page of filters costs that lets no batch through, in bytes of a plain scan: 5 ms. */
const FILTERED_PAGE_COST = 4 * 1024 * 1024;

/** What went to the cold tier between two pages, with what the read had been given of it before. */
export interface FollowedMove extends Move {
  given: SeqRun[];
  /** Where the read stood then, epoch milliseconds: no entry that it was not given lies before it. */
  place: number;
}

/** The batches that the workspace object holds. */
export class RecentFeed implements ScanFeed {
  /** The page that pinned the snapshot: what it says of the tiers holds for the whole query. */
  readonly first: RecentPage;
  readonly #source: RecentSource;
  readonly #scan: RecentScan;
  #page: RecentPage;
  #at = 0;
  #maxBytes: number;
  #cost = 0;
  readonly #watermarks: Watermarks;
  readonly #given = new ReturnedSeqs();
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

  /** The object finds batches by columns in its memory; only filters of ids have to be read. */
  get cost(): number {
    return this.#cost;
  }

  bound(): number | null {
    const batch = this.#page.batches[this.#at];
    return batch ? boundOf(this.#scan.order, batch) : (this.#page.next?.timestamp ?? null);
  }

  /** What has moved since the last call. The read is exact if its entries but those given are read in the cold tier. */
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
        this.#moves.push({ ...move, given: this.#given.take(move), place: position.timestamp });
      }
      this.#take(this.#page);
      if (this.#page.batches.length > 0) continue;
      // What was left has moved or ended since the last page, as its project was deleted or its time is over; or the
      // filters of those asked let none through, and there are further ones.
      if (this.#page.next !== null) this.#cost += FILTERED_PAGE_COST;
      return nothingAt("recent", position.timestamp);
    }
  }

  #take({ batches }: RecentPage): void {
    for (const { projectId, firstSeq, count } of batches) this.#given.add(projectId, firstSeq, firstSeq + count - 1);
  }
}
