import { createContext } from "preact";

/** Entries that never arrived before an entry. */
export interface Missing {
  entries: number;
  /** Why, the most frequent reason first. */
  reasons: string[];
}

/** Missing entries of the current project, by the `seq` of the entry after them. */
export const MissingEntries = createContext<ReadonlyMap<number, Missing>>(new Map());

const REASONS: Readonly<Record<string, string>> = {
  retries: "their client gave up after its retries",
  "too-large": "larger than an entry may be",
  rejected: "the service refused them",
  unknown: "they never arrived",
};
/** A row of the ledger, as far as it is read. */
export interface LedgerItem {
  reason: string;
  entries: number;
  gap: { beforeSeq: number } | null;
}

export function missingIn(items: readonly LedgerItem[]): ReadonlyMap<number, Missing> {
  const found = new Map<number, Missing>();
  for (const { gap, entries, reason } of [...items].sort((a, b) => b.entries - a.entries)) {
    if (gap === null) continue;
    const known = found.get(gap.beforeSeq) ?? { entries: 0, reasons: [] };
    known.entries += entries;
    const text = REASONS[reason] ?? reason;
    if (!known.reasons.includes(text)) known.reasons.push(text);
    found.set(gap.beforeSeq, known);
  }
  return found;
}
