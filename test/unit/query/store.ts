import type { StoredBatch } from "../../../src/logs/batch.ts";
import { encodeBody } from "../../../src/logs/codec.ts";
import { categoryBit, type Entry, levelBit } from "../../../src/logs/entry.ts";
import type { RecentSource } from "../../../src/logs/query/recent-feed.ts";
import type { RecentScan } from "../../../src/logs/query/recent-scan.ts";

/** An entry with its times in milliseconds, as tests make them up. */
export type TestEntry = Omit<Entry, "timestamp"> & { timestamp: number };

export interface TestRow {
  entry: TestEntry;
  projectId: string;
  seq: number;
  commit: number;
}

/** Members in the order that ingest writes them in. */
export function lineOf({ timestamp, level, category, type, message, ...rest }: TestEntry): string {
  const { session, traceId, spanId, data } = rest;
  const time = new Date(timestamp).toISOString();
  return JSON.stringify({ timestamp: time, level, category, type, message, session, traceId, spanId, data });
}

export function bodyOf(entries: readonly TestEntry[]): Uint8Array {
  return new TextEncoder().encode(entries.map(lineOf).join("\n"));
}

/** What the workspace object does, without SQL: batches in memory, selected and ordered in the plainest way. */
export class TestStore {
  readonly scope: string;
  readonly rows: TestRow[] = [];
  readonly #batches: (StoredBatch & { levelMask: number; categoryMask: number })[] = [];
  readonly #lastSeq = new Map<string, number>();
  calls: RecentScan[] = [];

  constructor(scope = "ws_000000000001") {
    this.scope = scope;
  }

  get lastCommit(): number {
    return this.#batches.length;
  }

  add(projectId: string, entries: readonly TestEntry[]): void {
    const firstSeq = (this.#lastSeq.get(projectId) ?? 0) + 1;
    const commit = this.#batches.length + 1;
    const times = entries.map(({ timestamp }) => timestamp);
    this.#lastSeq.set(projectId, firstSeq + entries.length - 1);
    entries.forEach((entry, index) => {
      this.rows.push({ entry, projectId, seq: firstSeq + index, commit });
    });
    this.#batches.push({
      commit,
      projectId,
      firstSeq,
      count: entries.length,
      minTimestamp: Math.min(...times),
      maxTimestamp: Math.max(...times),
      receivedAt: 1_800_000_000_000 + commit,
      levelMask: entries.reduce((mask, { level }) => mask | levelBit(level), 0),
      categoryMask: entries.reduce((mask, { category }) => mask | categoryBit(category), 0),
      ...encodeBody(bodyOf(entries)),
    });
  }

  /** @param pageBatches batches of one answer, whatever size is asked for */
  source(pageBatches: number): RecentSource {
    return async (scan) => {
      this.calls.push(scan);
      const asOf = scan.asOf ?? this.lastCommit;
      const selected = asOf > this.lastCommit ? [] : this.#select(scan, asOf);
      const at = scan.position ? selected.findIndex(({ commit }) => commit === scan.position?.commit) : 0;
      const batches = selected.slice(at, at + pageBatches);
      const next = selected[at + pageBatches];
      return {
        asOf,
        lastCommit: this.lastCommit,
        scope: this.scope,
        flushed: [],
        oldest: 0,
        batches,
        next: next ? { timestamp: keyOf(scan, next), commit: next.commit } : null,
      };
    };
  }

  #select(scan: RecentScan, asOf: number) {
    const sign = scan.order === "asc" ? 1 : -1;
    return this.#batches
      .filter((batch) => batch.commit <= asOf)
      .filter((batch) => scan.from === null || batch.maxTimestamp >= scan.from)
      .filter((batch) => scan.to === null || batch.minTimestamp < scan.to)
      .filter((batch) => batch.levelMask & scan.levelMask && batch.categoryMask & scan.categoryMask)
      .sort((a, b) => sign * (keyOf(scan, a) - keyOf(scan, b) || a.commit - b.commit));
  }
}

function keyOf({ order }: RecentScan, batch: StoredBatch): number {
  return order === "asc" ? batch.minTimestamp : batch.maxTimestamp;
}
