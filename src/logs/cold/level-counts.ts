import { ByteReader, ByteWriter } from "../../bytes/varint.ts";
import { LEVELS } from "../entry.ts";
import { SUMMARY_BUCKET_MS } from "../summary.ts";

/** Entries of a minute and level. */
export interface LevelCount {
  /** Minutes since the epoch. */
  minute: number;
  /** Severity, 0..6. */
  level: number;
  count: number;
}

/** Counts by minute and level alone: all that most histograms need, at a fraction of a summary's bytes. */
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

  /** LEB128 per minute, in order: minutes since the one before, mask of the levels there are, a count for each of them. */
  pack(): Uint8Array {
    const writer = new ByteWriter();
    let previous = 0;
    for (const [minute, counts] of [...this.#minutes].sort(([a], [b]) => a - b)) {
      writer.varint(minute - previous);
      writer.varint(counts.reduce((mask, count, level) => (count > 0 ? mask | (1 << level) : mask), 0));
      for (const count of counts) if (count > 0) writer.varint(count);
      previous = minute;
    }
    return writer.toBytes();
  }
}

/** @throws RangeError on bytes that end in the middle */
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
