import { createHash, type Hash } from "node:crypto";
import type { SourceLine } from "../../cold/format/lines.ts";
import { type DataColumn, schemaOf } from "../columns.ts";
import { MAGIC, METADATA_LIMITS, type RowGroupMeta } from "../parquet/metadata.ts";
import { writeFooter } from "../parquet/write-footer.ts";
import { ENCODER_VERSION, FORMAT_VERSION, propertiesOf } from "../properties.ts";
import { chooseColumns } from "./choose-columns.ts";
import { EntryCounter } from "./counter.ts";
import { encodeGroup } from "./encode-group.ts";
import { RowGroup } from "./row-group.ts";
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
}

/** Rows of a row group; see the decision record on segment files. */
const GROUP_ROWS = 25_000;
/** Bytes of lines at which a row group ends. Its lines are in memory until it is encoded. */
export const GROUP_BYTES = 8 * 1024 * 1024;
/** Lines, and bytes of lines, that are split between two pauses. */
const PAUSE_LINES = 2048;
const PAUSE_BYTES = 1024 * 1024;

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
}

/**
 * Encodes lines of one project as a Parquet file, in steps of some milliseconds. Equal lines and options give equal
 * bytes.
 *
 * @param lines in order of `seq`, at least one. Their bodies must not change until the row group is encoded
 * @throws RangeError if there is no line, the order is wrong, or a line is not an entry
 */
export function* encodeSegment(
  projectId: string,
  lines: Iterable<readonly SourceLine[]>,
  { columns: given = null, groupRows = GROUP_ROWS, groupBytes = GROUP_BYTES }: Partial<EncodeOptions> = {},
): Generator<Pause, SegmentFile> {
  if (groupRows > METADATA_LIMITS.groupRows) throw new RangeError("A row group has too many rows.");
  const writer = new FileWriter();
  const counter = new EntryCounter();
  const range = new RangeTracker();
  const hash = createHash("sha256");
  let columns = given;
  let group = new RowGroup();
  let pausedAt = 0;
  let pausedBytes = 0;
  function* close(): Generator<Pause, void> {
    if (group.rows === 0) return;
    columns ??= chooseColumns(group.splitter.shapes, group.rows);
    writer.add(yield* encodeGroup(group, columns, writer.size));
    group = new RowGroup();
    yield null;
  }
  for (const list of lines) {
    hashLines(hash, list);
    for (const line of list) {
      group.add(line);
      range.add(line);
      counter.add(group);
      if (range.count - pausedAt >= PAUSE_LINES || range.rawBytes - pausedBytes >= PAUSE_BYTES) {
        pausedAt = range.count;
        pausedBytes = range.rawBytes;
        yield null;
      }
      if (group.rows >= groupRows || group.rawBytes >= groupBytes) yield* close();
    }
  }
  yield* close();
  if (range.count === 0 || columns === null) throw new RangeError("A segment has at least one entry.");
  const linesSha256 = hash.digest("hex");
  const { count, firstSeq, lastSeq } = range;
  const footer = writeFooter({
    rows: count,
    columns: schemaOf(columns),
    rowGroups: writer.groups,
    properties: propertiesOf({ projectId, firstSeq, lastSeq, count, linesSha256, columns, encoder: ENCODER_VERSION }),
    createdBy: `taffrail ${FORMAT_VERSION}.${ENCODER_VERSION}`,
  });
  const file = writer.finish(footer);
  return {
    ...file,
    ...range,
    ...counter.pack(),
    footer,
    levelMask: counter.levelMask,
    categoryMask: counter.categoryMask,
    linesSha256,
    columns,
  };
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
  readonly #parts: Uint8Array[] = [MAGIC];
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

  finish(footer: Uint8Array): { parts: Uint8Array[]; size: number; sha256: string } {
    const sha256 = this.#hash.update(footer).digest("hex");
    return { parts: [...this.#parts, footer], size: this.size + footer.length, sha256 };
  }
}

class RangeTracker {
  count = 0;
  firstSeq = 0;
  lastSeq = 0;
  minTimestamp = Number.POSITIVE_INFINITY;
  maxTimestamp = Number.NEGATIVE_INFINITY;
  minReceivedAt = Number.POSITIVE_INFINITY;
  maxReceivedAt = Number.NEGATIVE_INFINITY;
  minCommit = Number.POSITIVE_INFINITY;
  maxCommit = Number.NEGATIVE_INFINITY;
  rawBytes = 0;

  add({ seq, timestamp, start, end, batch: { commit, receivedAt } }: SourceLine): void {
    if (seq <= this.lastSeq) throw new RangeError("The lines are not in order of seq.");
    if (this.count++ === 0) this.firstSeq = seq;
    this.lastSeq = seq;
    this.rawBytes += end - start + 1;
    if (timestamp < this.minTimestamp) this.minTimestamp = timestamp;
    if (timestamp > this.maxTimestamp) this.maxTimestamp = timestamp;
    if (receivedAt < this.minReceivedAt) this.minReceivedAt = receivedAt;
    if (receivedAt > this.maxReceivedAt) this.maxReceivedAt = receivedAt;
    if (commit < this.minCommit) this.minCommit = commit;
    if (commit > this.maxCommit) this.maxCommit = commit;
  }
}
