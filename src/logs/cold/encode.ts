import { categoryBit, type Entry, LEVELS, levelBit } from "../entry.ts";
import { SummaryBuilder } from "../summary.ts";
import { buildFilter, filterBytes } from "./bloom.ts";
import { type BatchRun, packDirectory } from "./directory.ts";
import { type Frame, packFrames } from "./frame-index.ts";
import type { HashSet64 } from "./hash.ts";
import { LevelCounter } from "./level-counts.ts";
import { type BatchSlice, linesOf, type SeqRange, type SourceLine } from "./lines.ts";
import { PIECE_BYTES, pack } from "./pack.ts";
import { type EncodedSegment, SEGMENT_LIMITS } from "./segment.ts";
import { timeParts } from "./time-parts.ts";
import { TOKEN_KIND, TokenCollector } from "./tokens.ts";

/**
 * Makes segments of exactly a range of a project's entries. The same input gives the same segments.
 *
 * @param batches in order of `seq`, decoded one by one as they are needed; what lies outside the range is passed over
 * @throws RangeError where the batches do not hold every `seq` of the range once
 */
export function* encodeSegments(
  projectId: string,
  batches: Iterable<BatchSlice>,
  range: SeqRange,
): Generator<EncodedSegment> {
  let lines: SourceLine[] = [];
  let rawBytes = 0;
  for (const line of linesOf(batches, range)) {
    const size = line.end - line.start + 1;
    if (lines.length === SEGMENT_LIMITS.entries || (lines.length > 0 && rawBytes + size > SEGMENT_LIMITS.rawBytes)) {
      yield* encodeLines(projectId, lines);
      lines = [];
      rawBytes = 0;
    }
    lines.push(line);
    rawBytes += size;
  }
  if (lines.length > 0) yield* encodeLines(projectId, lines);
}

/** Segments of lines that follow each other: one range if every part of it fits a row, else two halves. */
function encodeLines(projectId: string, lines: readonly SourceLine[]): EncodedSegment[] {
  const range = { firstSeq: lines[0]?.seq ?? 0, lastSeq: lines.at(-1)?.seq ?? 0 };
  const parts = timeParts(lines.map(({ timestamp }) => timestamp));
  const segments: EncodedSegment[] = [];
  for (const [part, places] of parts.entries()) {
    const own = parts.length === 1 ? lines : places.map((place) => lines[place]).filter((line) => line !== undefined);
    const segment = encodePart({ projectId, ...range, part }, own);
    if (!fitsRow(segment)) {
      if (lines.length === 1) throw new RangeError("A single entry does not fit a segment.");
      const half = lines.length >> 1;
      return [...encodeLines(projectId, lines.slice(0, half)), ...encodeLines(projectId, lines.slice(half))];
    }
    segments.push(segment);
  }
  return segments;
}

function fitsRow({ body, filter, directory, summary, levels, storedBytes }: EncodedSegment): boolean {
  const blobs = [body, filter, directory, summary, levels];
  return (
    blobs.every((blob) => blob.length <= SEGMENT_LIMITS.blobBytes) &&
    summary.length <= SEGMENT_LIMITS.summaryBytes &&
    storedBytes <= SEGMENT_LIMITS.rowBytes
  );
}

type PartKey = SeqRange & { projectId: string; part: number };

function encodePart(key: PartKey, lines: readonly SourceLine[]): EncodedSegment {
  const summary = new SummaryBuilder();
  const levelCounts = new LevelCounter();
  const tokens = new TokenCollector();
  const body = new BodyWriter();
  const runs = new RunList();
  let minTimestamp = Number.POSITIVE_INFINITY;
  let maxTimestamp = Number.NEGATIVE_INFINITY;
  let categoryMask = 0;
  for (const line of lines) {
    const { batch, timestamp, start, end } = line;
    const bytes = batch.body.subarray(start, end);
    const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // SAFETY: every stored line was written by `JSON.stringify` of an `Entry`.
    const entry = JSON.parse(raw.toString("utf8")) as Entry;
    if (timestamp < minTimestamp) minTimestamp = timestamp;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    categoryMask |= categoryBit(entry.category);
    const severity = LEVELS.indexOf(entry.level);
    summary.add(timestamp, severity, entry.category, entry.type);
    levelCounts.add(timestamp, severity);
    tokens.add(entry);
    body.add(bytes, timestamp, levelBit(entry.level));
    runs.add(line);
  }
  const frames = body.finish();
  const stored = body.toBytes();
  const { kinds: filterKinds, filter } = filterOf(tokens, stored.length);
  const blobs = {
    frames: packFrames(frames, minTimestamp),
    levels: levelCounts.pack(),
    summary: summary.pack(),
    directory: packDirectory(runs.runs),
    filter,
    body: stored,
  };
  return {
    ...key,
    count: lines.length,
    minTimestamp,
    maxTimestamp,
    minCommit: runs.runs[0]?.commit ?? 0,
    maxCommit: runs.runs.at(-1)?.commit ?? 0,
    levelMask: frames.reduce((mask, frame) => mask | frame.levelMask, 0),
    categoryMask,
    rawBytes: frames.reduce((sum, frame) => sum + frame.rawBytes, 0),
    storedBytes: Object.values(blobs).reduce((sum, blob) => sum + blob.length, 0),
    filterKinds,
    ...blobs,
  };
}

