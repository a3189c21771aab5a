import type { BatchEncoding } from "../logs/batch.ts";
import { BatchMatcher } from "../logs/query/batch-matcher.ts";
import { WorkMeter } from "../logs/query/budget.ts";
import { readTailFilter, toLogFilter } from "./filter.ts";
import type { Tail } from "./tail.ts";

/** A batch that has been committed. */
export interface TailBatch {
  project: number;
  firstSeq: number;
  receivedAt: number;
  /** `size`: bytes of its lines, uncompressed. */
  batch: { count: number; encoding: BatchEncoding; size: number; body: Uint8Array };
}

/** Batches of one project that follow each other: entries with `after < seq <= until`. */
export interface BatchSequence {
  project: number;
  after: number;
  until: number;
  bytes: number;
  batches: TailBatch[];
}

/**
 * Bytes of lines of one run, unless a single batch has more: decompressed at once, and sent to each tail in one go. What
 * waits may hold a hundred times its size.
 */
const SEQUENCE_BYTES = 256 * 1024;

/** Each project's batches in order, some at a time. There is a gap where nobody listened for a while. */
export function sequencesOf(batches: readonly TailBatch[]): BatchSequence[] {
  const runs: BatchSequence[] = [];
  const last = new Map<number, BatchSequence>();
  for (const committed of batches) {
    const { project, firstSeq, batch } = committed;
    let run = last.get(project);
    if (run?.until !== firstSeq - 1 || run.bytes + batch.size > SEQUENCE_BYTES) {
      run = { project, after: firstSeq - 1, until: firstSeq - 1, bytes: 0, batches: [] };
      runs.push(run);
      last.set(project, run);
    }
    run.until += batch.count;
    run.bytes += batch.size;
    run.batches.push(committed);
  }
  return runs;
}

/** Tails of one project with one filter: what they get is filtered and written out once for all of them. */
export interface TailGroup {
  readonly matcher: BatchMatcher;
  /** Of the matcher's work. */
  readonly meter: WorkMeter;
  readonly tails: Set<Tail>;
}

/** The open tails, by project and filter. */
export class TailGroups {
  readonly #projects = new Map<number, Map<string, TailGroup>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(project: number): boolean {
    return this.#projects.has(project);
  }

  of(project: number): Iterable<TailGroup> {
    return this.#projects.get(project)?.values() ?? [];
  }

  *[Symbol.iterator](): Generator<Tail> {
    for (const groups of this.#projects.values()) for (const { tails } of groups.values()) yield* tails;
  }

  add(tail: Tail): void {
    const groups = this.#projects.get(tail.project) ?? new Map<string, TailGroup>();
    this.#projects.set(tail.project, groups);
    const group = groups.get(tail.filter) ?? newGroup(tail.filter);
    groups.set(tail.filter, group);
    group.tails.add(tail);
    this.#size++;
  }

  remove(tail: Tail): void {
    const groups = this.#projects.get(tail.project);
    const group = groups?.get(tail.filter);
    if (!groups || !group?.tails.delete(tail)) return;
    this.#size--;
    if (group.tails.size === 0) groups.delete(tail.filter);
    if (groups.size === 0) this.#projects.delete(tail.project);
  }
}

/** Units of work that matching takes in one go: some 2 ms, in which no entry is taken in. */
export const MATCHING_UNITS = 1_500_000;

/** Without the retention's bound: what has just been taken in is not older. */
function newGroup(filter: string): TailGroup {
  const meter = new WorkMeter(MATCHING_UNITS);
  return { matcher: new BatchMatcher(toLogFilter(readTailFilter(filter), null), meter), meter, tails: new Set() };
}
