import { type LabelSet, labelKey } from "./labels.ts";
import type { Series } from "./series.ts";
import type { RangeAggregation, RangeFunction } from "./syntax.ts";

/** Instants at which a metric is evaluated, epoch milliseconds. */
export interface Steps {
  first: number;
  /** Milliseconds between two; with one instant any number above 0. */
  step: number;
  count: number;
}

/** Position among entries of the same time. */
export interface SampleOrder {
  timestamp: number;
  seq: number;
}

/** Approximate bytes of a series without its values, and of a value of a quantile. */
const SERIES_BYTES = 400;
const NUMBER_BYTES = 8;

interface State {
  labels: LabelSet;
  /** Counts, or with differences what each step adds to the one before. */
  counts: Float64Array;
  values: Float64Array;
  /** Time and `seq` of the sample that `first_over_time` or `last_over_time` keeps. */
  times: Float64Array | null;
  seqs: Float64Array | null;
  lists: number[][] | null;
}

const ADDED: ReadonlySet<RangeFunction> = new Set<RangeFunction>([
  ...(["rate", "count_over_time", "bytes_rate", "bytes_over_time"] as const),
]);

/**
 * The windows of a range aggregation: at each instant `t` the samples with `t - range < time <= t`. Samples may be added in
 * any order.
 */
export class RangeWindows {
  readonly #fn: RangeFunction;
  readonly #parameter: number;
  readonly #range: number;
  readonly #steps: Steps;
  /** Whether steps hold differences, so that a sample costs the same however many windows it is in. Exact for whole numbers. */
  readonly #isDifference: boolean;
  readonly #states = new Map<string, State>();
  /** Approximate bytes. */
  bytes = 0;

  constructor({ fn, parameter, range, offset, unwrap }: RangeAggregation, steps: Steps) {
    this.#fn = fn;
    this.#parameter = parameter ?? 0;
    this.#range = range / 1e6;
    this.#steps = { ...steps, first: steps.first - offset / 1e6 };
    this.#isDifference = ADDED.has(fn) && unwrap === null;
  }

  /** Times of samples that a window contains: `from <= time < to`, epoch milliseconds. */
  get span(): { from: number; to: number } {
    const { first, step, count } = this.#steps;
    return { from: first - this.#range + 1, to: first + (count - 1) * step + 1 };
  }

  get seriesCount(): number {
    return this.#states.size;
  }

  /** @returns the number of windows that contain the sample */
  add(labels: LabelSet, value: number, order: SampleOrder): number {
    const placed = this.#windowsOf(order.timestamp);
    if (placed === null) return 0;
    const { from, to } = placed;
    const state = this.#stateOf(labels);
    if (this.#isDifference) {
      this.#addAt(state, from, 1, value);
      this.#addAt(state, to + 1, -1, -value);
      return 1;
    }
    for (let at = from; at <= to; at++) this.#addSample(state, at, value, order);
    return to - from + 1;
  }

  /**
   * Adds samples of `rate` or `count_over_time`.
   * @param timestamp of one of them; all are in the same windows
   */
  addCount(labels: LabelSet, timestamp: number, count: number): void {
    const placed = this.#windowsOf(timestamp);
    if (placed === null) return;
    const state = this.#stateOf(labels);
    this.#addAt(state, placed.from, count, count);
    this.#addAt(state, placed.to + 1, -count, -count);
  }

  /** Returns the first and the last window that contain a time; `null` if none does. */
  #windowsOf(timestamp: number): { from: number; to: number } | null {
    const { first, step, count } = this.#steps;
    const behind = timestamp - first;
    const from = Math.max(0, Math.ceil(behind / step));
    const to = Math.min(count - 1, Math.ceil((behind + this.#range) / step) - 1);
    return from > to ? null : { from, to };
  }

  #stateOf(labels: LabelSet): State {
    const key = labelKey(labels);
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const size = this.#steps.count + 1;
    const isOrdered = this.#fn === "first_over_time" || this.#fn === "last_over_time";
    const made: State = {
      labels,
      counts: new Float64Array(size),
      values: new Float64Array(size),
      times: isOrdered ? new Float64Array(size) : null,
      seqs: isOrdered ? new Float64Array(size) : null,
      lists: this.#fn === "quantile_over_time" ? Array.from({ length: size }, () => []) : null,
    };
    this.#states.set(key, made);
    this.bytes += SERIES_BYTES + 2 * key.length + size * NUMBER_BYTES * (isOrdered || made.lists !== null ? 4 : 2);
    return made;
  }

  #addAt({ counts, values }: State, at: number, count: number, value: number): void {
    counts[at] = (counts[at] ?? 0) + count;
    values[at] = (values[at] ?? 0) + value;
  }

  #addSample(state: State, at: number, value: number, order: SampleOrder): void {
    const { counts, values, lists } = state;
    const count = (counts[at] ?? 0) + 1;
    counts[at] = count;
    const before = values[at] ?? 0;
    switch (this.#fn) {
      case "avg_over_time":
        values[at] = count === 1 ? value : before + (value / count - before / count);
        return;
      case "min_over_time":
        if (count === 1 || value < before || Number.isNaN(before)) values[at] = value;
        return;
      case "max_over_time":
        if (count === 1 || value > before || Number.isNaN(before)) values[at] = value;
        return;
      case "first_over_time":
      case "last_over_time":
        this.#keep(state, at, value, order, count === 1);
        return;
      case "quantile_over_time":
        lists?.[at]?.push(value);
        this.bytes += NUMBER_BYTES;
        return;
      default:
        values[at] = before + value;
    }
  }

