import type { LogEntry } from "../../../model/types.ts";

/** What counting needs of an entry; `at` is its timestamp in epoch milliseconds. */
export interface CountedEntry extends Pick<LogEntry, "seq" | "level" | "category" | "type"> {
  at: number;
}

export function countedEntry({ seq, level, category, type, timestamp }: LogEntry): CountedEntry {
  return { seq, level, category, type, at: Date.parse(timestamp) };
}

/** Entries kept between two counts of the service. The oldest above that are counted by the service alone. */
const KEPT = 100_000;

/** Counts by group, by the beginning of their bucket in epoch milliseconds. */
export type CountsByBucket = ReadonlyMap<number, ReadonlyMap<string, number>>;

/**
 * Counts what a tail brings on top of a count of the service, which is of everything up to a `seq`: that decides which of
 * the two counts an entry, so that each is counted once, in whatever order answers and entries come.
 */
export class LiveCounts {
  readonly #groupOf: (entry: CountedEntry) => string;
  #bucketMs = Number.POSITIVE_INFINITY;
  /** By rising seq. */
  #entries: CountedEntry[] = [];
  #seq = 0;
  #version = 0;
  #buckets = new Map<number, Map<string, number>>();

  constructor(groupOf: (entry: CountedEntry) => string) {
    this.#groupOf = groupOf;
  }

  /** Rises with every change of the counts. */
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
   * Goes on from a count of the service.
   * @param lastSeq up to which it counted; undefined where it does not say: everything that has come is taken as counted
   * @param bucketMs milliseconds of its buckets
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
