/**
 * Chooses which segments of a project become one file.
 *
 * Segments are taken in ranges: the parts of one range, which have the same first and last `seq`, always go together. So
 * ranges stay consecutive and never overlap. No merge spans a gap: a recovery may still insert what is missing there, and
 * another database may have it.
 */

/** What the choice needs of a segment. */
export interface Candidate {
  firstSeq: number;
  lastSeq: number;
  part: number;
  count: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  /** Bytes of its entries as stored: of the file, or of the compressed lines. */
  fileBytes: number;
  /** Bytes of its footer, and of its packed counts. */
  footerBytes: number;
  levelsBytes: number;
  summaryBytes: number;
  /** Whether it is a Parquet file. Blocks of lines are always rewritten. */
  isFile: boolean;
}

/** What the segments of one merge may have together. */
export interface CompactionLimits {
  entries: number;
  fileBytes: number;
  footerBytes: number;
  levelsBytes: number;
  summaryBytes: number;
  /** Milliseconds from its first to its last timestamp. Entries expire only with all others of their segment. */
  spanMs: number;
  /** Segments merged at once. */
  inputs: number;
}

const KIB = 1024;
/** Entries of a merged segment. Larger ones save hardly any row of the catalog, and a merge needs more memory. */
export const GOAL_ENTRIES = 250_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Share of the retention that a segment may span, at least a day. */
const RETENTION_SHARE = 1 / 10;

/**
 * Returns the limits of a merged segment.
 * @param hasBucket without one the file is in its row, which has at most 1.9 MB
 */
export function compactionLimits(retentionDays: number, hasBucket: boolean): CompactionLimits {
  return {
    entries: GOAL_ENTRIES,
    // Without a bucket, the file and its footer are in one row, with the filter and the counts.
    // The merged file is smaller: at most 8 MiB if its columns can be joined.
    fileBytes: hasBucket ? 9.25 * KIB * KIB : 640 * KIB,
    footerBytes: hasBucket ? 384 * KIB : 128 * KIB,
    levelsBytes: 64 * KIB,
    summaryBytes: 60 * KIB,
    spanMs: Math.max(DAY_MS, retentionDays * DAY_MS * RETENTION_SHARE),
    inputs: 64,
  };
}

/**
 * Small ranges at the end of a project that are merged before they reach the goal, and the least entries of such a merge for each
 * entry of its largest range, so that no entry is rewritten often. Changed only by tests.
 */
export const SMALL_END = { ranges: 32, growth: 16 };

export interface Choice {
  /** Segments to be merged, in order of `seq` and part; `null` if none are worth it. */
  merge: Candidate[] | null;
  /** All ranges up to this `seq` are as large as they become. */
  doneSeq: number;
}

/**
 * Chooses the next merge, the oldest first. Ranges are merged when the next one no longer fits: then each entry is
 * rewritten once. Many small ranges at the end are merged before, into one that is at least 16 times as large as each.
 *
 * @param candidates current segments of a project after `doneSeq`, in order of `seq` and part
 * @param doneSeq of the last choice
 * @param isEnded whether no range follows, because further ones are in another database
 */
export function chooseMerge(
  candidates: readonly Candidate[],
  limits: CompactionLimits,
  doneSeq: number,
  isEnded = false,
): Choice {
  let done = doneSeq;
  /** Consecutive ranges that fit one segment. */
  let run: Candidate[][] = [];
  for (const range of rangesOf(candidates)) {
    const isNext = run.length === 0 || range[0]?.firstSeq === (run.at(-1)?.[0]?.lastSeq ?? 0) + 1;
    if (!isNext || (run.length > 0 && !fits([...run, range], limits))) {
      if (isWorthwhile(run)) return { merge: run.flat(), doneSeq: done };
      done = run.at(-1)?.[0]?.lastSeq ?? done;
      run = [];
    }
    run.push(range);
    if (run.flat().length > limits.inputs - PARTS_OF_RANGE) return { merge: smallEnd(run).flat(), doneSeq: done };
  }
  // Blocks of lines do not wait for later ranges: those are files.
  if (run.flat().some(({ isFile }) => !isFile)) return { merge: run.flat(), doneSeq: done };
  if (isEnded && isWorthwhile(run)) return { merge: run.flat(), doneSeq: done };
  if (isEnded) return { merge: null, doneSeq: run.at(-1)?.[0]?.lastSeq ?? done };
  const small = run.length < SMALL_END.ranges ? [] : smallEnd(run);
  const isMany = small.length >= SMALL_END.ranges && growthOf(small) >= SMALL_END.growth;
  return { merge: isMany ? small.flat() : null, doneSeq: done };
}

/** Groups the segments by range. */
export function rangesOf(candidates: readonly Candidate[]): Candidate[][] {
  const ranges: Candidate[][] = [];
  for (const candidate of candidates) {
    const last = ranges.at(-1);
    if (last?.[0]?.firstSeq === candidate.firstSeq) last.push(candidate);
    else ranges.push([candidate]);
  }
  return ranges;
}

function fits(ranges: readonly Candidate[][], limits: CompactionLimits): boolean {
  const all = ranges.flat();
  const sum = (of: (candidate: Candidate) => number) => all.reduce((total, candidate) => total + of(candidate), 0);
  // Other parts hold entries far from the others in time.
  const main = all.filter((candidate) => partOf(candidate) === 0);
  const first = Math.min(...main.map(({ minTimestamp }) => minTimestamp));
  const last = Math.max(...main.map(({ maxTimestamp }) => maxTimestamp));
  return (
    sum(({ count }) => count) <= limits.entries &&
    sum(({ fileBytes }) => fileBytes) <= limits.fileBytes &&
    sum(({ footerBytes }) => footerBytes) <= limits.footerBytes &&
    sum(({ levelsBytes }) => levelsBytes) <= limits.levelsBytes &&
    sum(({ summaryBytes }) => summaryBytes) <= limits.summaryBytes &&
    (main.length === 0 || last - first <= limits.spanMs)
  );
}

/** Whether a merge makes fewer segments or replaces blocks of lines. */
export function isWorthwhile(ranges: readonly Candidate[][]): boolean {
  return ranges.length > 1 || ranges.flat().some(({ isFile }) => !isFile);
}

/** Returns the last ranges, at least two, whose merge is largest in relation to its largest range. */
function smallEnd(ranges: readonly Candidate[][]): Candidate[][] {
  let best = ranges.slice(-2);
  let growth = 0;
  for (let from = ranges.length - 2; from >= 0; from--) {
    const end = ranges.slice(from);
    const own = growthOf(end);
    if (own < growth) continue;
    growth = own;
    best = end;
  }
  return best;
}

/** Returns the entries of ranges for each entry of the largest one. */
function growthOf(ranges: readonly Candidate[][]): number {
  const entries = ranges.map((range) => range.reduce((sum, { count }) => sum + count, 0));
  return entries.reduce((sum, count) => sum + count, 0) / Math.max(1, ...entries);
}

/** Segments that one range has at most. */
const PARTS_OF_RANGE = 4;
/** Parts of one range have numbers below this; a merged segment has a multiple of it more. */
export const PARTS = 16;

/** Returns the part of a segment within its range, 0 to 3. */
export function partOf({ part }: { part: number }): number {
  return part % PARTS;
}
