import { categoryBit, type Entry, LEVELS } from "../entry.ts";
import { readLine } from "../stored-line.ts";
import { SummaryBuilder } from "../summary.ts";
import { buildFilter, filterBytes } from "./bloom.ts";
import { BodyWriter } from "./body-writer.ts";
import { type BatchRun, packDirectory } from "./directory.ts";
import { buildFrameFilter, frameFilterBytes, slotBytes } from "./frame-filter.ts";
import { packFrames } from "./frame-index.ts";
import { LevelCounter } from "./level-counts.ts";
import { type BatchSlice, linesOf, type SeqRange, type SourceLine } from "./lines.ts";
import { type EncodedSegment, SEGMENT_LIMITS } from "./segment.ts";
import { timeParts } from "./time-parts.ts";
import { TOKEN_KIND, TokenCollector, type TokenSets } from "./tokens.ts";

/** Lines from one pause to the next: about 5 ms of work. */
const PAUSE_LINES = 512;

/** Stands among segments where whoever asks for them may let others have their turn. */
type Pause = null;

/**
 * Makes segments of exactly a range of a project's entries. The same input gives the same segments.
 *
 * @param batches in order of `seq`, decoded one by one as they are needed; what lies outside the range is passed over
 * @throws RangeError where the batches do not hold every `seq` of the range once, or hold what is no entry
 */
export function* encodeSegments(
  projectId: string,
  batches: Iterable<BatchSlice>,
  range: SeqRange,
): Generator<EncodedSegment> {
  for (const step of encodeSteps(projectId, batches, range)) if (step !== null) yield step;
}

/** The same in steps of some milliseconds: 10,000 entries take a tenth of a second. */
export function* encodeSteps(
  projectId: string,
  batches: Iterable<BatchSlice>,
  range: SeqRange,
): Generator<EncodedSegment | Pause> {
  let lines: SourceLine[] = [];
  let rawBytes = 0;
  for (const line of linesOf(batches, range)) {
    if (lines.length % PAUSE_LINES === PAUSE_LINES - 1) yield null;
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
function* encodeLines(projectId: string, lines: readonly SourceLine[]): Generator<EncodedSegment | Pause> {
  const range = { firstSeq: lines[0]?.seq ?? 0, lastSeq: lines.at(-1)?.seq ?? 0 };
  const parts = timeParts(lines.map(({ timestamp }) => timestamp));
  const segments: EncodedSegment[] = [];
  for (const [part, places] of parts.entries()) {
    const own = parts.length === 1 ? lines : places.map((place) => lines[place]).filter((line) => line !== undefined);
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

function fitsRow({ body, filter, frameFilter, directory, summary, levels, storedBytes }: EncodedSegment): boolean {
  const blobs = [body, filter, frameFilter, directory, summary, levels];
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
  const tokens = new TokenCollector();
  const writer = new BodyWriter();
  const runs = new RunList();
  let minTimestamp = Number.POSITIVE_INFINITY;
  let maxTimestamp = Number.NEGATIVE_INFINITY;
  let categoryMask = 0;
  const closeFrame = () => {
    writer.close();
    tokens.closeFrame();
  };
  for (const [index, line] of lines.entries()) {
    if (index % PAUSE_LINES === PAUSE_LINES - 1) yield null;
    const { timestamp } = line;
    const entry = entryOf(line);
    if (writer.isFull(line)) closeFrame();
    if (timestamp < minTimestamp) minTimestamp = timestamp;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    categoryMask |= categoryBit(entry.category);
    const severity = LEVELS.indexOf(entry.level);
    summary.add(timestamp, severity, entry.category, entry.type);
    levelCounts.add(timestamp, severity);
    tokens.add(entry);
    writer.add(line, 1 << severity);
    runs.add(line);
  }
  closeFrame();
  const { frames } = writer;
  const body = writer.toBytes();
  const most = mostBytes(lines.length, body.length);
  const { kinds: filterKinds, filter } = filterOf(tokens, most);
  const { kinds: frameKinds, filter: frameFilter } = frameFilterOf(tokens, most, frames.length);
  const blobs = {
    frames: packFrames(frames, minTimestamp),
    levels: levelCounts.pack(),
    summary: summary.pack(),
    directory: packDirectory(runs.runs),
    filter,
    frameFilter,
    body,
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
    frameKinds,
    slotBytes: slotBytes(frames.length),
    ...blobs,
  };
}

/**
 * Parsed one by one and let go of: parsed, a range of small members takes twenty times its bytes.
 * @throws RangeError where a line is no entry
 */
function entryOf({ batch: { body }, start, end }: SourceLine): Entry {
  const entry = readLine(Buffer.from(body.buffer, body.byteOffset + start, end - start).toString("utf8"));
  if (entry === null) throw new RangeError("A line is no entry.");
  return entry;
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

/** What each of a segment's filters may take: a part of its body's bytes, or so many bytes an entry where that is more. */
const FILTER_SHARE = 1 / 5;
const FILTER_BYTES_PER_ENTRY = 6;
const SMALL_FILTER_BYTES = 2048;
const LARGEST_FILTER_BYTES = 128 * 1024;

/** Which kinds come first where not all can be in the filter. */
const KINDS_BY_WORTH = [TOKEN_KIND.id, TOKEN_KIND.text, TOKEN_KIND.three, TOKEN_KIND.scalar, TOKEN_KIND.four];

/** A filter of the kinds of token that fit. What is left out is not told apart, so it costs scans and never an entry. */
function filterOf(tokens: TokenCollector, most: number): { kinds: number; filter: Uint8Array } {
  const { kinds, count, chosen } = fitting(tokens, most, ({ all }) => all.size, filterBytes);
  // At least a byte: what has no token of a kind is told by that, too.
  const length = Math.max(1, filterBytes(count));
  return {
    kinds,
    filter: buildFilter(
      chosen.map(({ all }) => all),
      length,
    ),
  };
}

function frameFilterOf(tokens: TokenCollector, most: number, frames: number) {
  const bytes = (pairs: number) => frameFilterBytes(pairs, frames);
  const size = ({ all, pairs }: TokenSets) => (Number.isFinite(all.size) ? pairs.length / 3 : all.size);
  const { kinds, chosen } = fitting(tokens, most, size, bytes);
  return {
    kinds,
    filter: buildFrameFilter(
      chosen.map(({ pairs }) => pairs),
      frames,
    ),
  };
}

function mostBytes(entries: number, bodyBytes: number): number {
  const fair = Math.max(SMALL_FILTER_BYTES, bodyBytes * FILTER_SHARE, entries * FILTER_BYTES_PER_ENTRY);
  return Math.min(LARGEST_FILTER_BYTES, fair);
}

/** The kinds that fit into so many bytes, the worthiest first. */
function fitting(
  tokens: TokenCollector,
  most: number,
  size: (sets: TokenSets) => number,
  bytes: (count: number) => number,
): { kinds: number; count: number; chosen: TokenSets[] } {
  const chosen: TokenSets[] = [];
  let kinds = 0;
  let count = 0;
  for (const kind of KINDS_BY_WORTH) {
    const sets = tokens.kinds.get(kind);
    if (sets === undefined || bytes(count + size(sets)) > most) continue;
    chosen.push(sets);
    kinds |= kind;
    count += size(sets);
  }
  return { kinds, count, chosen };
}
