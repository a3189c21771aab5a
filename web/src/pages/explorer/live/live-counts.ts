import type { LogEntry } from "../../../model/types.ts";

/** The members of an entry that counting needs; `at` is its timestamp in epoch milliseconds. */
export interface CountedEntry extends Pick<LogEntry, "seq" | "level"> {
  at: number;
}

export function countedEntry(entry: LogEntry): CountedEntry {
  const { seq, level, timestamp } = entry;
  return { seq, level, at: Date.parse(timestamp) };
}

/** Live entries kept between two counts of the service. Only the service counts older ones. */
const KEPT = 100_000;

/** Counts by group, by start of the bucket in epoch milliseconds. */
export type CountsByBucket = ReadonlyMap<number, ReadonlyMap<string, number>>;

/**
 * Adds entries of a tail to a count of the service, which covers everything up to a `seq`. That `seq` decides which of
 * the two counts an entry, so that each entry is counted once, in any order of responses and frames.
 */
export class LiveCounts {
  readonly #groupOf: (entry: CountedEntry) => string;
  #bucketMs = Number.POSITIVE_INFINITY;
  /** By rising `seq`. */
  #entries: CountedEntry[] = [];
  #seq = 0;
  #version = 0;
  #buckets = new Map<number, Map<string, number>>();

  constructor(groupOf: (entry: CountedEntry) => string) {
    this.#groupOf = groupOf;
  }

  /** Increases with every change of the counts. */
  get version(): number {
    return this.#version;
  }

  get buckets(): CountsByBucket {
    return this.#buckets;
  }

  /** @param entries by rising seq */
  add(entries: readonly CountedEntry[]): void {
    for (const entry of entries) {
      if (entry.seq <= this.#seq) continue;
      this.#entries.push(entry);
      this.#count(entry);
      this.#version++;
    }
    if (this.#entries.length > KEPT) this.#entries = this.#entries.slice(-KEPT);
  }

  /**
   * Continues from a count of the service.
   * @param lastSeq last `seq` in that count; if undefined, every entry so far is taken as counted
   * @param bucketMs bucket size of that count in milliseconds
   */
  begin(lastSeq: number | undefined, bucketMs: number): void {
    this.#seq = lastSeq ?? this.#entries.at(-1)?.seq ?? this.#seq;
    this.#bucketMs = bucketMs;
    this.#entries = this.#entries.filter(({ seq }) => seq > this.#seq);
    this.#buckets = new Map();
    this.#version++;
    for (const entry of this.#entries) this.#count(entry);
  }

  #count(entry: CountedEntry): void {
    const start = Number.isFinite(this.#bucketMs) ? Math.floor(entry.at / this.#bucketMs) * this.#bucketMs : 0;
    const groups = this.#buckets.get(start) ?? new Map<string, number>();
    const group = this.#groupOf(entry);
    groups.set(group, (groups.get(group) ?? 0) + 1);
    this.#buckets.set(start, groups);
  }
}
