import type { ReportUnreadable } from "../logs/batch.ts";
import { type Block, readBlockIndex } from "../logs/cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../logs/cold/format/decode.ts";
import {
  type BodyRange,
  CorruptSegment,
  SEGMENT_LIMITS,
  type SegmentBody,
  type SegmentMeta,
} from "../logs/cold/format/segment.ts";
import type { MovedSource } from "../logs/query/tiers.ts";
import type { SeqLines, SeqRange } from "./frames.ts";

/** The part of the cold tier that reads by `seq` use. */
export interface ColdSeqSource extends Pick<MovedSource, "segmentsBySeq"> {
  /**
   * Reads ranges from the first on, as many as one response may hold. An element is `null` if the segment no longer
   * exists.
   */
  readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]>;
}

/** The project whose entries are read, and the receiver of reports about unreadable segments. */
export interface ColdScope {
  workspaceId: string;
  projectId: string;
  report: ReportUnreadable;
}

/**
 * Line sources with everything that the cold tier has with `after < seq <= through`. Their `seq` ranges may overlap.
 */
export interface ColdUnits {
  units: SeqLines[];
  through: number;
}

/** Consecutive blocks of one segment that are read together. */
interface Wanted extends BodyRange {
  meta: SegmentMeta;
  blocks: Block[];
}

/** Segments that one `seq` range has at most: one, and the parts with entries far apart in time. */
const SEGMENTS = SEGMENT_LIMITS.parts + 1;

/**
 * Reads entries after a `seq` from the cold tier, one flushed range (at most 10,000 entries) per call.
 * @param range `until` is at most the last `seq` that the object no longer stores
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
    if (bodies.length === 0) throw new RangeError("The store has omitted the first range.");
    for (const [index, body] of bodies.entries()) {
      const part = wanted[read + index];
      if (part && body) units.push(...unitsOf(part, body, scope.report));
    }
    read += bodies.length;
  }
  return { units, through };
}

/** Returns the blocks of a segment that may hold an entry of the range; `null` if there is none. */
function wantedOf(meta: SegmentMeta, { after, until }: SeqRange): Wanted | null {
  // Without gaps, the index of a line determines its `seq`. With gaps only the batch table does, and it is read with
  // the body.
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
