import { UnreadableItem } from "../batch.ts";
import { allBlocks } from "../cold/filter/block-filter.ts";
import { decodeBlock } from "../cold/format/decode.ts";
import type { SourceLine } from "../cold/format/lines.ts";
import { CorruptSegment, type SegmentMeta } from "../cold/format/segment.ts";
import { type BlockBody, BodyReader, type PendingBlock } from "../query/body-reader.ts";
import type { ScanPacer } from "../query/budget.ts";
import { OPEN_FILTER } from "../query/filter.ts";
import { piecesOf } from "../query/lines.ts";
import type { ReadMemory } from "../query/memory.ts";
import type { MovedSource } from "../query/moved-feed.ts";
import { RowGroup } from "../query/row-group.ts";
import { RowGroupLines } from "../query/row-group-lines.ts";
import { RowGroupReader } from "../query/row-group-reader.ts";
import { LEADING_COLUMNS } from "../segments/columns.ts";
import type { TimeRange } from "./entry-check.ts";
import { lineLists, mergedLists, type SeqRange } from "./line-lists.ts";

/** The part of the cold tier that an export reads. */
export type ColdLines = Pick<MovedSource, "segmentsBySeq" | "readBodies" | "readFiles">;

/** @param block index of the block that is damaged in the segment that the fault names */
export type ReportDamage = (fault: Error, entries: number, block?: number) => void;

/** What is read of the cold tier, and for whom. */
export interface ColdScope {
  workspaceId: string;
  projectId: string;
  /** Other entries may be left out. */
  times: TimeRange;
  report: ReportDamage;
  pacer: ScanPacer;
  memory: ReadMemory;
  /** Counts the segments that are found. */
  coverage?: ColdCoverage;
}

/**
 * Counts the entries that an export expects in the cold tier and those that the catalog lists there. Fewer have expired, or are lost: the
 * records of the workspace object show which.
 */
export class ColdCoverage {
  /** Up to this `seq` everything is counted. */
  #through: number;
  #expected = 0;
  #listed = 0;
  /** Entries of counted segments that are after `#through`. */
  #beyond = 0;

  /** @param after the `seq` after which the export begins */
  constructor(after: number) {
    this.#through = after;
  }

  get isWhole(): boolean {
    return this.#listed >= this.#expected;
  }

