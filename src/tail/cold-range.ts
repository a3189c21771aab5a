import { type ReportUnreadable, UnreadableItem } from "../logs/batch.ts";
import { allBlocks } from "../logs/cold/filter/block-filter.ts";
import { decodeBlock } from "../logs/cold/format/decode.ts";
import { CorruptSegment, type SegmentMeta } from "../logs/cold/format/segment.ts";
import { BodyReader, type PendingBlock } from "../logs/query/body-reader.ts";
import { ScanPacer } from "../logs/query/budget.ts";
import { OPEN_FILTER } from "../logs/query/filter.ts";
import { UNBOUNDED_MEMORY } from "../logs/query/memory.ts";
import type { MovedSource } from "../logs/query/moved-feed.ts";
import { RowGroup } from "../logs/query/row-group.ts";
import { RowGroupLines } from "../logs/query/row-group-lines.ts";
import { RowGroupReader } from "../logs/query/row-group-reader.ts";
import { detachBuffer } from "../platform/isolate-memory.ts";
import type { SeqLines, SeqRange } from "./frames.ts";

/** The part of the cold tier that reads by `seq` use. */
export type ColdSeqSource = Pick<MovedSource, "segmentsBySeq" | "readBodies" | "readFiles">;

/** The project whose entries are read, and the receiver of reports about unreadable segments. */
export interface ColdScope {
  workspaceId: string;
  projectId: string;
  report: ReportUnreadable;
  /** Commit number of the snapshot. Absent: everything. */
  asOf?: number;
}

/**
 * Line sources with everything that the cold tier has with `after < seq <= through`. Their `seq` ranges may overlap.
 */
export interface ColdUnits {
  units: SeqLines[];
  through: number;
}

/** Segments of one page. A `seq` is in the range of few: one, and parts with entries far apart in time. */
const SEGMENTS = 16;
/** Entries of one call. A segment has as many, unless it was compacted. */
const ENTRIES = 10_000;
const LINE_BREAK = 10;

/**
 * Reads entries after a `seq` from the cold tier, at most 10,000 per call.
 * @param range `until` is at most the last `seq` that the object no longer stores
 */
export async function readCold(source: ColdSeqSource, scope: ColdScope, range: SeqRange): Promise<ColdUnits> {
  const { workspaceId, projectId, asOf = null } = scope;
  const { after, until } = range;
  const found = await source.segmentsBySeq(workspaceId, projectId, { from: after + 1, to: until }, null, SEGMENTS);
  const [first] = found;
  if (!first) return { units: [], through: until };
  const through = Math.min(until, endOfStep(found, first, after));
  const wanted = found
    .filter(({ firstSeq, lastSeq }) => firstSeq <= through && lastSeq > after)
    .flatMap((meta) => blocksOf(meta, { after, until: through }, scope.report));
  const pacer = new ScanPacer();
  const reader = new BodyReader(source, workspaceId, pacer.meter);
  for (let left = wanted; left.length > 0; left = left.filter(({ body }) => body === undefined)) {
    await reader.read(left);
  }
  const scan = { filter: OPEN_FILTER, pacer, memory: UNBOUNDED_MEMORY, rows: null };
  const groups = new RowGroupReader(source, workspaceId, scan, { asOf, afterCommit: 0 });
  const units: SeqLines[] = [];
  for (const pending of wanted) {
    try {
      const unit = await unitOf(pending, groups, pacer, { after, until: through }, asOf);
      if (unit !== null) units.push(unit);
    } catch (error) {
      if (!(error instanceof UnreadableItem) && !(error instanceof CorruptSegment)) throw error;
      scope.report(error, pending.block.lines);
    }
  }
  return { units, through };
}

/** Returns the last `seq` of a step: the end of the first range, but no more entries than usual. */
function endOfStep(found: readonly SegmentMeta[], first: SegmentMeta, after: number): number {
  const ends = found.filter(({ firstSeq }) => firstSeq === first.firstSeq).map(({ lastSeq }) => lastSeq);
  const end = Math.min(Math.max(...ends), Math.max(first.firstSeq - 1, after) + ENTRIES);
  // Further segments, if there are any, begin at the last one of the page or later.
  const next = found.length < SEGMENTS ? Number.POSITIVE_INFINITY : (found.at(-1)?.firstSeq ?? 0);
  return next > Math.max(first.firstSeq, after + 1) ? Math.min(end, next - 1) : end;
}

/** Returns the blocks of a segment that may hold an entry of the range. */
function blocksOf(meta: SegmentMeta, { after, until }: SeqRange, report: ReportUnreadable): PendingBlock[] {
  // Without gaps, the index of a line determines its `seq`. With gaps only the body does.
  const isDense = meta.count === meta.lastSeq - meta.firstSeq + 1;
  try {
    return allBlocks(meta).flatMap((block, index) => {
      const seq = meta.firstSeq + block.firstIndex;
      if (isDense && (seq > until || seq + block.lines - 1 <= after)) return [];
      return [{ meta, block, bound: 0, index, body: undefined }];
    });
  } catch (error) {
    if (!(error instanceof CorruptSegment)) throw error;
    report(error, meta.count);
    return [];
  }
}

/** @returns `null` if the segment was deleted or has no entry of the range */
async function unitOf(
  { meta, block, body }: PendingBlock,
  groups: RowGroupReader,
  pacer: ScanPacer,
  range: SeqRange,
  asOf: number | null,
): Promise<SeqLines | null> {
  if (body instanceof CorruptSegment) throw body;
  if (body === null || body === undefined) return null;
  if (!(body instanceof RowGroup)) return decodeBlock(meta, body.batchTable, block, body.bytes, asOf);
  if (!body.mayHaveSeqs(range.after + 1, range.until)) return null;
  await groups.prepare([body], 0);
  if (body.failure !== null) throw body.failure;
  const found = await groups.locate(body, body.found);
  const lines = new RowGroupLines(body, "asc", pacer.meter, UNBOUNDED_MEMORY, found);
  const isWanted = (_: number, index: number) => lines.seqAt(index) > range.after && lines.seqAt(index) <= range.until;
  const pieces: Uint8Array[] = [];
  for (const piece of lines.pieces(isWanted)) {
    // A piece is valid until the next one is requested.
    if (piece.length > 0) pieces.push(...(pieces.length > 0 ? [Uint8Array.of(LINE_BREAK)] : []), new Uint8Array(piece));
    await pacer.pause();
  }
  const all = Buffer.concat(pieces);
  for (const piece of pieces) detachBuffer(piece);
  // The positions of the lines are still needed.
  body.bytes.release();
  return {
    body: all,
    seqAt: lines.seqAt.bind(lines),
    receivedAtOf: lines.receivedAtOf.bind(lines),
    close: () => {
      detachBuffer(all);
      lines.close();
    },
  };
}
