import type { LogFilter } from "../logs/query/filter.ts";
import { NearestEntries, readRange, type SeqSource } from "./context.ts";
import type { SeqEntry } from "./frames.ts";

export const CHANGES_LIMITS = {
  /** Entries of one answer. */
  entries: 500,
  /** Entries that are examined for one answer. */
  examined: 20_000,
  /** Characters of one answer. */
  characters: 2 * 1024 * 1024,
} as const;

/** Entries that are read at once. */
const STEP = 1_000;

/** Entries in order of `seq`. */
export interface Changes {
  entries: SeqEntry[];
  /** Every entry up to this `seq` that passes the filter is in `entries`, or was before it. */
  through: number;
  /** The newest `seq` of the project. */
  lastSeq: number;
}

/**
 * Reads the entries of a project after a `seq`, in the order in which they arrived.
 * @param limit entries, at most `CHANGES_LIMITS.entries`
 */
export async function readChanges(
  source: SeqSource,
  filter: LogFilter,
  after: number,
  limit: number,
): Promise<Changes> {
  const entries: SeqEntry[] = [];
  let characters = 0;
  let lastSeq = after;
  const end = after + CHANGES_LIMITS.examined;
  for (let position = after; position < end; ) {
    const until = position + STEP;
    // Keeps the first ones if the step has more characters than memory holds.
    const nearest = new NearestEntries(position, CHANGES_LIMITS.characters);
    lastSeq = await readRange(source, { after: position, until }, filter, nearest);
    const found = nearest.entries();
    for (const entry of found) {
      characters += entry.text.length;
      const isFull = entries.length === limit || (entries.length > 0 && characters > CHANGES_LIMITS.characters);
      if (isFull) return { entries, through: entries.at(-1)?.seq ?? position, lastSeq };
      entries.push(entry);
    }
    if (nearest.isCut) return { entries, through: found.at(-1)?.seq ?? position, lastSeq };
    if (until >= lastSeq) return { entries, through: Math.max(after, lastSeq), lastSeq };
    position = until;
  }
  return { entries, through: end, lastSeq };
}
