import { BatchMatcher } from "../logs/query/batch-matcher.ts";
import { WorkMeter } from "../logs/query/work.ts";
import { readTailFilter, toLogFilter } from "./filter.ts";
import type { Tail } from "./tail.ts";

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
