import { maxFilterBytes } from "../../src/logs/cold/filter/block-filter.ts";
import { type Block, packBlockIndex } from "../../src/logs/cold/format/batch-table.ts";
import { LevelCounter, Tally, TypePairs } from "../../src/logs/cold/format/counts.ts";
import type { DecodedBatch, SeqRange, SourceLine } from "../../src/logs/cold/format/lines.ts";
import { type EncodedSegment, fitsRow, SEGMENT_FORMAT } from "../../src/logs/cold/format/segment.ts";
import { encodeRange, type PartKey, type Pause } from "../../src/logs/cold/format/split-range.ts";
import { LEVELS, parseStoredLine } from "../../src/logs/entry.ts";
import { SummaryBuilder } from "../../src/logs/summary.ts";
import { BatchRunBuilder, PIECE_BYTES, pack, packBatchTable } from "./batch-table.ts";
import { ExactTokens } from "./exact-tokens.ts";

/** Segments of line blocks, as versions before segment files wrote them. */

const LINE_BREAK = 10;

/** Consecutive lines of a batch's body, with the line breaks between them. */
interface Stretch {
  batch: DecodedBatch;
  start: number;
  end: number;
}

/** Splits lines into blocks and compresses them. */
class BodyWriter {
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

/**
 * Encodes exactly a range of a project's entries as segments of line blocks; see `encodeRange`. Equal input gives equal
 * segments.
 *
 * @throws RangeError if the batches do not hold every `seq` of the range once, or a line is not an entry
 */
export function* encodeSegments(
  projectId: string,
  batches: Iterable<DecodedBatch>,
  range: SeqRange,
): Generator<EncodedSegment> {
  const encoder = { encode: encodePart, fits: (segment: EncodedSegment) => fitsRow(segment) };
  for (const step of encodeRange(projectId, batches, range, encoder)) if (step !== null) yield step;
}

function* encodePart(key: PartKey, lines: readonly SourceLine[]): Generator<Pause, EncodedSegment> {
  const summary = new SummaryBuilder();
  const levelCounts = new LevelCounter();
  const tally = new Tally(summary, levelCounts);
  const pairs = new TypePairs();
  const tokens = new ExactTokens();
  const writer = new BodyWriter();
  const runs = new BatchRunBuilder();
  let minTimestamp = Number.POSITIVE_INFINITY;
  let maxTimestamp = Number.NEGATIVE_INFINITY;
  let categoryMask = 0;
  for (const line of lines) {
    const { timestamp } = line;
    if (writer.isFull(line)) {
      writer.close();
      tokens.closeBlock();
      yield null;
    }
    const { body } = line.batch;
    const text = Buffer.from(body.buffer, body.byteOffset + line.start, line.end - line.start).toString("utf8");
    const entry = parseStoredLine(text);
    if (entry === null) throw new RangeError("A line is not an entry.");
    tokens.add(entry);
    const severity = LEVELS.indexOf(entry.level);
    const pair = pairs.of(entry.category, entry.type);
    if (timestamp < minTimestamp) minTimestamp = timestamp;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    categoryMask |= pair.categoryBit;
    tally.add(timestamp, severity, pair);
    writer.add(line, 1 << severity);
    runs.add(line);
  }
  writer.close();
  tokens.closeBlock();
  tally.flush();
  yield null;
  const { blocks } = writer;
  const packed = writer.toBytes();
  const maxBytes = maxFilterBytes(lines.length, packed.length);
  const { kinds: filterKinds, filter } = tokens.filter(maxBytes);
  const { kinds: blockKinds, filter: blockFilter, slotBytes } = tokens.blockFilter(maxBytes, blocks.length);
  const blobs = {
    blocks: packBlockIndex(blocks, minTimestamp),
    levels: levelCounts.pack(),
    summary: summary.pack(),
    batchTable: packBatchTable(runs.runs),
    filter,
    blockFilter,
    body: packed,
  };
  return {
    ...key,
    format: SEGMENT_FORMAT.lineBlocks,
    file: null,
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
    slotBytes,
    ...blobs,
  };
}
