import type { BatchEncoding } from "../logs/batch.ts";
import { BatchMatcher } from "../logs/query/batch-matcher.ts";
import { WorkMeter } from "../logs/query/budget.ts";
import { readTailFilter } from "./filter.ts";
import { toLogFilter } from "./log-filter.ts";
import type { Tail } from "./tail.ts";

/** The part of a committed batch that tails need. */
export interface TailBatch {
  project: number;
  firstSeq: number;
  receivedAt: number;
  /** `size` is the uncompressed length of the lines in bytes. */
  batch: { count: number; encoding: BatchEncoding; size: number; body: Uint8Array };
  /** Whether the body is only on disk, and empty here. */
  wasStaged?: boolean;
}

/** Consecutive batches of one project: entries with `after < seq <= until`. */
export interface BatchSequence {
  project: number;
  after: number;
  until: number;
  bytes: number;
  batches: TailBatch[];
}

/**
 * Uncompressed bytes of one batch sequence, unless a single batch has more. A sequence is decompressed at once and sent
 * to each tail in one pass, while the queued batches may decompress to a hundred times their size.
 */
const SEQUENCE_BYTES = 256 * 1024;

/**
 * Groups batches into bounded sequences by project, in order. A gap between two sequences occurs if the project had no
 * tail for a while.
 */
export function sequencesOf(batches: readonly TailBatch[]): BatchSequence[] {
  const sequences: BatchSequence[] = [];
  const last = new Map<number, BatchSequence>();
  for (const committed of batches) {
    const { project, firstSeq, batch } = committed;
    let sequence = last.get(project);
    if (sequence?.until !== firstSeq - 1 || sequence.bytes + batch.size > SEQUENCE_BYTES) {
      sequence = { project, after: firstSeq - 1, until: firstSeq - 1, bytes: 0, batches: [] };
      sequences.push(sequence);
      last.set(project, sequence);
    }
    sequence.until += batch.count;
    sequence.bytes += batch.size;
    sequence.batches.push(committed);
  }
  return sequences;
}

/** Tails with the same project and filter. Their entries are filtered and encoded once. */
export interface TailGroup {
  readonly matcher: BatchMatcher;
  /** Counts the matcher's work. */
  readonly meter: WorkMeter;
  readonly tails: Set<Tail>;
}

/** The open tails of an object, by project and filter. */
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

/** Work units that matching uses without a pause: about 2 ms, during which the object accepts no entries. */
export const MATCHING_UNITS = 1_500_000;

/** Creates a group. Its filter has no retention cutoff, because entries just accepted cannot be expired. */
function newGroup(filter: string): TailGroup {
  const meter = new WorkMeter(MATCHING_UNITS);
  return { matcher: new BatchMatcher(toLogFilter(readTailFilter(filter), null), meter), meter, tails: new Set() };
}
