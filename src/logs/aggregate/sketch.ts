import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { HeldBytes } from "./by-group.ts";

/** Stated relative error of a percentile from a sketch. */
export const SKETCH_ERROR = 0.01;

const GAMMA = (1 + SKETCH_ERROR) / (1 - SKETCH_ERROR);
const LOG_GAMMA = Math.log(GAMMA);
/** A bucket's representative divided by its lower bound. */
const MIDDLE = (2 * GAMMA) / (1 + GAMMA);
/** Buckets from the first to the last one for which each has a place: those of durations lie close together. */
const MAX_SPAN = 2048;
/** Places of the first buckets. */
const FIRST_SPAN = 32;
/** Bytes of an array beside its elements, and of a bucket in a map. */
const ARRAY_BYTES = 150;
const ENTRY_BYTES = 40;
/** Largest count of a place until places become larger. */
const MAX_SMALL = 0xffff;
/** Integers whose buckets are in a table. */
const KNOWN_INTEGERS = 4096;
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
 * sketches merge exactly. All doubles together have 146,000 buckets. Those of 1,000 durations take 1 KB.
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

/** Returns the bucket of a positive number. */
export function bucketOf(size: number): number {
  const isKnown = size < KNOWN_INTEGERS && (size | 0) === size;
  return isKnown ? (integerBuckets[size] ?? 0) : bucketByLogarithm(size);
}

function bucketByLogarithm(size: number): number {
  return Math.ceil(Math.log(size) / LOG_GAMMA);
}

/** Buckets of the integers from 0 on, of which durations and sizes are. The value of 0 is not used. */
const integerBuckets = Int16Array.from({ length: KNOWN_INTEGERS }, (_, size) => bucketByLogarithm(Math.max(1, size)));

/** Returns the number whose relative distance to both bounds of the bucket is the same. */
export function middleOf(bucket: number): number {
  return Math.min(GAMMA ** (bucket - 1) * MIDDLE, Number.MAX_VALUE);
}

/** Counts by bucket: in one array while all buckets lie close together, in a map if they do not. */
class Buckets {
  readonly #held: HeldBytes;
  /** Counts from the bucket `#first` on. */
  #counts: Uint16Array | Float64Array = new Uint16Array(0);
  #first = 0;
  #far: Map<number, number> | null = null;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  add(bucket: number, count: number): void {
    const at = bucket - this.#first;
    if (this.#far !== null) this.#addFar(this.#far, bucket, count);
    else if (at >= 0 && at < this.#counts.length) this.#addAt(at, count);
    else this.#addOutside(bucket, count);
  }

  merge({ buckets, counts }: SketchState["positive"]): void {
    for (const [at, bucket] of buckets.entries()) this.add(bucket, counts[at] ?? 0);
  }

  state(): SketchState["positive"] {
    const filled = this.rising();
    return {
      buckets: Int32Array.from(filled, ([bucket]) => bucket),
      counts: Float64Array.from(filled, ([, count]) => count),
    };
  }

  rising(): [bucket: number, count: number][] {
    if (this.#far !== null) return [...this.#far].sort(([a], [b]) => a - b);
    const filled: [number, number][] = [];
    for (const [at, count] of this.#counts.entries()) if (count > 0) filled.push([this.#first + at, count]);
    return filled;
  }

  falling(): [bucket: number, count: number][] {
    return this.rising().reverse();
  }

  #addAt(at: number, count: number): void {
    const sum = (this.#counts[at] ?? 0) + count;
    if (sum > MAX_SMALL && this.#counts instanceof Uint16Array) this.#replace(Float64Array.from(this.#counts));
    this.#counts[at] = sum;
  }

  #addFar(far: Map<number, number>, bucket: number, count: number): void {
    const known = far.get(bucket);
    if (known === undefined) this.#held.add(ENTRY_BYTES);
    far.set(bucket, (known ?? 0) + count);
  }

  /** Adds to a bucket without a place. */
  #addOutside(bucket: number, count: number): void {
    const { length } = this.#counts;
    const [low, high] = length === 0 ? [bucket, bucket] : [this.#first, this.#first + length - 1];
    const [first, last] = [Math.min(low, bucket), Math.max(high, bucket)];
    if (last - first >= MAX_SPAN) {
      const far = new Map<number, number>();
      for (const [own, times] of this.rising()) this.#addFar(far, own, times);
      this.#replace(new Uint16Array(0));
      this.#far = far;
      this.#addFar(far, bucket, count);
      return;
    }
    // At least twice as many places, half of them to each side of a first bucket, so that few arrays are made.
    const span = Math.max(FIRST_SPAN, Math.min(2 * length, MAX_SPAN), last - first + 1);
    const from = length === 0 ? first - FIRST_SPAN / 2 : bucket < low ? last - span + 1 : first;
    const grown = this.#counts instanceof Uint16Array ? new Uint16Array(span) : new Float64Array(span);
    grown.set(this.#counts, length === 0 ? 0 : low - from);
    this.#first = from;
    this.#replace(grown);
    this.#addAt(bucket - from, count);
  }

  #replace(counts: Uint16Array | Float64Array): void {
    const bytesOf = ({ byteLength }: Uint16Array | Float64Array) => (byteLength === 0 ? 0 : byteLength + ARRAY_BYTES);
    this.#held.add(bytesOf(counts) - bytesOf(this.#counts));
    detachBuffer(this.#counts);
    this.#counts = counts;
  }
}
