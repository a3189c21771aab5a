import type { ColdTier } from "./cold-tier.ts";
import type { StoredCover } from "./writer.ts";

/** A range that the object has moved to the cold tier. */
export interface ExpectedRange {
  firstSeq: number;
  lastSeq: number;
  /** Whether all its entries must be stored. If not, the retention may have deleted some segments, but not the last. */
  isWhole: boolean;
}

/** A range with entries that are not in the cold tier. */
export interface MissingRange {
  firstSeq: number;
  lastSeq: number;
  /** Number of its entries that are stored, at most. */
  stored: number;
}

/**
 * Returns the ranges that the cold tier does not hold completely. A range may have several segments, and a merged segment
 * may have several ranges, so ranges and segments that overlap are compared together.
 * @param ranges in order of `seq`, without gaps in the list
 */
export async function missingRanges(
  tier: Pick<ColdTier, "covers">,
  workspaceId: string,
  projectId: string,
  ranges: readonly ExpectedRange[],
): Promise<MissingRange[]> {
  const [first] = ranges;
  const last = ranges.at(-1);
  if (first === undefined || last === undefined) return [];
  const all = { from: first.firstSeq, to: last.lastSeq };
  const covers = await tier.covers(workspaceId, projectId, all);
  return groupsOf(ranges, covers).flatMap((group) => missingOf(group, all));
}

/** A page of a project's records of moved ranges. */
interface Records {
  ranges: readonly ExpectedRange[];
}

/** Compares a page of records with the cold tier. */
export async function missingOfPage<T extends Records>(
  tier: Pick<ColdTier, "covers">,
  workspaceId: string,
  projectId: string,
  { page, again }: { page: T; again: () => Promise<T | null> },
): Promise<MissingRange[]> {
  const missing = await missingRanges(tier, workspaceId, projectId, page.ranges);
  // Records are deleted before their segments, so a record that has changed means that its range was deleted.
  return missing.length === 0 ? [] : stillRecorded(missing, page.ranges, (await again())?.ranges);
}

/** Entries that a record, or a merged segment, has at most: the records so far before a range are not read. */
const LARGEST_ENTRIES = 1_000_000;

/**
 * Counts the entries of a range of `seq` that were moved to the cold tier, have not expired, and are not there: at most, if the range
 * begins or ends within a moved one; at least, and not 0, if moved ranges that lack some share a merged segment.
 * @param records returns a page of the records that begin after a `seq`; `null` if the project was deleted
 */
export async function missingEntries(
  tier: Pick<ColdTier, "covers">,
  workspaceId: string,
  projectId: string,
  records: (after: number) => Promise<Records | null>,
  { after, until }: { after: number; until: number },
): Promise<number> {
  let entries = 0;
  let isWhole = true;
  for (let position = Math.max(0, after - LARGEST_ENTRIES); position < until; ) {
    const page = await records(position);
    const last = page?.ranges.at(-1);
    if (page === null || last === undefined) break;
    const again = () => records(position);
    const missing = last.lastSeq > after ? await missingOfPage(tier, workspaceId, projectId, { page, again }) : [];
    for (const { firstSeq, lastSeq, stored } of missing) {
      const within = Math.min(lastSeq, until) - Math.max(firstSeq, after + 1) + 1;
      entries += Math.max(0, Math.min(within, lastSeq - firstSeq + 1 - stored));
      isWhole &&= within <= 0;
    }
    position = last.firstSeq;
  }
  return isWhole ? entries : Math.max(1, entries);
}

function stillRecorded(
  missing: readonly MissingRange[],
  before: readonly ExpectedRange[],
  now: readonly ExpectedRange[] = [],
): MissingRange[] {
  const wholeBefore = new Map(before.map(({ firstSeq, isWhole }) => [firstSeq, isWhole]));
  const wholeNow = new Map(now.map(({ firstSeq, isWhole }) => [firstSeq, isWhole]));
  return missing.filter(({ firstSeq }) => wholeNow.get(firstSeq) === wholeBefore.get(firstSeq));
}

/** Ranges and segments that overlap each other. */
interface Group {
  ranges: ExpectedRange[];
  covers: StoredCover[];
  lastSeq: number;
}

function groupsOf(ranges: readonly ExpectedRange[], covers: readonly StoredCover[]): Group[] {
  const groups: Group[] = [];
  let next = 0;
  for (const range of ranges) {
    let group = groups.at(-1);
    if (group === undefined || range.firstSeq > group.lastSeq) {
      group = { ranges: [], covers: [], lastSeq: range.lastSeq };
      groups.push(group);
    }
    group.ranges.push(range);
    group.lastSeq = Math.max(group.lastSeq, range.lastSeq);
    for (let cover = covers[next]; cover !== undefined && cover.firstSeq <= group.lastSeq; cover = covers[++next]) {
      // Before the range, between two ranges: of a range whose record was deleted.
      if (cover.lastSeq < range.firstSeq) continue;
      group.covers.push(cover);
      group.lastSeq = Math.max(group.lastSeq, cover.lastSeq);
    }
  }
  return groups;
}

function missingOf({ ranges, covers }: Group, all: { from: number; to: number }): MissingRange[] {
  const lengthOf = ({ firstSeq, lastSeq }: ExpectedRange) => lastSeq - firstSeq + 1;
  const stored = covers.reduce((sum, { entries }) => sum + entries, 0);
  const expected = ranges.reduce((sum, range) => sum + (range.isWhole ? lengthOf(range) : 0), 0);
  // A segment at the end of the list may hold entries of ranges that are not in it.
  const isCut = covers.some(({ firstSeq, lastSeq }) => firstSeq < all.from || lastSeq > all.to);
  const isExact = !isCut && ranges.every(({ isWhole }) => isWhole);
  const isStored = covers.length > 0 && (isExact ? stored === expected : stored >= expected);
  if (isStored) return [];
  const missing = ranges.filter((range) => !covers.some((cover) => isWithin(range, cover)));
  return (missing.length > 0 ? missing : ranges).map(({ firstSeq, lastSeq }) => ({
    firstSeq,
    lastSeq,
    stored: ranges.length === 1 ? stored : storedIn({ firstSeq, lastSeq }, covers),
  }));
}

function isWithin(range: { firstSeq: number; lastSeq: number }, cover: StoredCover): boolean {
  return cover.firstSeq <= range.firstSeq && cover.lastSeq >= range.lastSeq;
}

/** Entries of the segments that overlap a range, at most its length. */
function storedIn(range: { firstSeq: number; lastSeq: number }, covers: readonly StoredCover[]): number {
  const entries = covers
    .filter(({ firstSeq, lastSeq }) => firstSeq <= range.lastSeq && lastSeq >= range.firstSeq)
    .reduce((sum, cover) => sum + cover.entries, 0);
  return Math.min(entries, range.lastSeq - range.firstSeq + 1);
}
