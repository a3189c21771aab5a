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

/** Groups files by range, compaction and encoder, in order of their first `seq`. */
export function rangesOfFiles(files: readonly FileFacts[]): FileRangeGroup[] {
  const groups = new Map<string, FileRangeGroup>();
  for (const file of files) {
    const level = Math.floor(file.part / PARTS);
    const name = `${file.firstSeq}/${level}/${file.encoder}`;
    const group = groups.get(name) ?? { firstSeq: file.firstSeq, lastSeq: 0, count: 0, level, files: [] };
    groups.set(name, group);
    // A repeated part has the same entries.
    if (group.files.some(({ part }) => part === file.part)) continue;
    group.files.push(file);
    group.lastSeq = Math.max(group.lastSeq, file.lastSeq);
    group.count += file.count;
  }
  return [...groups.values()].sort((a, b) => a.firstSeq - b.firstSeq || b.level - a.level);
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
