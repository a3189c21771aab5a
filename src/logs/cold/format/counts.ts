import { ByteReader, ByteWriter } from "../../../platform/varint.ts";
import { categoryBit, LEVELS } from "../../entry.ts";
import { SUMMARY_BUCKET_MS, type SummaryBuilder } from "../../summary.ts";

/** A category with a type. */
export interface TypePair {
  category: string;
  type: string;
  categoryBit: number;
  /** Counts by severity that `Tally` has not passed on yet. */
  counts: number[];
}

/** The pairs of a segment. Each pair is one object, found by its names. */
export class TypePairs {
  readonly #pairs = new Map<string, Map<string, TypePair>>();

  of(category: string, type: string): TypePair {
    let types = this.#pairs.get(category);
    if (types === undefined) {
      types = new Map();
      this.#pairs.set(category, types);
    }
    let pair = types.get(type);
    if (pair === undefined) {
      pair = { category, type, categoryBit: categoryBit(category), counts: LEVELS.map(() => 0) };
      types.set(type, pair);
    }
    return pair;
  }
}

/** Number of entries of a minute and level. */
export interface LevelCount {
  /** Minutes since the epoch. */
  minute: number;
  /** Severity, 0..6. */
  level: number;
  count: number;
}

/** Counts by minute and level. They suffice for most histograms, in a fraction of a summary's bytes. */
export class LevelCounter {
  readonly #minutes = new Map<number, number[]>();

  add(timestamp: number, level: number, count = 1): void {
    const minute = Math.floor(timestamp / SUMMARY_BUCKET_MS);
    let counts = this.#minutes.get(minute);
    if (counts === undefined) {
      counts = LEVELS.map(() => 0);
      this.#minutes.set(minute, counts);
    }
    counts[level] = (counts[level] ?? 0) + count;
  }

  /**
   * Packed form, LEB128 for each minute in order: minutes since the one before, level mask, a count for each level in
   * it.
   */
  pack(): Uint8Array {
    const writer = new ByteWriter();
    let previous = 0;
    for (const [minute, counts] of [...this.#minutes].sort(([a], [b]) => a - b)) {
      writer.varint(minute - previous);
      writer.varint(counts.reduce((mask, count, level) => (count > 0 ? mask | (1 << level) : mask), 0));
      for (const count of counts) if (count > 0) writer.varint(count);
      previous = minute;
    }
    return writer.finish();
  }
}

/** @throws RangeError if the bytes are incomplete */
export function readLevelCounts(packed: Uint8Array): LevelCount[] {
  const counts: LevelCount[] = [];
  const reader = new ByteReader(packed);
  let minute = 0;
  while (!reader.done) {
    minute += reader.varint();
    const mask = reader.varint();
    for (let level = 0; level < LEVELS.length; level++) {
      if ((mask & (1 << level)) !== 0) counts.push({ minute, level, count: reader.varint() });
    }
  }
  return counts;
}

/**
 * Counts consecutive entries within a minute before a summary counts them by name, because they are many and alike.
 * Passes pairs on in the order of their first entry, so the summary equals one that counts entry by entry.
 */
export class Tally {
  readonly #summary: SummaryBuilder;
  readonly #levels: LevelCounter;
  /** The minute in epoch milliseconds, and an entry's time within it. */
  #from = Number.NaN;
  #to = Number.NaN;
  #at = Number.NaN;
  readonly #seen: { pair: TypePair; severity: number }[] = [];

  constructor(summary: SummaryBuilder, levels: LevelCounter) {
    this.#summary = summary;
    this.#levels = levels;
  }

  add(timestamp: number, severity: number, pair: TypePair): void {
    if (!(timestamp >= this.#from && timestamp < this.#to)) this.#enter(timestamp);
    const count = pair.counts[severity] ?? 0;
    if (count === 0) this.#seen.push({ pair, severity });
    pair.counts[severity] = count + 1;
  }

  /** Passes the counts on to the summary. */
  flush(): void {
    for (const { pair, severity } of this.#seen) {
      const count = pair.counts[severity] ?? 0;
      this.#summary.add(this.#at, severity, pair.category, pair.type, count);
      this.#levels.add(this.#at, severity, count);
      pair.counts[severity] = 0;
    }
    this.#seen.length = 0;
  }

  #enter(timestamp: number): void {
    this.flush();
    this.#at = timestamp;
    this.#from = Math.floor(timestamp / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
    this.#to = this.#from + SUMMARY_BUCKET_MS;
  }
}
