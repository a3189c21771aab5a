import { createHash, type Hash } from "node:crypto";
import type { Block } from "../../cold/format/batch-table.ts";
import type { SourceLine } from "../../cold/format/lines.ts";
import { type DataColumn, schemaOf } from "../columns.ts";
import { MAGIC, METADATA_LIMITS, type RowGroupMeta } from "../parquet/metadata.ts";
import { writeFooter } from "../parquet/write-footer.ts";
import { ENCODER_VERSION, FORMAT_VERSION, propertiesOf } from "../properties.ts";
import type { RowTokens } from "../tokens/row-tokens.ts";
import { chooseColumns } from "./choose-columns.ts";
import { EntryCounter } from "./counter.ts";
import { encodeGroup } from "./encode-group.ts";
import { BlockTracker, RangeTracker } from "./range-tracker.ts";
import { EXACT_SHAPES, RowGroup } from "./row-group.ts";
import type { Pause } from "./text-column.ts";

/** A segment as a Parquet file, with what a catalog needs to find it. */
export interface SegmentFile {
  /** The file's bytes in order. */
  parts: readonly Uint8Array[];
  /** Bytes of the file. */
  size: number;
  /** The end of the file, from which a reader opens it; also the last of the parts. */
  footer: Uint8Array;
  count: number;
  firstSeq: number;
  lastSeq: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  minReceivedAt: number;
  maxReceivedAt: number;
  minCommit: number;
  maxCommit: number;
  levelMask: number;
  categoryMask: number;
  /** Packed counts by minute and level, and by minute, level, category and type. */
  levels: Uint8Array;
  summary: Uint8Array;
  /** Bytes of the lines, each with a line feed. */
  rawBytes: number;
  /** SHA-256 of the lines, each with a line feed, and of the file. Hexadecimal. */
  linesSha256: string;
  sha256: string;
  columns: readonly DataColumn[];
  /** The row groups; positions are counted from the first one. Level masks are 0 if nothing was counted. */
  blocks: readonly Block[];
}

/** Rows of a row group; see the decision record on segment files. */
const GROUP_ROWS = 25_000;
/** Bytes of lines at which a row group ends. Its lines are in memory until it is encoded. */
export const GROUP_BYTES = 8 * 1024 * 1024;
/**
 * Lines, and bytes of lines, that are split between two pauses: two milliseconds if they are alike, 20 if each has other members. A
 * pause costs some 50 us.
 */
const PAUSE_LINES = 2048;
const PAUSE_BYTES = 512 * 1024;
/** Lines that are split in the time of one that is not like the line before. */
const SCANNED_LINES = 8;

export interface EncodeOptions {
  /**
   * Columns of `data`. `null` chooses them from the first row group. A compaction passes those of the files that it
   * reads; see `mergeColumns`.
   */
  columns: readonly DataColumn[] | null;
  /** At most 262,144. */
  groupRows: number;
  /** Bytes of lines at which a row group ends; see `GROUP_BYTES`. */
  groupBytes: number;
  /** Shapes of a row group from which on lines with some of the same members are joined; see `UnionShapes`. */
  exactShapes: number;
  /** Whether the bodies of lines are freed once they are encoded. */
  ownsBodies: boolean;
}

/**
 * Encodes lines of one project as a Parquet file, in steps of some milliseconds. Equal lines and options give equal
 * bytes.
 *
 * @param lines in order of `seq`, at least one. Their bodies must not change until the row group is encoded
 * @param tokens gets each line
 * @throws RangeError if there is no line, the order is wrong, or a line is not an entry
 */
export function* encodeSegment(
  projectId: string,
  lines: Iterable<readonly SourceLine[]>,
  options: Partial<EncodeOptions> = {},
  tokens: RowTokens | null = null,
): Generator<Pause, SegmentFile> {
  const counter = new EntryCounter();
  const encoder = new FileEncoder(projectId, options, counter, tokens);
  for (const list of lines) yield* encoder.add(list);
  yield* encoder.endGroup();
  const { columns, ...file } = encoder.finish();
  counter.release();
  if (file.count === 0 || columns === null) throw new RangeError("A segment has at least one entry.");
  return {
    ...file,
    ...counter.pack(),
    parts: [...encoder.takeParts(), file.footer],
    levelMask: counter.levelMask,
    categoryMask: counter.categoryMask,
    columns,
  };
}

/** What is known of a file when all its lines are encoded. Without lines, times and commits are infinite. */
export interface EncodedFile
  extends Omit<SegmentFile, "parts" | "levelMask" | "categoryMask" | "levels" | "summary" | "columns"> {
  /** `null` without lines: the file has no column of `data` then. */
  columns: readonly DataColumn[] | null;
}

/** Encodes lines as a Parquet file of which the caller takes the parts as they are ready. */
export class FileEncoder {
  readonly #projectId: string;
  readonly #groupRows: number;
  readonly #groupBytes: number;
  readonly #exactShapes: number;
  readonly #ownsBodies: boolean;
  /** Has further lines of the list that is being added. */
  #lastBody: Uint8Array | null = null;
  readonly #counter: EntryCounter | null;
  readonly #tokens: RowTokens | null;
  readonly #writer = new FileWriter();
  readonly #range = new RangeTracker();
  readonly #blocks = new BlockTracker();
  readonly #linesHash = createHash("sha256");
  #columns: readonly DataColumn[] | null;
  #group: RowGroup;
  /** Lines since the last pause, with scanned ones counted several times, and bytes of all lines before it. */
  #lines = 0;
  #pausedBytes = 0;

