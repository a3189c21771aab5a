import type { ColdTier } from "./cold-tier.ts";

/** A range that the object has moved to the cold tier. */
export interface ExpectedRange {
  firstSeq: number;
  lastSeq: number;
  /** All of its entries must be there. False: the retention may have taken some of its segments, and never the last. */
  isWhole: boolean;
}

/** A range of which the cold tier lacks entries. */
export interface MissingRange {
  firstSeq: number;
  lastSeq: number;
  /** Entries of it that are there. */
  stored: number;
}

/** Those of the ranges that the cold tier does not hold as it must. */
export async function missingRanges(
  tier: Pick<ColdTier, "totalsOfRanges">,
  workspaceId: string,
  projectId: string,
  ranges: readonly ExpectedRange[],
): Promise<MissingRange[]> {
  if (ranges.length === 0) return [];
  const totals = await tier.totalsOfRanges(workspaceId, projectId, ranges);
  return ranges.flatMap(({ firstSeq, lastSeq, isWhole }, index) => {
    const { entries = 0, segments = 0 } = totals[index] ?? {};
    const isThere = isWhole ? entries === lastSeq - firstSeq + 1 : segments > 0;
    return isThere ? [] : [{ firstSeq, lastSeq, stored: entries }];
  });
}
