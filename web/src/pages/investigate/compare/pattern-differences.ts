import type { Table } from "../../../charts/chart-data.ts";
import { type Change, changeOf, hasBaseline, patternsOf } from "../patterns/pattern-model.ts";

export interface PatternDifference {
  pattern: string;
  before: number;
  now: number;
  change: Change;
}

/**
 * Returns the patterns that are new, gone, more or less frequent; `null` if the span before has too few entries to tell. The largest
 * difference relative to all entries is first: if all traffic falls, what fell with it is last.
 * @param scale length of the span now divided by that of the one before
 */
export function patternDifferences(before: Table, now: Table, scale: number): PatternDifference[] | null {
  const counts = new Map<string, { before: number; now: number }>();
  for (const { pattern, count } of patternsOf(before))
    if (pattern !== null) counts.set(pattern, { before: count, now: 0 });
  for (const { pattern, count } of patternsOf(now)) {
    if (pattern !== null) counts.set(pattern, { before: counts.get(pattern)?.before ?? 0, now: count });
  }
  const [first = 0, second = 0] = [before, now].map((table) =>
    patternsOf(table).reduce((sum, { count }) => sum + count, 0),
  );
  if (!hasBaseline(first * scale, second)) return null;
  const ratio = second / first;
  return [...counts]
    .flatMap(([pattern, each]): PatternDifference[] => {
      const change = changeOf(each.now, each.before, scale);
      return change === null ? [] : [{ pattern, ...each, change }];
    })
    .sort((a, b) => sizeOf(b, ratio) - sizeOf(a, ratio) || (a.pattern < b.pattern ? -1 : 1));
}

/** @param ratio of all entries now to those before */
function sizeOf({ before, now }: PatternDifference, ratio: number): number {
  return Math.abs(now - before * ratio);
}