  #keep(
    { values, times, seqs }: State,
    at: number,
    value: number,
    { timestamp, seq }: SampleOrder,
    isOnly: boolean,
  ): void {
    if (times === null || seqs === null) return;
    const behind = timestamp - (times[at] ?? 0) || seq - (seqs[at] ?? 0);
    if (!isOnly && (this.#fn === "first_over_time" ? behind > 0 : behind < 0)) return;
    values[at] = value;
    times[at] = timestamp;
    seqs[at] = seq;
  }

  /** Returns the series, in the order of their labels. */
  finish(absentLabels: LabelSet): Series[] {
    const { count } = this.#steps;
    if (this.#fn === "absent_over_time") return [this.#absent(absentLabels)].filter(({ has }) => has.includes(1));
    const keys = [...this.#states.keys()].sort();
    return keys.flatMap((key) => {
      const state = this.#states.get(key);
      if (state === undefined) return [];
      const { labels, counts, values, lists } = state;
      const series = { labels, values: new Float64Array(count), has: new Uint8Array(count) };
      let [entries, sum] = [0, 0];
      for (let at = 0; at < count; at++) {
        entries = (this.#isDifference ? entries : 0) + (counts[at] ?? 0);
        sum = (this.#isDifference ? sum : 0) + (values[at] ?? 0);
        if (entries === 0) continue;
        series.has[at] = 1;
        series.values[at] = this.#valueOf(entries, sum, lists?.[at] ?? []);
      }
      return [series];
    });
  }

  #valueOf(entries: number, value: number, list: number[]): number {
    const seconds = this.#range / 1000;
    switch (this.#fn) {
      case "count_over_time":
        return entries;
      case "rate":
        return (this.#isDifference ? entries : value) / seconds;
      case "bytes_rate":
        return value / seconds;
      case "quantile_over_time":
        return quantileOf(list, this.#parameter);
      default:
        return value;
    }
  }

  #absent(labels: LabelSet): Series {
    const { count } = this.#steps;
    const series = { labels, values: new Float64Array(count).fill(1), has: new Uint8Array(count).fill(1) };
    for (const { counts } of this.#states.values()) {
      for (let at = 0; at < count; at++) if (counts[at] !== 0) series.has[at] = 0;
    }
    return series;
  }
}

/** Returns a quantile of numbers, between the two next to it in proportion. */
export function quantileOf(numbers: readonly number[], quantile: number): number {
  if (numbers.length === 0) return Number.NaN;
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  // NaN comes first.
  const sorted = Float64Array.from(numbers).sort((a, b) => (Number.isNaN(a) ? -1 : Number.isNaN(b) ? 1 : a - b));
  const rank = quantile * (sorted.length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(sorted.length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return (sorted[lower] ?? 0) * (1 - weight) + (sorted[upper] ?? 0) * weight;
}
