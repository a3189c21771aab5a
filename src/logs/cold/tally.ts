import { SUMMARY_BUCKET_MS, type SummaryBuilder } from "../summary.ts";
import type { LevelCounter } from "./level-counts.ts";
import type { TypePair } from "./type-pairs.ts";

/**
 * Counts entries that follow each other within a minute before a summary counts them by name: they are many and alike.
 * What was first seen first is passed on first, so the summary is the one it would be entry by entry.
 */
export class Tally {
  readonly #summary: SummaryBuilder;
  readonly #levels: LevelCounter;
  /** Epoch milliseconds: the minute, and an entry's time within it. */
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

  /** Passes on what has been counted. */
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
