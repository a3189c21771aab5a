import { boundOf, itemOfBatch, nothingAt, type ScanFeed, type ScanItem } from "./feed.ts";
import { type Move, ReturnedSeqs, type SeqRun, Watermarks } from "./moves.ts";
import type { RecentPage, RecentScan } from "./recent-scan.ts";

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
