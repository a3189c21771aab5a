import { type BenchEntry, entryAt } from "./entries.ts";
import type { Seed } from "./load/protocol.ts";

/** Entries of a request while seeding. */
export const SEED_BATCH = 1000;

/** The planted text, as it is searched: it is part of a longer word, in another case. */
export const RARE_TEXT = "GlassPet";
export const RARE_TICKET = "T-4711";

/** Positions of planted entries as shares of their project's entries. One of the texts is in the last hour of six. */
const RARE_TEXT_AT = [0.07, 0.27, 0.47, 0.67, 0.87];
const RARE_TICKET_AT = [0.13, 0.38, 0.63, 0.88];
const TRACE_AT = { project: 3, share: 0.42 };

/** Entry `index` (0 is the oldest, and has seq 1) of a project. */
export function seedEntry(seed: Seed, project: number, index: number): BenchEntry {
  const entry = entryAt(index, seedTimestamp(seed, project, index));
  if (hasRareText(seed, index)) entry.message += " after a retry by stormglasspetrel-7";
  if (hasRareTicket(seed, index)) entry.data.ticket = RARE_TICKET;
  if (hasTrace(seed, project, index)) entry.traceId = seed.traceId;
  return entry;
}

/** Projects differ by some milliseconds, so that no two entries share a timestamp and the right order is unique. */
export function seedTimestamp({ start, end, perProject }: Seed, project: number, index: number): number {
  return start + Math.floor(((end - start) * index) / perProject) + project;
}

export function hasRareText({ perProject }: Seed, index: number): boolean {
  return RARE_TEXT_AT.some((share) => Math.floor(share * perProject) === index);
}

export function hasRareTicket({ perProject }: Seed, index: number): boolean {
  return RARE_TICKET_AT.some((share) => Math.floor(share * perProject) === index);
}

export function hasTrace({ perProject }: Seed, project: number, index: number): boolean {
  return project === TRACE_AT.project && Math.floor(TRACE_AT.share * perProject) === index;
}
