import { LevelCounter, readLevelCounts } from "../../cold/format/counts.ts";
import { categoryBit } from "../../entry.ts";
import { readSummary, SUMMARY_BUCKET_MS, SummaryBuilder } from "../../summary.ts";

/** Adds up the packed counts of segments. */
export class MergedCounts {
  readonly #levels = new LevelCounter();
  readonly #summary = new SummaryBuilder();
  levelMask = 0;
  categoryMask = 0;

  /** @throws RangeError if the bytes are incomplete */
  add({ levels, summary }: { levels: Uint8Array; summary: Uint8Array }): void {
    for (const { minute, level, count } of readLevelCounts(levels)) {
      this.levelMask |= 1 << level;
      this.#levels.add(minute * SUMMARY_BUCKET_MS, level, count);
    }
    for (const { minute, level, category, type, count } of readSummary(summary)) {
      this.categoryMask |= categoryBit(category);
      this.#summary.add(minute * SUMMARY_BUCKET_MS, level, category, type, count);
    }
  }

  pack(): { levels: Uint8Array; summary: Uint8Array } {
    return { levels: this.#levels.pack(), summary: this.#summary.pack() };
  }
}