  /** @param segments all that overlap the range; a range, or a part of it, may come again */
  add({ after, until }: SeqRange, segments: readonly SegmentMeta[]): void {
    const from = Math.max(after, this.#through);
    if (until <= from) return;
    // Of a range that begins before, unless it was counted with its first entry: the export begins in it, or has read it as recent batches.
    const before = { entries: 0, most: 0 };
    let beyond = 0;
    const list = (entries: number, most: number) => {
      this.#listed += Math.min(entries, most);
      beyond += Math.max(0, entries - most);
    };
    list(Math.max(0, this.#beyond - (from - this.#through)), until - from);
    for (const { firstSeq, lastSeq, count } of segments) {
      if (firstSeq > from) list(count, until - firstSeq + 1);
      else if (this.#expected === 0 || firstSeq > this.#through) {
        before.entries += count;
        before.most = lastSeq - from;
      }
    }
    list(Math.min(before.entries, before.most), until - from);
    this.#beyond = beyond;
    this.#expected += until - from;
    this.#through = until;
  }
}

/** A segment was deleted although its entries have not expired: its project was deleted, or it was replaced long ago. */
export class SegmentGone extends Error {
  constructor() {
    super("A segment was deleted while it was read.");
    this.name = "SegmentGone";
  }
}

/** Segments found at a time. */
const SEGMENTS_AT_ONCE = 128;
/** Stored bytes of blocks that are read at a time, unless one block is larger: some 8,000 entries. */
const READ_BYTES = 256 * 1024;

/** Lines of a range in order of `seq`, and its end, which may be before the end that was asked for. */
export interface ColdStretch {
  until: number;
  lists: AsyncGenerator<readonly SourceLine[]>;
}

/**
 * Finds the segments of a range, or of its beginning if they are many, and reads their lines in order of `seq`.
 * @param range `until` is at most the project's watermark
 */
export async function openCold(source: ColdLines, scope: ColdScope, { after, until }: SeqRange): Promise<ColdStretch> {
  const { workspaceId, projectId, times } = scope;
  const range = { from: after + 1, to: until };
  const found = await source.segmentsBySeq(workspaceId, projectId, range, null, SEGMENTS_AT_ONCE);
  const last = found.at(-1);
  // Further segments begin where the last one does, or later.
  const end = last !== undefined && found.length === SEGMENTS_AT_ONCE ? last.firstSeq - 1 : until;
  if (end <= after) throw new RangeError("Too many segments begin at one seq.");
  scope.coverage?.add(
    { after, until: end },
    found.filter(({ firstSeq }) => firstSeq <= end),
  );
  const wanted = found.filter(
    ({ firstSeq, minTimestamp, maxTimestamp }) =>
      firstSeq <= end && maxTimestamp >= times.from && (times.to === null || minTimestamp < times.to),
  );
  const streams = wanted.map((meta) => ({
    firstSeq: Math.max(meta.firstSeq, after + 1),
    lists: segmentLines(source, scope, meta, { after, until: end }),
  }));
  return { until: end, lists: mergedLists(streams) };
}

/** Yields the lines of one segment that are in a range. The body of a list is valid until the next list is requested. */
async function* segmentLines(
  source: ColdLines,
  scope: ColdScope,
  meta: SegmentMeta,
  range: SeqRange,
): AsyncGenerator<SourceLine[]> {
  const { workspaceId, times, pacer, memory } = scope;
  const bodies = new BodyReader(source, workspaceId, pacer.meter);
  const scan = { filter: { ...OPEN_FILTER, ...times }, pacer, memory, rows: null };
  const groups = new RowGroupReader(source, workspaceId, scan, { asOf: null, afterCommit: 0 });
  for (const pending of blockRuns(wantedBlocks(meta, scope, range))) {
    await bodies.read(pending);
    for (const each of pending) {
      const { body, block } = each;
      if (body === null || body === undefined) {
        if (isExpired(meta, times)) return;
        throw new SegmentGone();
      }
      let left = entriesAfter(range.after, meta, block.firstIndex, block.lines);
      try {
        if (body instanceof CorruptSegment) throw body;
        const isGroup = body instanceof RowGroup;
        if (isGroup && !body.mayHaveSeqs(range.after + 1, range.until)) continue;
        const lists = isGroup ? groupLines(source, groups, scope, body, range) : blockLines(each, body, range);
        for await (const lines of lists) {
          left -= lines.length;
          await pacer.pause();
          if (lines.length > 0) yield lines;
        }
      } catch (error) {
        if (!(error instanceof UnreadableItem) && !(error instanceof CorruptSegment)) throw error;
        scope.report(error, left, each.index);
      }
    }
  }
}

function isExpired({ maxTimestamp }: SegmentMeta, { from }: TimeRange): boolean {
  return maxTimestamp < from;
}

/** Whether a segment has no gaps, so that the index of a line determines its `seq`. */
function isDense({ firstSeq, lastSeq, count }: SegmentMeta): boolean {
  return count === lastSeq - firstSeq + 1;
}

/** Counts the lines from an index on that are after a `seq`: all of them in a segment with gaps, whose `seq` only the body has. */
function entriesAfter(after: number, meta: SegmentMeta, firstIndex: number, lines: number): number {
  return isDense(meta) ? Math.min(lines, meta.firstSeq + firstIndex + lines - 1 - after) : lines;
}

/** Returns the blocks of a segment that may have an entry of the range and the times. */
function wantedBlocks(meta: SegmentMeta, { times, report }: ColdScope, { after, until }: SeqRange): PendingBlock[] {
  const hasNoGaps = isDense(meta);
  try {
    return allBlocks(meta).flatMap((block, index) => {
      const seq = meta.firstSeq + block.firstIndex;
      const isInRange = !hasNoGaps || (seq <= until && seq + block.lines - 1 > after);
      const isInTime = block.maxTimestamp >= times.from && (times.to === null || block.minTimestamp < times.to);
      return isInRange && isInTime ? [{ meta, block, bound: 0, index, body: undefined }] : [];
    });
  } catch (error) {
    if (!(error instanceof CorruptSegment)) throw error;
    report(error, entriesAfter(after, meta, 0, meta.count));
    return [];
  }
}

/** Yields runs of adjacent blocks that are read together. A row group is read alone. */
function* blockRuns(blocks: readonly PendingBlock[]): Generator<PendingBlock[]> {
  let run: PendingBlock[] = [];
  for (const pending of blocks) {
    const { meta, block } = pending;
    const [first, last] = [run[0]?.block, run.at(-1)?.block];
    const isFull = first && last && (last.end !== block.start || block.end - first.start > READ_BYTES);
    if (isFull || (run.length > 0 && meta.parquet !== undefined)) {
      yield run;
      run = [];
    }
    run.push(pending);
  }
  if (run.length > 0) yield run;
}

/** Yields the lines of a block of lines. @throws CorruptSegment */
function* blockLines(
  { meta, block }: PendingBlock,
  { batchTable, bytes }: BlockBody,
  range: SeqRange,
): Generator<SourceLine[]> {
  const { body, seqAt, receivedAtOf, close } = decodeBlock(meta, batchTable, block, bytes, null);
  const commitOf = (index: number) => batchTable.commitOf(block.firstIndex + index);
  try {
    yield* lineLists(piecesOf(body), { seqAt, commitOf, receivedAtOf }, range);
  } finally {
    close?.();
  }
}

const COMMIT_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "commit");

/** Yields the lines of a row group, some of them empty so that the caller may pause. @throws UnreadableItem */
async function* groupLines(
  source: ColdLines,
  groups: RowGroupReader,
  { pacer: { meter }, times, memory }: ColdScope,
  group: RowGroup,
  range: SeqRange,
): AsyncGenerator<SourceLine[]> {
  await groups.prepare([group], 0);
  if (group.isDeleted && !isExpired(group.file.meta, times)) throw new SegmentGone();
  if (group.failure !== null) throw group.failure;
  if (group.isEmpty) return;
  memory.recordInput(group.storedBytes);
  for (const { start, end } of group.bytes.missing([COMMIT_COLUMN])) {
    const [bytes] = await source.readFiles([{ key: group.key, start, end }]);
    if (!bytes) throw new SegmentGone();
    group.bytes.add(start, bytes);
  }
  const found = await groups.locate(group, group.found);
  const { rows, seqs } = found;
  const commits = group.numbers(COMMIT_COLUMN, rows, meter);
  let at = 0;
  const lines = new RowGroupLines(group, "asc", meter, memory, found);
  const origins = {
    seqAt: (index: number) => lines.seqAt(index),
    receivedAtOf: (index: number) => lines.receivedAtOf(index),
    commitOf: (index: number) => {
      const seq = lines.seqAt(index);
      while ((seqs[at] ?? seq) < seq) at++;
      return commits[at] ?? 0;
    },
  };
  const isWanted = (_: number, index: number) => lines.seqAt(index) > range.after && lines.seqAt(index) <= range.until;
  try {
    yield* lineLists(lines.pieces(isWanted), origins, range);
  } finally {
    lines.close();
    memory.recordInput(0);
  }
}