/** Cuts lines into frames and compresses them. */
class BodyWriter {
  readonly #frames: Frame[] = [];
  readonly #packed: Uint8Array[] = [];
  #lines: Uint8Array[] = [];
  #rawBytes = 0;
  #stored = 0;
  #firstIndex = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #levelMask = 0;

  add(line: Uint8Array, timestamp: number, level: number): void {
    // One more for the line break before it; a line longer than a piece is a frame of its own.
    if (this.#lines.length > 0 && this.#rawBytes + 1 + line.length > PIECE_BYTES) this.#close();
    this.#rawBytes += line.length + (this.#lines.length > 0 ? 1 : 0);
    this.#lines.push(line);
    if (timestamp < this.#min) this.#min = timestamp;
    if (timestamp > this.#max) this.#max = timestamp;
    this.#levelMask |= level;
  }

  finish(): readonly Frame[] {
    if (this.#lines.length > 0) this.#close();
    return this.#frames;
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#packed);
  }

  #close(): void {
    const packed = pack(joinLines(this.#lines, this.#rawBytes));
    this.#frames.push({
      firstIndex: this.#firstIndex,
      lines: this.#lines.length,
      rawBytes: this.#rawBytes,
      start: this.#stored,
      end: this.#stored + packed.length,
      minTimestamp: this.#min,
      maxTimestamp: this.#max,
      levelMask: this.#levelMask,
    });
    this.#packed.push(packed);
    this.#stored += packed.length;
    this.#firstIndex += this.#lines.length;
    this.#lines = [];
    this.#rawBytes = 0;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    this.#levelMask = 0;
  }
}

const LINE_BREAK = 10;

function joinLines(lines: readonly Uint8Array[], size: number): Uint8Array {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const line of lines) {
    if (at > 0) joined[at++] = LINE_BREAK;
    joined.set(line, at);
    at += line.length;
  }
  return joined;
}

/** The runs of a segment, put together from its lines. */
class RunList {
  readonly runs: BatchRun[] = [];
  #batch: BatchSlice | null = null;

  add({ batch, seq }: SourceLine): void {
    const last = this.runs.at(-1);
    if (last !== undefined && this.#batch === batch && last.firstSeq + last.count === seq) {
      last.count++;
      return;
    }
    this.#batch = batch;
    this.runs.push({ firstSeq: seq, count: 1, commit: batch.commit, receivedAt: batch.receivedAt });
  }
}

/** The part of its body's bytes that a filter may take; a small segment's filter may take `SMALL_FILTER_BYTES`. */
const FILTER_SHARE = 1 / 4;
const SMALL_FILTER_BYTES = 4096;
const LARGEST_FILTER_BYTES = 128 * 1024;

/** Which kinds come first where not all can be in the filter. */
const KINDS_BY_WORTH = [TOKEN_KIND.id, TOKEN_KIND.text, TOKEN_KIND.three, TOKEN_KIND.scalar, TOKEN_KIND.four];

/** A filter of the kinds of token that fit. What is left out is not told apart, so it costs scans and never an entry. */
function filterOf(tokens: TokenCollector, bodyBytes: number): { kinds: number; filter: Uint8Array } {
  const most = Math.min(LARGEST_FILTER_BYTES, Math.max(SMALL_FILTER_BYTES, bodyBytes * FILTER_SHARE));
  const sets: HashSet64[] = [];
  let kinds = 0;
  let count = 0;
  for (const kind of KINDS_BY_WORTH) {
    const set = tokens.sets.get(kind);
    if (set === undefined || filterBytes(count + set.size) > most) continue;
    sets.push(set);
    kinds |= kind;
    count += set.size;
  }
  // At least a byte: what has no token of a kind is told by that, too.
  return { kinds, filter: buildFilter(sets, Math.max(1, filterBytes(count))) };
}
