import type { RecentBatch } from "../logs/batch.ts";
import { BatchMatcher } from "../logs/query/batch-matcher.ts";
import { ScanPacer } from "../logs/query/budget.ts";
import { toByteString } from "../logs/query/case-folding.ts";
import { type LogFilter, OPEN_FILTER } from "../logs/query/filter.ts";
import { type ColdScope, type ColdSeqSource, readCold } from "./cold-range.ts";
import { linesOfBatches, pacedEntriesOf, type SeqEntry, type SeqLines, type SeqRange } from "./frames.ts";

/** An entry with its neighbours by `seq`, from both tiers. */

/** Keeps the entries nearest to one `seq`, up to a number of characters: 200 neighbours may have 50 MiB. */
export class NearestEntries {
  readonly #seq: number;
  readonly #maxCharacters: number;
  readonly #kept = new Map<number, SeqEntry>();
  #characters = 0;
  /** Entries at this distance from `seq` or farther are no longer kept. */
  #tooFar = Number.POSITIVE_INFINITY;

  constructor(seq: number, maxCharacters: number) {
    this.#seq = seq;
    this.#maxCharacters = maxCharacters;
  }

  /** Whether entries were dropped. All of them are farther from `seq` than those kept. */
  get isCut(): boolean {
    return Number.isFinite(this.#tooFar);
  }

  /** Adds an entry, unless it is already there or too far away. */
  add(entry: SeqEntry): void {
    if (this.#distance(entry) >= this.#tooFar || this.#kept.has(entry.seq)) return;
    this.#kept.set(entry.seq, entry);
    this.#characters += entry.text.length;
    while (this.#characters > this.#maxCharacters && this.#kept.size > 1) this.#dropFarthest();
  }

  /** Returns the kept entries in order of `seq`. */
  entries(): SeqEntry[] {
    return [...this.#kept.values()].sort((a, b) => a.seq - b.seq);
  }

  #dropFarthest(): void {
    this.#tooFar = Math.max(...[...this.#kept.values()].map((entry) => this.#distance(entry)));
    for (const entry of this.#kept.values()) {
      if (this.#distance(entry) < this.#tooFar) continue;
      this.#kept.delete(entry.seq);
      this.#characters -= entry.text.length;
    }
  }

  #distance({ seq }: SeqEntry): number {
    return Math.abs(seq - this.#seq);
  }
}

export const CONTEXT_LIMITS = {
  /** Entries on either side. */
  neighbours: 100,
  /** Characters of one response. The entry itself is always included. */
  answerCharacters: 4 * 1024 * 1024,
  /**
   * Characters kept while the range is read, without those of the batch or cold range in progress. Bounds the isolate's
   * memory.
   */
  heldCharacters: 5 * 1024 * 1024,
} as const;

/** Part of a range as the workspace object returns it; see `SeqPage` there. */
export interface RecentRange {
  lastSeq: number;
  flushedSeq: number;
  oldest: number;
  through: number;
  batches: readonly RecentBatch[];
}

/** The two tiers from which entries of a project are read by `seq`. */
export interface SeqSource {
  scope: ColdScope;
  recent(range: SeqRange): Promise<RecentRange>;
  cold: ColdSeqSource;
}

export interface ContextWish {
  seq: number;
  /** Entries before and after `seq`. */
  before: number;
  after: number;
}

/** Each entry as the JSON of a `StoredEntry`. */
export interface EntryContext {
  entry: string;
  before: string[];
  after: string[];
  complete: boolean;
}

/** Returns the bytes that a context holds in memory, two per character. */
export function contextBytes({ entry, before, after }: EntryContext): number {
  return [entry, ...before, ...after].reduce((sum, { length }) => sum + 2 * length, 0);
}

/** Yields the JSON of the response in parts, as byte strings: UTF-8, one character per byte. */
export function* contextTexts({ entry, before, after, complete }: EntryContext): Generator<string> {
  yield '{"entry":';
  yield toByteString(entry);
  yield ',"before":[';
  yield* joined(before);
  yield '],"after":[';
  yield* joined(after);
  yield `],"complete":${complete}}`;
}

function* joined(texts: readonly string[]): Generator<string> {
  for (const [index, text] of texts.entries()) yield toByteString(index === 0 ? text : `,${text}`);
}

/** Reads an entry and its neighbours; `null` if the entry does not exist or has expired. */
export async function readContext(
  source: SeqSource,
  { seq, before, after }: ContextWish,
): Promise<EntryContext | null> {
  const nearest = new NearestEntries(seq, CONTEXT_LIMITS.heldCharacters);
  await readRange(source, { after: Math.max(0, seq - before - 1), until: seq + after }, OPEN_FILTER, nearest);
  const entries = nearest.entries();
  const at = entries.findIndex((each) => each.seq === seq);
  const entry = entries[at];
  if (!entry) return null;
  let characters = entry.text.length;
  let [from, to] = [at, at + 1];
  // Add the nearest neighbours first, alternating between both sides.
  for (;;) {
    const [earlier, later] = [entries[from - 1], entries[to]];
    const isEarlier = earlier !== undefined && (later === undefined || at - from <= to - at - 1);
    const next = isEarlier ? earlier : later;
    if (next === undefined || characters + next.text.length > CONTEXT_LIMITS.answerCharacters) break;
    characters += next.text.length;
    if (isEarlier) from--;
    else to++;
  }
  return {
    entry: entry.text,
    before: entries.slice(from, at).map(({ text }) => text),
    after: entries.slice(at + 1, to).map(({ text }) => text),
    complete: from === 0 && to === entries.length && !nearest.isCut,
  };
}

/** Receives the entries of a range: in any order, and some twice. */
export interface FoundEntries {
  add(entry: SeqEntry): void;
}

/**
 * Reads the entries of a range that pass a filter into `found`. The object is read first, because a batch leaves it only after it is in
 * the cold tier.
 * @returns the newest `seq` of the project
 */
export async function readRange(
  { scope, recent, cold }: SeqSource,
  { after, until }: SeqRange,
  filter: LogFilter,
  found: FoundEntries,
): Promise<number> {
  let page = await recent({ after, until });
  const pacer = new ScanPacer();
  const from = Math.max(page.oldest, filter.from ?? page.oldest);
  const matcher = new BatchMatcher({ ...filter, from }, pacer.meter);
  const end = Math.min(until, page.lastSeq);
  // An entry may occur in both tiers if it was flushed between two reads. `NearestEntries` ignores the second one.
  // Batches that were not flushed (quarantined ones) may be located between flushed ones.
  const take = async (units: readonly SeqLines[], range: SeqRange) => {
    const pause = () => pacer.pause();
    const entries = await pacedEntriesOf(pause, units, matcher, scope.projectId, range, scope.report);
    for (const { close } of units) close?.();
    for (const entry of entries) found.add(entry);
  };
  for (;;) {
    for (const batch of page.batches) await take(linesOfBatches([batch], scope.report), { after, until: end });
    if (page.through >= end) break;
    page = await recent({ after: page.through, until: end });
  }
  // Uses the watermark of the last read: what a flush moved between two reads is in the cold tier by now.
  const coldEnd = Math.min(end, page.flushedSeq);
  for (let position = after; position < coldEnd; ) {
    const { units, through } = await readCold(cold, scope, { after: position, until: coldEnd });
    await take(units, { after: position, until: through });
    position = through;
  }
  return page.lastSeq;
}
