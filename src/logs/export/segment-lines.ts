import type { ReportUnreadable } from "../batch.ts";
import { type Block, readBlockIndex } from "../cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../cold/format/decode.ts";
import type { SourceLine } from "../cold/format/lines.ts";
import {
  type BodyRange,
  CorruptSegment,
  type SegmentBody,
  type SegmentKey,
  type SegmentMeta,
} from "../cold/format/segment.ts";
import { piecesOf } from "../query/lines.ts";
import { lineLists, mergedLists, type SeqRange } from "./line-lists.ts";

/** The part of the cold tier that an export reads. */
export interface ColdLines {
  /** See `ColdTier.segmentsBySeq`. */
  segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
  ): Promise<SegmentMeta[]>;
  /** Reads the first of the ranges. An element is `null` if the segment no longer exists. */
  readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]>;
}

/** What is read of the cold tier, and for whom. */
export interface ColdScope {
  workspaceId: string;
  projectId: string;
  /** Epoch milliseconds, `from` inclusive, `to` exclusive. Other entries may be left out. */
  times: { from: number; to: number | null };
  report: ReportUnreadable;
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
  for (const blocks of blockRuns(wantedBlocks(meta, scope, range))) {
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (!first || !last) continue;
    const [body] = await source.readBodies(scope.workspaceId, [{ key: meta, start: first.start, end: last.end }]);
    if (body === null) {
      if (meta.maxTimestamp < scope.times.from) return;
      throw new SegmentGone();
    }
    if (body === undefined) throw new RangeError("The store has omitted the first range.");
    yield* blockLines(meta, blocks, body, range, scope.report);
  }
}

/** Returns the blocks of a segment that may have an entry of the range and the times. */
function wantedBlocks(meta: SegmentMeta, { times }: ColdScope, { after, until }: SeqRange): Block[] {
  // Without gaps, the index of a line determines its `seq`. With gaps only the batch table does.
  const isDense = meta.count === meta.lastSeq - meta.firstSeq + 1;
  return readBlockIndex(meta).filter(({ firstIndex, lines, minTimestamp, maxTimestamp }) => {
    const seq = meta.firstSeq + firstIndex;
    const isInRange = !isDense || (seq <= until && seq + lines - 1 > after);
    return isInRange && maxTimestamp >= times.from && (times.to === null || minTimestamp < times.to);
  });
}

/** Yields runs of adjacent blocks that are read together. */
function* blockRuns(blocks: readonly Block[]): Generator<Block[]> {
  let run: Block[] = [];
  for (const block of blocks) {
    const [first, last] = [run[0], run.at(-1)];
    if (first && last && (last.end !== block.start || block.end - first.start > READ_BYTES)) {
      yield run;
      run = [];
    }
    run.push(block);
  }
  if (run.length > 0) yield run;
}

/** Yields the lines of line blocks. A damaged block is reported and left out. */
function* blockLines(
  meta: SegmentMeta,
  blocks: readonly Block[],
  { batchTable, bytes }: SegmentBody,
  range: SeqRange,
  report: ReportUnreadable,
): Generator<SourceLine[]> {
  const start = blocks[0]?.start ?? 0;
  let table: BatchTable | undefined;
  for (const block of blocks) {
    try {
      table ??= new BatchTable(meta, batchTable);
      yield* linesOfBlock(meta, table, block, bytes.subarray(block.start - start, block.end - start), range);
    } catch (error) {
      if (!(error instanceof CorruptSegment)) throw error;
      report(error, block.lines);
    }
  }
}

function* linesOfBlock(
  meta: SegmentMeta,
  table: BatchTable,
  block: Block,
  bytes: Uint8Array,
  range: SeqRange,
): Generator<SourceLine[]> {
  const { body, seqAt, receivedAtOf, close } = decodeBlock(meta, table, block, bytes, null);
  const commitOf = (index: number) => table.commitOf(block.firstIndex + index);
  yield* lineLists(piecesOf(body), { seqAt, commitOf, receivedAtOf }, range);
  close?.();
}
