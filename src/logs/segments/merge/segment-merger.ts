import { createHash } from "node:crypto";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import type { Block } from "../../cold/format/batch-table.ts";
import type { SourceLine } from "../../cold/format/lines.ts";
import { type DataColumn, schemaOf } from "../columns.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { sourceLinesOf } from "../decode/source-lines.ts";
import { chooseColumns } from "../encode/choose-columns.ts";
import { EntryCounter } from "../encode/counter.ts";
import { encodeGroup } from "../encode/encode-group.ts";
import type { SegmentFile } from "../encode/encode-segment.ts";
import { RowGroup } from "../encode/row-group.ts";
import { writeFooter } from "../parquet/write-footer.ts";
import { ENCODER_VERSION, FORMAT_VERSION, hashOfSections, propertiesOf, type Section } from "../properties.ts";
import { canCopy, copyGroup, type GroupOfFile } from "./copy-group.ts";
import { GroupJoiner, type JoinOptions } from "./join-groups.ts";
import type { MergeStep } from "./join-texts.ts";
import { MergedCounts } from "./merged-counts.ts";
import { type GroupFacts, MergedFile, type Span } from "./merged-file.ts";

export interface MergeOptions extends JoinOptions {
  /** Row groups of at least this many rows are copied; the lines of smaller ones are encoded together. */
  copyRows: number;
  /** Rows, and bytes of lines, at which a row group of encoded lines ends. */
  groupRows: number;
  groupBytes: number;
  /** Keeps the lines for which it is true. If it is given, no row group is copied and all counts are made again. */
  keeps: ((line: SourceLine) => boolean) | null;
  /** Bytes of the file from which on it is stored column by column; infinite for a file that is read by row groups. */
  byColumnBytes: number;
}

/** Rows from which on a row group is copied. */
export const COPY_ROWS = 5000;

/** Rows of joined row groups; see the decision record on them. */
export const JOINED_ROWS = 50_000;

const DEFAULTS: MergeOptions = {
  copyRows: COPY_ROWS,
  joinRows: JOINED_ROWS,
  rows: 0,
  groupRows: 25_000,
  groupBytes: 2 * 1024 * 1024,
  keeps: null,
  byColumnBytes: Number.POSITIVE_INFINITY,
};
/** Lines that are split between two pauses. */
const PAUSE_LINES = 1024;
const LINE_FEED = Uint8Array.of(10);
/** `seq`, `commit`, `timestamp` and `received_at`. */
const SPAN_COLUMNS = [0, 1, 2, 3];

/** Packed counts of a segment; see `../../cold/format/counts.ts` and `../../summary.ts`. */
export interface PackedCounts {
  levels: Uint8Array;
  summary: Uint8Array;
}

/** A file that other segments were merged into. */
export interface MergedSegment extends SegmentFile {
  /** The whole file. */
  bytes: Uint8Array;
}

/**
 * Merges segments of one project into one file. Equal input gives equal bytes. Takes the row groups in order of `seq`, and
 * works in steps of some milliseconds. Holds the file, and the lines of a row group that is not copied.
 */
export class SegmentMerger {
  readonly #projectId: string;
  readonly #options: MergeOptions;
  readonly #file = new MergedFile();
  readonly #counts = new MergedCounts();
  readonly #joiner: GroupJoiner;
  #columns: readonly DataColumn[] | null;
  #pending = new PendingLines();
  /** Has further lines of the list that is being added. */
  #lastBody: Uint8Array | null = null;

  /**
   * @param columns of `data`, as `mergeColumns` returns them for the files with row groups to be copied; `null` chooses
   * them from the lines
   */
  constructor(projectId: string, columns: readonly DataColumn[] | null, options: Partial<MergeOptions> = {}) {
    this.#projectId = projectId;
    this.#columns = columns;
    this.#options = { ...DEFAULTS, ...options };
    this.#joiner = new GroupJoiner(this.#file, this.#options);
  }

  /** Adds a row group of a file. Its bytes are no longer needed afterwards. */
  *addGroup(
    source: GroupOfFile,
    { rawBytes, levelMask }: Pick<Block, "rawBytes" | "levelMask">,
  ): Generator<MergeStep, void> {
    const { reader, group } = source;
    const columns = this.#columns;
    const sections = sectionsOf(reader, group);
    const rows = reader.rowGroups[group]?.rows ?? 0;
    const isLarge = rows >= this.#options.copyRows && this.#options.keeps === null;
    // A row of the catalog gets the spans of copied row groups: retention deletes by them, and readers skip by them.
    const spans = SPAN_COLUMNS.map((column) => reader.numberRange(group, column)).filter((span) => span !== null);
    const [seq, commit, timestamp, receivedAt] = spans;
    const hasSpans = seq && commit && timestamp && receivedAt;
    if (columns === null || sections === null || !isLarge || !hasSpans || !canCopy(reader, group, columns)) {
      yield* this.addLines(sourceLinesOf(reader, group, chunkSource(source)));
      return;
    }
    yield* this.#close();
    const schema = schemaOf(columns);
    const copy = yield* copyGroup(source, columns, schema, 0);
    yield* this.#joiner.add(copy, { sections, rawBytes, levelMask, seq, commit, timestamp, receivedAt }, schema);
  }

