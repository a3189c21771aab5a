import type { Table } from "../../../charts/chart-data.ts";
import { type Change, changeOf, hasBaseline, patternsOf } from "../patterns/pattern-model.ts";

export interface PatternDifference {
  pattern: string;
  before: number;
  now: number;
  change: Change;
}

/**
 * Returns the patterns that are new, gone, more or less frequent, the largest difference first; `null` if the span before has too few
 * entries to tell.
 * @param scale length of the span now divided by that of the one before
 */
export function patternDifferences(before: Table, now: Table, scale: number): PatternDifference[] | null {
  const counts = new Map<string, { before: number; now: number }>();
  for (const { pattern, count } of patternsOf(before))
    if (pattern !== null) counts.set(pattern, { before: count, now: 0 });
  for (const { pattern, count } of patternsOf(now)) {
    if (pattern !== null) counts.set(pattern, { before: counts.get(pattern)?.before ?? 0, now: count });
  }
  const [first, second] = [before, now].map((table) => patternsOf(table).reduce((sum, { count }) => sum + count, 0));
  if (!hasBaseline((first ?? 0) * scale, second ?? 0)) return null;
  return [...counts]
    .flatMap(([pattern, each]): PatternDifference[] => {
      const change = changeOf(each.now, each.before, scale);
      return change === null ? [] : [{ pattern, ...each, change }];
    })
    .sort((a, b) => sizeOf(b, scale) - sizeOf(a, scale) || (a.pattern < b.pattern ? -1 : 1));
}

function sizeOf({ before, now }: PatternDifference, scale: number): number {
  return Math.abs(now - before * scale);
}
