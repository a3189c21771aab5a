import type { StoredBatch } from "../batch.ts";
import type { RecentPage, RecentScan } from "./recent-scan.ts";
import type { Order } from "./row-order.ts";

/** Asks the workspace object for one page of candidate batches. */
export type RecentSource = (scan: RecentScan) => Promise<RecentPage>;

/**
 * Batches in scan order: by largest timestamp, falling (`desc`), or by smallest, rising (`asc`). Whatever tier they come
 * from, that is all the scan needs to know when to stop.
 */
export interface BatchFeed {
  /** The next batch's place in that order, epoch milliseconds: no entry still to come lies before it. Null: no more. */
  bound(): number | null;
  take(): Promise<StoredBatch>;
}

/**
 * Bytes as stored of the first page asked for. Each further page asks for twice as much, until the object's own bound
 * cuts it short: most queries need few batches.
 */
const FIRST_PAGE_BYTES = 512 * 1024;

/** The batches that the workspace object holds. */
export class RecentFeed implements BatchFeed {
  readonly #source: RecentSource;
  readonly #scan: RecentScan;
  #page: RecentPage;
  #at = 0;
  #maxBytes = FIRST_PAGE_BYTES;

  /** Reads the first page, which pins the snapshot. */
  static async open(source: RecentSource, scan: Omit<RecentScan, "position" | "maxBytes">): Promise<RecentFeed> {
    const page = await source({ ...scan, position: null, maxBytes: FIRST_PAGE_BYTES });
    return new RecentFeed(source, { ...scan, asOf: page.asOf, position: null, maxBytes: FIRST_PAGE_BYTES }, page);
  }

  private constructor(source: RecentSource, scan: RecentScan, page: RecentPage) {
    this.#source = source;
    this.#scan = scan;
    this.#page = page;
  }

  get asOf(): number {
    return this.#page.asOf;
  }

  get lastCommit(): number {
    return this.#page.lastCommit;
  }

  get scope(): string {
    return this.#page.scope;
  }

  bound(): number | null {
    const batch = this.#page.batches[this.#at];
    return batch ? boundOf(this.#scan.order, batch) : (this.#page.next?.timestamp ?? null);
  }

  async take(): Promise<StoredBatch> {
    for (;;) {
      const batch = this.#page.batches[this.#at];
      if (batch) {
        this.#at++;
        return batch;
      }
      const position = this.#page.next;
      if (position === null) throw new RangeError("There is no further batch.");
      this.#maxBytes *= 2;
      this.#page = await this.#source({ ...this.#scan, position, maxBytes: this.#maxBytes });
      this.#at = 0;
    }
  }
}

/** A batch's place in the scan order: no entry of it comes before. */
export function boundOf(order: Order, batch: StoredBatch): number {
  return order === "desc" ? batch.maxTimestamp : batch.minTimestamp;
}
