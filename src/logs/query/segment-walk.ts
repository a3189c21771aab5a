import type { SegmentPage, SegmentPosition, SegmentSelection } from "../cold/selection.ts";

/** Which segments a walk gives, from the first one on. */
export type PagerSelection = Omit<SegmentSelection, "after" | "limit" | "maxScanned">;

export type ReadSegments<S> = (selection: SegmentSelection) => Promise<SegmentPage<S>>;

/** What an answer costs, and to look at a segment with and without tests of its filter, in units of work. */
const ANSWER_COST = 1_500_000;
const TESTED_COST = 19_000;
const UNTESTED_COST = 6_300;

/** Segments that one statement looks at, at most: each takes up to a tenth of a second. */
const TESTED_MOST = 4096;
const UNTESTED_MOST = 16_384;

/** How many are looked at next, as a multiple of the last time: where most are wanted, and where few are. */
const DENSE_GROWTH = 2;
const SPARSE_GROWTH = 4;

/**
 * Goes through the segments of a selection, some at a time. What is left out costs, too: filters may leave nearly none of
 * a hundred thousand, so each statement looks at so many at most, and what has been looked at counts.
 */
export class SegmentPager<S extends SegmentPosition> {
  readonly #read: ReadSegments<S>;
  readonly #selection: PagerSelection;
  readonly #limit: number;
  #maxScanned: number;
  #next: SegmentPosition | null = null;
  #isDone: boolean;
  #cost = 0;

  /**
   * @param limit segments that one answer may hold
   * @param first segments that the first answer looks at
   * @param after behind this segment; null from the first one on
   */
  constructor(
    read: ReadSegments<S>,
    selection: PagerSelection,
    limit: number,
    first: number,
    after: SegmentPosition | null = null,
  ) {
    this.#read = read;
    this.#selection = selection;
    this.#limit = limit;
    this.#maxScanned = first;
    this.#next = after;
    this.#isDone = selection.projects.size === 0;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** What has been walked so far, in units of work. */
  get cost(): number {
    return this.#cost;
  }

  /** Everything still to come lies behind this segment; null where that is all, and at the end. */
  get place(): SegmentPosition | null {
    return this.#next;
  }

  /** The next segments wanted: none are no end. */
  async page(): Promise<S[]> {
    const maxScanned = this.#maxScanned;
    const page = await this.#read({ ...this.#selection, after: this.#next, limit: this.#limit, maxScanned });
    const found = page.segments.length;
    const isTested = this.#selection.tests.length > 0;
    this.#cost += ANSWER_COST + maxScanned * (isTested ? TESTED_COST : UNTESTED_COST);
    this.#next = page.next;
    this.#isDone = page.next === null;
    if (found * DENSE_GROWTH >= maxScanned) this.#maxScanned = Math.min(maxScanned * DENSE_GROWTH, this.#limit);
    else this.#maxScanned = Math.min(maxScanned * SPARSE_GROWTH, isTested ? TESTED_MOST : UNTESTED_MOST);
    return page.segments;
  }
}
