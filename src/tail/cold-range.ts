import type { ReportUnreadable } from "../logs/batch.ts";
import { type Block, readBlockIndex } from "../logs/cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../logs/cold/format/decode.ts";
import {
  type BodyRange,
  CorruptSegment,
  SEGMENT_LIMITS,
  type SegmentBody,
  type SegmentKey,
  type SegmentMeta,
} from "../logs/cold/format/segment.ts";
import type { SeqLines, SeqRange } from "./frames.ts";

/** The part of the cold tier's store that a read by `seq` needs. */
export interface ColdSeqSource {
  segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
  ): Promise<SegmentMeta[]>;
  /** Reads as many ranges as one answer may hold, from the first on; null for one that is not there any more. */
  readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]>;
}

/** Whose entries, and who is told of a segment that cannot be read. */
export interface ColdScope {
  workspaceId: string;
  projectId: string;
  report: ReportUnreadable;
}

/** Units that together hold all that the cold tier has with `after < seq <= through`. Units may overlap in `seq`. */
export interface ColdUnits {
  units: SeqLines[];
  through: number;
}

/** Frames of one segment that follow each other. */
interface Wanted extends BodyRange {
  meta: SegmentMeta;
  blocks: Block[];
}

/** More segments than there can be of one range of `seq`: one, and those of entries far from the others in time. */
const SEGMENTS = SEGMENT_LIMITS.parts + 1;

/**
 * Reads what the cold tier has behind a `seq`, one stored range at a time: at most 10,000 entries.
 * @param range `until` at most the last `seq` that the object no longer holds
 */
export async function readCold(source: ColdSeqSource, scope: ColdScope, range: SeqRange): Promise<ColdUnits> {
  const { workspaceId, projectId } = scope;
  const { after, until } = range;
  const found = await source.segmentsBySeq(workspaceId, projectId, { from: after + 1, to: until }, null, SEGMENTS);
  const [first] = found;
  if (!first) return { units: [], through: until };
  const parts = found.filter(({ firstSeq }) => firstSeq === first.firstSeq);
  const through = Math.min(until, Math.max(...parts.map(({ lastSeq }) => lastSeq)));
  const wanted = parts.map((meta) => wantedOf(meta, { after, until })).filter((part) => part !== null);
  const units: SeqLines[] = [];
  for (let read = 0; read < wanted.length; ) {
    const bodies = await source.readBodies(workspaceId, wanted.slice(read));
    if (bodies.length === 0) throw new RangeError("The store left out the first range.");
    for (const [index, body] of bodies.entries()) {
      const part = wanted[read + index];
      if (part && body) units.push(...unitsOf(part, body, scope.report));
    }
    read += bodies.length;
  }
  return { units, through };
}

/** The frames of a segment that may hold an entry of the range; null for none. */
function wantedOf(meta: SegmentMeta, { after, until }: SeqRange): Wanted | null {
  // Without gaps a place says its `seq`. With gaps only the directory does, and it comes with the body.
  const isDense = meta.count === meta.lastSeq - meta.firstSeq + 1;
  const blocks = readBlockIndex(meta).filter(({ firstIndex, lines }) => {
    const seq = meta.firstSeq + firstIndex;
    return !isDense || (seq <= until && seq + lines - 1 > after);
  });
  const [first, last] = [blocks[0], blocks.at(-1)];
  return first && last ? { meta, key: meta, start: first.start, end: last.end, blocks } : null;
}

function unitsOf({ meta, start, blocks }: Wanted, body: SegmentBody, report: ReportUnreadable): SeqLines[] {
  try {
    const batchTable = new BatchTable(meta, body.batchTable);
    return blocks.map((block) =>
      decodeBlock(meta, batchTable, block, body.bytes.subarray(block.start - start, block.end - start), null),
    );
  } catch (error) {
    if (!(error instanceof CorruptSegment)) throw error;
    const entries = blocks.reduce((sum, { lines }) => sum + lines, 0);
    report(error, entries);
    return [];
  }
}
