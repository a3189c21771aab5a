import { SummaryBuilder } from "../../summary.ts";
import { chooseBlockFilter, chooseFilter, maxFilterBytes, slotBytes } from "../filter/block-filter.ts";
import { SegmentEntryReader } from "../scan/line-scanner.ts";
import { BatchRunBuilder, type Block, PIECE_BYTES, pack, packBatchTable, packBlockIndex } from "./batch-table.ts";
import { LevelCounter, Tally } from "./counts.ts";
import { type DecodedBatch, linesOf, type SeqRange, type SourceLine } from "./lines.ts";
import { type EncodedSegment, SEGMENT_LIMITS, timeParts } from "./segment.ts";

const LINE_BREAK = 10;

/** Consecutive lines of a batch's body, with the line breaks between them. */
interface Stretch {
  batch: DecodedBatch;
  start: number;
  end: number;
}

/** Splits lines into blocks and compresses them. */
export class BodyWriter {
  readonly #blocks: Block[] = [];
  readonly #packed: Uint8Array[] = [];
  #stretches: Stretch[] = [];
  #last: Stretch | null = null;
  #lines = 0;
  #rawBytes = 0;
  #stored = 0;
  #firstIndex = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #levelMask = 0;

  /** Whether the next line begins a new block. If so, call `close` before adding it. */
  isFull(line: SourceLine): boolean {
    // The extra byte is the line break before the line. A line longer than a piece is a separate block.
    return this.#lines > 0 && this.#rawBytes + 1 + line.end - line.start > PIECE_BYTES;
  }

  add({ batch, start, end, timestamp }: SourceLine, level: number): void {
    this.#rawBytes += end - start + (this.#lines > 0 ? 1 : 0);
    this.#lines++;
    const last = this.#last;
    if (last !== null && last.batch === batch && last.end + 1 === start) last.end = end;
    else {
      this.#last = { batch, start, end };
      this.#stretches.push(this.#last);
    }
    if (timestamp < this.#min) this.#min = timestamp;
    if (timestamp > this.#max) this.#max = timestamp;
    this.#levelMask |= level;
  }

  /** Ends the block, which has at least one line. */
  close(): void {
    const packed = pack(join(this.#stretches, this.#rawBytes));
    this.#blocks.push({
      firstIndex: this.#firstIndex,
      lines: this.#lines,
      rawBytes: this.#rawBytes,
      start: this.#stored,
      end: this.#stored + packed.length,
      minTimestamp: this.#min,
      maxTimestamp: this.#max,
      levelMask: this.#levelMask,
    });
    this.#packed.push(packed);
    this.#stored += packed.length;
    this.#firstIndex += this.#lines;
    this.#stretches = [];
    this.#last = null;
    this.#lines = 0;
    this.#rawBytes = 0;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    this.#levelMask = 0;
  }

  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#packed);
  }
}

/** Copies each stretch with one call. */
function join(stretches: readonly Stretch[], size: number): Uint8Array {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const { batch, start, end } of stretches) {
    if (at > 0) joined[at++] = LINE_BREAK;
    joined.set(batch.body.subarray(start, end), at);
    at += end - start;
  }
  return joined;
}

/** Number of lines split between two pauses, about a millisecond of work. Reading them pauses after each block. */
const PAUSE_LINES = 2048;

/** Yielded as a point at which the caller may yield to other requests. */
type Pause = null;

/**
 * Encodes exactly a range of a project's entries as segments. Equal input gives equal segments.
 *
 * @param batches in order of `seq`, decoded one by one when needed; entries outside the range are ignored
 * @throws RangeError if the batches do not hold every `seq` of the range once, or a line is not an entry
 */
export function* encodeSegments(
  projectId: string,
  batches: Iterable<DecodedBatch>,
  range: SeqRange,
): Generator<EncodedSegment> {
  for (const step of encodeSteps(projectId, batches, range)) if (step !== null) yield step;
}

