import type { HeldBytes } from "./by-group.ts";

/** Stated relative error of a percentile from a sketch. */
export const SKETCH_ERROR = 0.01;

const GAMMA = (1 + SKETCH_ERROR) / (1 - SKETCH_ERROR);
const LOG_GAMMA = Math.log(GAMMA);
/** A bucket's representative divided by its lower bound. */
const MIDDLE = (2 * GAMMA) / (1 + GAMMA);
/** Buckets of a page. The buckets of durations lie close together, those of hostile numbers anywhere. */
const PAGE_BITS = 5;
const PAGE_BUCKETS = 1 << PAGE_BITS;
/** Bytes of a page with its entry in a map. */
const PAGE_BYTES = PAGE_BUCKETS * 8 + 120;
/** Bytes of a sketch without its pages. */
const SKETCH_BYTES = 300;

/** A serialized sketch: values that are zero, and counts by bucket of positive and of negative values. */
export interface SketchState {
  zeros: number;
  positive: { buckets: Int32Array; counts: Float64Array };
  negative: { buckets: Int32Array; counts: Float64Array };
}

/**
 * Counts of numbers by buckets whose bounds grow by 2 % (DDSketch, arXiv 1908.10693, without collapsing). A percentile
 * is within 1 % of the value with that rank, for values of at least 2 ** -1022. Buckets depend on the values alone, so
 * sketches merge exactly. All doubles together have 146,000 buckets; a page of 32 takes memory if one of it is in use.
 */
export class Sketch {
  /** Work units of reading or merging a sketch: sorting its pages. */
  static readonly readWork = 20_000;
  #zeros = 0;
  readonly #positive: Buckets;
  readonly #negative: Buckets;

  constructor(held: HeldBytes) {
    held.add(SKETCH_BYTES);
    this.#positive = new Buckets(held);
    this.#negative = new Buckets(held);
  }

  /**
   * @param value finite
   * @param times how often it is added
   */
  add(value: number, times = 1): void {
    if (value > 0) this.#positive.add(bucketOf(value), times);
    else if (value < 0) this.#negative.add(bucketOf(-value), times);
    else this.#zeros += times;
  }

  merge({ zeros, positive, negative }: SketchState): void {
    this.#zeros += zeros;
    this.#positive.merge(positive);
    this.#negative.merge(negative);
  }

  state(): SketchState {
    return { zeros: this.#zeros, positive: this.#positive.state(), negative: this.#negative.state() };
  }

  /** Returns approximately the value with a rank. @param rank 1 to the number of values */
  valueAt(rank: number): number {
    let left = rank;
    for (const [bucket, count] of this.#negative.falling()) {
      left -= count;
      if (left <= 0) return -middleOf(bucket);
    }
    left -= this.#zeros;
    if (left <= 0) return 0;
    for (const [bucket, count] of this.#positive.rising()) {
      left -= count;
      if (left <= 0) return middleOf(bucket);
    }
    throw new RangeError("The sketch has fewer values.");
  }
}

/** Returns what a sketch would return for a value. */
export function sketched(value: number): number {
  if (value === 0) return 0;
  return value > 0 ? middleOf(bucketOf(value)) : -middleOf(bucketOf(-value));
}

function bucketOf(size: number): number {
  return Math.ceil(Math.log(size) / LOG_GAMMA);
}

/** Returns the number whose relative distance to both bounds of the bucket is the same. */
function middleOf(bucket: number): number {
  return Math.min(GAMMA ** (bucket - 1) * MIDDLE, Number.MAX_VALUE);
}

class Buckets {
  readonly #held: HeldBytes;
  readonly #pages = new Map<number, Float64Array>();

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  add(bucket: number, count: number): void {
    const number = bucket >> PAGE_BITS;
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = new Float64Array(PAGE_BUCKETS);
      this.#pages.set(number, page);
      this.#held.add(PAGE_BYTES);
    }
    const at = bucket & (PAGE_BUCKETS - 1);
    page[at] = (page[at] ?? 0) + count;
  }

  merge({ buckets, counts }: SketchState["positive"]): void {
    for (const [at, bucket] of buckets.entries()) this.add(bucket, counts[at] ?? 0);
  }

  state(): SketchState["positive"] {
    const filled = [...this.rising()];
    return {
      buckets: Int32Array.from(filled, ([bucket]) => bucket),
      counts: Float64Array.from(filled, ([, count]) => count),
    };
  }

  *rising(): Generator<[bucket: number, count: number]> {
    for (const number of this.#pagesInOrder()) yield* filledOf(number, this.#pages.get(number));
  }

  *falling(): Generator<[bucket: number, count: number]> {
    for (const number of this.#pagesInOrder().reverse()) {
      yield* [...filledOf(number, this.#pages.get(number))].reverse();
    }
  }

  #pagesInOrder(): number[] {
    return [...this.#pages.keys()].sort((a, b) => a - b);
  }
}

function* filledOf(number: number, page: Float64Array | undefined): Generator<[bucket: number, count: number]> {
  for (const [at, count] of page?.entries() ?? []) {
    if (count > 0) yield [(number << PAGE_BITS) + at, count];
  }
}
