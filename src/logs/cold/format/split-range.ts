import { type DecodedBatch, linesOf, type SeqRange, type SourceLine } from "./lines.ts";
import { SEGMENT_LIMITS, timeParts } from "./segment.ts";

/** Number of lines split between two pauses, about a millisecond of work. */
const PAUSE_LINES = 2048;

/** Yielded as a point at which the caller may yield to other requests. */
export type Pause = null;

/** The range of a segment, and its part of the range. */
export type PartKey = SeqRange & { projectId: string; part: number };

/** Encodes segments of one kind. */
export interface PartEncoder<S> {
  /**
   * @param lines of the part, in order of `seq`
   * @throws RangeError if a line is not an entry
   */
  encode(key: PartKey, lines: readonly SourceLine[]): Generator<Pause, S>;
  /** Whether a segment may be stored. If not, its range is encoded as two halves. */
  fits(segment: S): boolean;
  /** Frees a segment that does not fit. */
  discard?(segment: S): void;
}

/**
 * Encodes exactly a range of a project's entries as segments, in steps of a millisecond or two. Equal input gives equal
 * segments if the encoder does.
 *
 * @param batches in order of `seq`, decoded one by one when needed; entries outside the range are ignored
 * @throws RangeError if the batches do not hold every `seq` of the range once, or a line is not an entry
 */
export function* encodeRange<S>(
  projectId: string,
  batches: Iterable<DecodedBatch>,
  range: SeqRange,
  encoder: PartEncoder<S>,
): Generator<S | Pause> {
  let lines: SourceLine[] = [];
  let rawBytes = 0;
  let sincePause = 0;
  for (const batch of linesOf(batches, range)) {
    for (const line of batch) {
      const size = line.end - line.start + 1;
      if (lines.length === SEGMENT_LIMITS.entries || (lines.length > 0 && rawBytes + size > SEGMENT_LIMITS.rawBytes)) {
        yield* encodeLines(projectId, lines, encoder);
        lines = [];
        rawBytes = 0;
      }
      lines.push(line);
      rawBytes += size;
    }
    sincePause += batch.length;
    if (sincePause < PAUSE_LINES) continue;
    sincePause = 0;
    yield null;
  }
  if (lines.length > 0) yield* encodeLines(projectId, lines, encoder);
}

/** Encodes consecutive lines: as one range if every part of it fits a row, otherwise as two halves. */
function* encodeLines<S>(
  projectId: string,
  lines: readonly SourceLine[],
  encoder: PartEncoder<S>,
): Generator<S | Pause> {
  const range = { firstSeq: lines[0]?.seq ?? 0, lastSeq: lines.at(-1)?.seq ?? 0 };
  const times = lines.map(({ timestamp }) => timestamp);
  // A line that ingest did not write may be an entry with its time at another position.
  if (!times.every(Number.isFinite)) throw new RangeError("A line has no time at its position.");
  const parts = timeParts(times);
  const segments: S[] = [];
  for (const [part, indices] of parts.entries()) {
    const own = parts.length === 1 ? lines : indices.map((index) => lines[index]).filter((line) => line !== undefined);
    const segment = yield* encoder.encode({ projectId, ...range, part }, own);
    if (!encoder.fits(segment)) {
      for (const each of [...segments, segment]) encoder.discard?.(each);
      if (lines.length === 1) throw new RangeError("A single entry does not fit a segment.");
      const half = lines.length >> 1;
      yield* encodeLines(projectId, lines.slice(0, half), encoder);
      return yield* encodeLines(projectId, lines.slice(half), encoder);
    }
    segments.push(segment);
  }
  yield* segments;
}