  /** Adds lines in order of `seq`, whose bodies it frees once they are encoded. */
  *addLines(lines: Iterable<readonly SourceLine[]>): Generator<MergeStep, void> {
    const { keeps, groupRows, groupBytes } = this.#options;
    let sincePause = 0;
    for (const list of lines) {
      for (const line of list) {
        if (keeps !== null && !keeps(line)) continue;
        this.#lastBody = line.batch.body;
        const pending = this.#pending;
        pending.add(line);
        if (pending.group.rows >= groupRows || pending.group.rawBytes >= groupBytes) yield* this.#close();
        if (++sincePause < PAUSE_LINES) continue;
        sincePause = 0;
        yield null;
      }
      this.#lastBody = null;
    }
  }

  /** Adds the counts of a segment whose entries are added. Without effect if only some of them are kept. */
  addCounts(counts: PackedCounts): void {
    if (this.#options.keeps === null) this.#counts.add(counts);
  }

  /**
   * Ends the file.
   * @param replaces names of the segments
   * @throws RangeError if no line was added
   */
  *finish(replaces: readonly string[]): Generator<MergeStep, MergedSegment> {
    yield* this.#close();
    yield* this.#joiner.join(schemaOf(this.#columns ?? []));
    const file = this.#file;
    const { count, firstSeq, lastSeq, rawBytes, sections, commit, timestamp, receivedAt } = file;
    const columns = this.#columns;
    if (count === 0 || columns === null) throw new RangeError("A segment has at least one entry.");
    const linesSha256 = hashOfSections(sections);
    const facts = { projectId: this.#projectId, firstSeq, lastSeq, count, linesSha256, columns, sections, replaces };
    const rowGroups = file.place(file.size >= this.#options.byColumnBytes);
    const footer = writeFooter({
      rows: count,
      columns: schemaOf(columns),
      rowGroups,
      properties: propertiesOf({ ...facts, encoder: ENCODER_VERSION }),
      createdBy: `taffrail ${FORMAT_VERSION}.${ENCODER_VERSION}`,
    });
    const { bytes, sha256 } = yield* file.finish(footer);
    return {
      bytes,
      parts: [bytes.subarray(0, bytes.length - footer.length), footer],
      size: bytes.length,
      sha256,
      ...this.#counts.pack(),
      footer,
      count,
      firstSeq,
      lastSeq,
      minTimestamp: timestamp.min,
      maxTimestamp: timestamp.max,
      minReceivedAt: receivedAt.min,
      maxReceivedAt: receivedAt.max,
      minCommit: commit.min,
      maxCommit: commit.max,
      levelMask: this.#counts.levelMask,
      categoryMask: this.#counts.categoryMask,
      rawBytes,
      linesSha256,
      columns,
      blocks: file.blocks,
    };
  }

  /** Encodes the pending lines as a row group. */
  *#close(): Generator<MergeStep, void> {
    const { group, counter } = this.#pending;
    if (group.rows === 0) return;
    if (this.#options.keeps !== null) this.#counts.add(counter.pack());
    const columns = this.#columns ?? chooseColumns(group.splitter.shapes, group.rows);
    this.#columns = columns;
    const facts = this.#pending.facts();
    const encoded = yield* encodeGroup(group, columns, 0);
    yield* this.#joiner.add(encoded, facts, schemaOf(columns));
    for (const part of encoded.parts) detachBuffer(part);
    this.#pending.release(this.#lastBody);
    this.#pending = new PendingLines();
    yield null;
  }
}

/** Returns the hashes of a row group's lines; `null` if the file has one only together with those of others. */
function sectionsOf({ properties: { sections }, rowGroups }: SegmentReader, group: number): Section[] | null {
  const start = rowGroups.slice(0, group).reduce((sum, { rows }) => sum + rows, 0);
  const end = start + (rowGroups[group]?.rows ?? 0);
  const own: Section[] = [];
  let at = 0;
  for (const section of sections) {
    const last = at + section.rows;
    if (at >= start && last <= end) own.push(section);
    else if (at < end && last > start) return null;
    at = last;
  }
  return own.length > 0 ? own : null;
}

function chunkSource({ group, bytes }: GroupOfFile) {
  return (own: number, column: number): Uint8Array => {
    if (own !== group) throw new RangeError("The row group is another one.");
    return bytes.chunk(column);
  };
}

/** Lines of the next row group. */
class PendingLines {
  readonly group = new RowGroup();
  readonly counter = new EntryCounter();
  readonly #hash = createHash("sha256");

  /** Frees all lines but those of a body. */
  release(kept: Uint8Array | null): void {
    this.group.releaseBodies(kept);
    this.group.release();
    this.counter.release();
  }

  add(line: SourceLine): void {
    this.group.add(line);
    this.counter.add(this.group);
    this.#hash.update(line.batch.body.subarray(line.start, line.end)).update(LINE_FEED);
  }

  /** Call once, after the last line. */
  facts(): GroupFacts {
    const { rows, seq, commit, timestamp, receivedAt, rawBytes } = this.group;
    return {
      sections: [{ rows, sha256: this.#hash.digest("hex") }],
      rawBytes,
      levelMask: this.counter.levelMask,
      seq: spanOf(seq, rows),
      commit: spanOf(commit, rows),
      timestamp: spanOf(timestamp, rows),
      receivedAt: spanOf(receivedAt, rows),
    };
  }
}

function spanOf(values: Float64Array, rows: number): Span {
  const span = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  for (let row = 0; row < rows; row++) {
    const value = values[row] ?? 0;
    if (value < span.min) span.min = value;
    if (value > span.max) span.max = value;
  }
  return span;
}