/** Like `encodeSegments`, in steps of a millisecond or two: 10,000 entries take about forty. */
export function* encodeSteps(
  projectId: string,
  batches: Iterable<DecodedBatch>,
  range: SeqRange,
): Generator<EncodedSegment | Pause> {
  let lines: SourceLine[] = [];
  let rawBytes = 0;
  let sincePause = 0;
  for (const batch of linesOf(batches, range)) {
    for (const line of batch) {
      const size = line.end - line.start + 1;
      if (lines.length === SEGMENT_LIMITS.entries || (lines.length > 0 && rawBytes + size > SEGMENT_LIMITS.rawBytes)) {
        yield* encodeLines(projectId, lines);
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
  if (lines.length > 0) yield* encodeLines(projectId, lines);
}

/** Encodes consecutive lines: as one range if every part of it fits a row, otherwise as two halves. */
function* encodeLines(projectId: string, lines: readonly SourceLine[]): Generator<EncodedSegment | Pause> {
  const range = { firstSeq: lines[0]?.seq ?? 0, lastSeq: lines.at(-1)?.seq ?? 0 };
  const times = lines.map(({ timestamp }) => timestamp);
  // A line that ingest did not write may be an entry with its time at another position.
  if (!times.every(Number.isFinite)) throw new RangeError("A line has no time at its position.");
  const parts = timeParts(times);
  const segments: EncodedSegment[] = [];
  for (const [part, indices] of parts.entries()) {
    const own = parts.length === 1 ? lines : indices.map((index) => lines[index]).filter((line) => line !== undefined);
    const segment = yield* encodePart({ projectId, ...range, part }, own);
    if (!fitsRow(segment)) {
      if (lines.length === 1) throw new RangeError("A single entry does not fit a segment.");
      const half = lines.length >> 1;
      yield* encodeLines(projectId, lines.slice(0, half));
      return yield* encodeLines(projectId, lines.slice(half));
    }
    segments.push(segment);
  }
  yield* segments;
}

function fitsRow({ body, filter, blockFilter, batchTable, summary, levels, storedBytes }: EncodedSegment): boolean {
  const blobs = [body, filter, blockFilter, batchTable, summary, levels];
  return (
    blobs.every((blob) => blob.length <= SEGMENT_LIMITS.blobBytes) &&
    summary.length <= SEGMENT_LIMITS.summaryBytes &&
    storedBytes <= SEGMENT_LIMITS.rowBytes
  );
}

type PartKey = SeqRange & { projectId: string; part: number };

function* encodePart(key: PartKey, lines: readonly SourceLine[]): Generator<Pause, EncodedSegment> {
  const summary = new SummaryBuilder();
  const levelCounts = new LevelCounter();
  const tally = new Tally(summary, levelCounts);
  const reader = new SegmentEntryReader();
  const writer = new BodyWriter();
  const runs = new BatchRunBuilder();
  let minTimestamp = Number.POSITIVE_INFINITY;
  let maxTimestamp = Number.NEGATIVE_INFINITY;
  let categoryMask = 0;
  for (const line of lines) {
    const { timestamp } = line;
    if (writer.isFull(line)) {
      writer.close();
      reader.closeBlock();
      yield null;
    }
    reader.read(line);
    if (timestamp < minTimestamp) minTimestamp = timestamp;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    categoryMask |= reader.pair.categoryBit;
    tally.add(timestamp, reader.severity, reader.pair);
    writer.add(line, 1 << reader.severity);
    runs.add(line);
  }
  writer.close();
  reader.closeBlock();
  tally.flush();
  yield null;
  const { blocks } = writer;
  const body = writer.toBytes();
  const maxBytes = maxFilterBytes(lines.length, body.length);
  const { kinds: filterKinds, filter } = chooseFilter(reader.tokens, maxBytes);
  const { kinds: blockKinds, filter: blockFilter } = chooseBlockFilter(reader.tokens, maxBytes, blocks.length);
  const blobs = {
    blocks: packBlockIndex(blocks, minTimestamp),
    levels: levelCounts.pack(),
    summary: summary.pack(),
    batchTable: packBatchTable(runs.runs),
    filter,
    blockFilter,
    body,
  };
  return {
    ...key,
    count: lines.length,
    minTimestamp,
    maxTimestamp,
    minCommit: runs.runs[0]?.commit ?? 0,
    maxCommit: runs.runs.at(-1)?.commit ?? 0,
    levelMask: blocks.reduce((mask, block) => mask | block.levelMask, 0),
    categoryMask,
    rawBytes: blocks.reduce((sum, block) => sum + block.rawBytes, 0),
    storedBytes: Object.values(blobs).reduce((sum, blob) => sum + blob.length, 0),
    filterKinds,
    blockKinds,
    slotBytes: slotBytes(blocks.length),
    ...blobs,
  };
}