  /** @param counter,tokens get each line; `null` if the counts or the tokens are not needed */
  constructor(
    projectId: string,
    {
      columns = null,
      groupRows = GROUP_ROWS,
      groupBytes = GROUP_BYTES,
      exactShapes = EXACT_SHAPES,
      ownsBodies = false,
    }: Partial<EncodeOptions>,
    counter: EntryCounter | null,
    tokens: RowTokens | null = null,
  ) {
    if (groupRows > METADATA_LIMITS.groupRows) throw new RangeError("A row group has too many rows.");
    this.#projectId = projectId;
    this.#columns = columns;
    this.#groupRows = groupRows;
    this.#groupBytes = groupBytes;
    this.#exactShapes = exactShapes;
    this.#ownsBodies = ownsBodies;
    this.#group = new RowGroup(exactShapes);
    this.#counter = counter;
    this.#tokens = tokens;
  }

  /** Row groups that are encoded. */
  get groups(): number {
    return this.#writer.groups.length;
  }

  /** Bytes of the lines that are not in a full row group. */
  get openBytes(): number {
    return this.#group.rawBytes;
  }

  /**
   * Adds lines, and encodes each row group that is full.
   * @param list in order of `seq`. Their bodies must not change until the row group is encoded
   * @throws RangeError if the order is wrong, or a line is not an entry
   */
  *add(list: readonly SourceLine[]): Generator<Pause, void> {
    hashLines(this.#linesHash, list);
    const range = this.#range;
    for (const line of list) {
      const { splitter } = this.#group;
      const { scans } = splitter;
      this.#group.add(line);
      this.#lastBody = line.batch.body;
      range.add(line);
      this.#blocks.add(line.timestamp, this.#counter?.add(this.#group) ?? null);
      this.#tokens?.add(this.#group);
      this.#lines += splitter.scans === scans ? 1 : SCANNED_LINES;
      if (this.#lines >= PAUSE_LINES || range.rawBytes - this.#pausedBytes >= PAUSE_BYTES) {
        this.#lines = 0;
        this.#pausedBytes = range.rawBytes;
        yield null;
      }
      if (this.#group.rows >= this.#groupRows || this.#group.rawBytes >= this.#groupBytes) yield* this.endGroup();
    }
    this.#lastBody = null;
  }

  /** Encodes the lines that are not in a full row group. Call before `finish`. */
  *endGroup(): Generator<Pause, void> {
    if (this.#group.rows === 0) return;
    this.#columns ??= chooseColumns(this.#group.splitter.shapes, this.#group.rows);
    const encoded = yield* encodeGroup(this.#group, this.#columns, this.#writer.size);
    this.#writer.add(encoded);
    this.#blocks.close(this.#group, encoded.bytes);
    if (this.#ownsBodies) this.#group.releaseBodies(this.#lastBody);
    this.#group.release();
    this.#group = new RowGroup(this.#exactShapes);
    yield null;
  }

  /** Returns the parts of the file that were encoded since the last call, in order. The footer is not one of them. */
  takeParts(): Uint8Array[] {
    return this.#writer.takeParts();
  }

  /**
   * Ends the file. Its last part is the footer.
   * @param properties further ones of the file's metadata
   */
  finish(properties: ReadonlyMap<string, string> = new Map()): EncodedFile {
    this.#group.release();
    const columns = this.#columns;
    const linesSha256 = this.#linesHash.digest("hex");
    const range = this.#range;
    const { count, firstSeq, lastSeq } = range;
    const projectId = this.#projectId;
    const known = {
      projectId,
      firstSeq,
      lastSeq,
      count,
      linesSha256,
      columns: columns ?? [],
      encoder: ENCODER_VERSION,
    };
    const footer = writeFooter({
      rows: count,
      columns: schemaOf(columns ?? []),
      rowGroups: this.#writer.groups,
      properties: new Map([...propertiesOf(known), ...properties]),
      createdBy: `taffrail ${FORMAT_VERSION}.${ENCODER_VERSION}`,
    });
    const { blocks } = this.#blocks;
    return { ...this.#writer.finish(footer), ...range, footer, linesSha256, columns, blocks };
  }
}

const LINE_FEED = Uint8Array.of(10);

/** Hashes lines with one call for each run of adjacent lines of a body. */
function hashLines(hash: Hash, lines: readonly SourceLine[]): void {
  for (let first = 0; first < lines.length; ) {
    const { batch, start = 0 } = lines[first] ?? {};
    let last = first;
    while (lines[last + 1]?.batch === batch && lines[last + 1]?.start === (lines[last]?.end ?? 0) + 1) last++;
    if (batch !== undefined) hash.update(batch.body.subarray(start, lines[last]?.end)).update(LINE_FEED);
    first = last + 1;
  }
}

class FileWriter {
  #parts: Uint8Array[] = [MAGIC];
  readonly #hash = createHash("sha256").update(MAGIC);
  readonly groups: RowGroupMeta[] = [];
  size = MAGIC.length;

  add({ parts, meta, bytes }: { parts: Uint8Array[]; meta: RowGroupMeta; bytes: number }): void {
    for (const part of parts) {
      this.#parts.push(part);
      this.#hash.update(part);
    }
    this.groups.push(meta);
    this.size += bytes;
  }

  takeParts(): Uint8Array[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  finish(footer: Uint8Array): { size: number; sha256: string } {
    return { size: this.size + footer.length, sha256: this.#hash.update(footer).digest("hex") };
  }
}
