import { PARTS } from "../compaction/policy.ts";

/** Chooses the files from which a catalog is rebuilt. */

/** What the key and the metadata of a segment's file state. */
export interface FileFacts {
  key: string;
  /** First `seq` of its range, from the key. */
  firstSeq: number;
  part: number;
  /** `seq` of its last entry. */
  lastSeq: number;
  /** Number of its entries. */
  count: number;
  /** Version of the encoder that wrote it. */
  encoder: number;
}

/** The files of one range: its parts, which one writer has written. */
export interface FileRangeGroup {
  firstSeq: number;
  lastSeq: number;
  count: number;
  /** 0 for a flush; higher for a compaction, and for a later one. */
  level: number;
  files: FileFacts[];
}

/**
 * Groups files by range, compaction and encoder, in order of their first `seq`. A range that ended elsewhere after a batch was
 * quarantined has two files of one part: then there is a group for each.
 */
export function rangesOfFiles(files: readonly FileFacts[]): FileRangeGroup[] {
  const named = Map.groupBy(files, ({ firstSeq, part, encoder }) => `${firstSeq}/${levelOf(part)}/${encoder}`);
  return [...named.values()].flatMap(groupsOf).sort((a, b) => a.firstSeq - b.firstSeq || b.level - a.level);
}

const levelOf = (part: number) => Math.floor(part / PARTS);

/** Choices of files for the parts of one range that are compared. There are rarely two. */
const MAX_CHOICES = 64;

/** @param files with the same first `seq`, level and encoder */
function groupsOf(files: readonly FileFacts[]): FileRangeGroup[] {
  const parts = [...Map.groupBy(files, ({ part }) => part).values()].map(withoutEqual);
  const first = groupOf(parts.flatMap(([file]) => file ?? []));
  if (parts.every(({ length }) => length === 1)) return [first];
  let choices: FileFacts[][] = [[]];
  for (const options of parts) {
    const withPart = choices.flatMap((choice) => options.map((file) => [...choice, file]));
    // An attempt at the range may have had fewer parts.
    const isFirst = options[0]?.part === first.level * PARTS;
    choices = (isFirst ? withPart : [...withPart, ...choices]).slice(0, MAX_CHOICES);
  }
  // A flush has every entry of its range.
  const whole = choices.map(groupOf).filter(({ count, firstSeq, lastSeq }) => count === lastSeq - firstSeq + 1);
  return whole.length > 0 ? whole : [first];
}

/** Leaves out files that repeat a part with the same entries. */
function withoutEqual(files: readonly FileFacts[]): FileFacts[] {
  return files.filter(
    ({ lastSeq, count }, at) => files.findIndex((file) => file.lastSeq === lastSeq && file.count === count) === at,
  );
}

function groupOf(files: readonly FileFacts[]): FileRangeGroup {
  return {
    firstSeq: files[0]?.firstSeq ?? 0,
    lastSeq: files.reduce((last, file) => Math.max(last, file.lastSeq), 0),
    count: files.reduce((sum, { count }) => sum + count, 0),
    level: levelOf(files[0]?.part ?? 0),
    files: [...files],
  };
}

/** A quarantined batch. */
export interface QuarantinedRun {
  firstSeq: number;
  count: number;
}

/** Whether a range has entries of quarantined batches, which are still in the workspace object. */
export function hasQuarantined(
  { firstSeq, lastSeq, count }: FileRangeGroup,
  quarantined: readonly QuarantinedRun[],
): boolean {
  const inside = quarantined.reduce((sum, run) => {
    const [from, to] = [Math.max(firstSeq, run.firstSeq), Math.min(lastSeq, run.firstSeq + run.count - 1)];
    return sum + Math.max(0, to - from + 1);
  }, 0);
  return inside > 0 && count > lastSeq - firstSeq + 1 - inside;
}

/**
 * Chooses ranges that do not overlap and have the most entries together; of equal choices the one with the higher levels, and so
 * with fewer files.
 * @param groups in any order
 * @returns the chosen ranges in order of `seq`
 */
export function chooseRanges(groups: readonly FileRangeGroup[]): FileRangeGroup[] {
  const byEnd = [...groups].sort((a, b) => a.lastSeq - b.lastSeq || a.firstSeq - b.firstSeq);
  /** The best choice of the first n ranges. */
  const best: Choice[] = [{ entries: 0, ranges: 0, last: null, before: null }];
  for (const [index, group] of byEnd.entries()) {
    const without = best[index] ?? EMPTY;
    const before = best[countBefore(byEnd, index, group.firstSeq)] ?? EMPTY;
    const choice = { entries: before.entries + group.count, ranges: before.ranges + 1, last: group, before };
    best.push(isBetter(choice, without) ? choice : without);
  }
  const chosen: FileRangeGroup[] = [];
  for (let choice = best.at(-1) ?? null; choice?.last; choice = choice.before) chosen.unshift(choice.last);
  return chosen;
}

/** Returns the other ranges that a range covers: of earlier compactions, of the flush, or of another attempt. */
export function rangesWithin(range: FileRangeGroup, ranges: readonly FileRangeGroup[]): FileRangeGroup[] {
  const { firstSeq, lastSeq } = range;
  return ranges.filter((other) => other !== range && other.firstSeq >= firstSeq && other.lastSeq <= lastSeq);
}

interface Choice {
  entries: number;
  ranges: number;
  last: FileRangeGroup | null;
  before: Choice | null;
}

const EMPTY: Choice = { entries: 0, ranges: 0, last: null, before: null };

function isBetter(a: Choice, b: Choice): boolean {
  if (a.entries !== b.entries) return a.entries > b.entries;
  if (a.ranges !== b.ranges) return a.ranges < b.ranges;
  return (a.last?.level ?? 0) > (b.last?.level ?? 0);
}

/** Number of the first ranges that end before a `seq`. @param end number of ranges that are looked at */
function countBefore(byEnd: readonly FileRangeGroup[], end: number, seq: number): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((byEnd[middle]?.lastSeq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
