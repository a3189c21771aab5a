import { decodeFrame, SegmentDirectory } from "../logs/cold/decode.ts";
import { type Frame, readFrames } from "../logs/cold/frame-index.ts";
import {
  type BodyRange,
  CorruptSegment,
  SEGMENT_LIMITS,
  type SegmentKey,
  type SegmentMeta,
  type StoredBody,
} from "../logs/cold/segment.ts";
import type { ReportUnreadable } from "../logs/unreadable.ts";
import type { SeqRange, SeqUnit } from "./entries.ts";

/** The part of the cold tier's store that a read by `seq` needs. */
export interface ColdSource {
  segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
  ): Promise<SegmentMeta[]>;
  /** Reads as many ranges as one answer may hold, from the first on; null for one that is not there any more. */
  readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(StoredBody | null)[]>;
}

/** Whose entries, and who is told of a segment that cannot be read. */
export interface ColdScope {
  workspaceId: string;
  projectId: string;
  report: ReportUnreadable;
}

/** Units that together hold all that the cold tier has with `after < seq <= through`. Units may overlap in `seq`. */
export interface ColdUnits {
  units: SeqUnit[];
  through: number;
}

/** Frames of one segment that follow each other. */
interface Wanted extends BodyRange {
  meta: SegmentMeta;
  frames: Frame[];
}

/** More segments than there can be of one range of `seq`: one, and those of entries far from the others in time. */
const SEGMENTS = SEGMENT_LIMITS.parts + 1;

/**
 * Reads what the cold tier has behind a `seq`, one stored range at a time: at most 10,000 entries.
 * @param range `until` at most the last `seq` that the object no longer holds
 */
export async function readCold(source: ColdSource, scope: ColdScope, range: SeqRange): Promise<ColdUnits> {
  const { workspaceId, projectId } = scope;
  const { after, until } = range;
  const found = await source.segmentsBySeq(workspaceId, projectId, { from: after + 1, to: until }, null, SEGMENTS);
  const [first] = found;
  if (!first) return { units: [], through: until };
  const parts = found.filter(({ firstSeq }) => firstSeq === first.firstSeq);
  const through = Math.min(until, Math.max(...parts.map(({ lastSeq }) => lastSeq)));
  const wanted = parts.map((meta) => wantedOf(meta, { after, until })).filter((part) => part !== null);
  const units: SeqUnit[] = [];
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
  const frames = readFrames(meta).filter(({ firstIndex, lines }) => {
    const seq = meta.firstSeq + firstIndex;
    return !isDense || (seq <= until && seq + lines - 1 > after);
  });
  const [first, last] = [frames[0], frames.at(-1)];
  return first && last ? { meta, key: meta, start: first.start, end: last.end, frames } : null;
}

function unitsOf({ meta, start, frames }: Wanted, body: StoredBody, report: ReportUnreadable): SeqUnit[] {
  try {
    const directory = new SegmentDirectory(meta, body.directory);
    return frames.map((frame) =>
      decodeFrame(meta, directory, frame, body.bytes.subarray(frame.start - start, frame.end - start), null),
    );
  } catch (error) {
    if (!(error instanceof CorruptSegment)) throw error;
    const entries = frames.reduce((sum, { lines }) => sum + lines, 0);
    report(error, entries);
    return [];
  }
}
