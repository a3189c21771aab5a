import type { FileRange } from "../../platform/bucket.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { BodyRange, SegmentBody } from "../cold/format/segment.ts";
import { JOINED_BYTES } from "../segments/decode/group-bytes.ts";
import type { ByteRange, SegmentReader } from "../segments/decode/segment-reader.ts";
import type { CommitRange } from "../segments/scan/row-group-filter.ts";
import { type ScanPacer, WORK } from "./budget.ts";
import type { LogFilter } from "./filter.ts";
import type { ReadMemory } from "./memory.ts";
import { type FoundRows, NO_ROWS, type RowGroup } from "./row-group.ts";

/** Reads the bytes of segments. */
export interface BodySource {
  /**
   * Reads the first of the given ranges, up to the bytes of one response. An item is `null` if the segment was deleted.
   */
  readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]>;
  /**
   * Reads the first of the given ranges of files in the bucket, as many as memory allows. An item is `null` if the file
   * does not exist.
   */
  readFiles(ranges: readonly FileRange[]): Promise<(Uint8Array | null)[]>;
}

/** What a scan takes of row groups, and what it may use. */
export interface RowGroupScan {
  filter: LogFilter;
  pacer: ScanPacer;
  memory: ReadMemory;
  /** Rows that the scan needs at most; `null` if it reads all. Lines are not read ahead of more. */
  rows: number | null;
  /**
   * Returns the columns of a row group from which a count takes rows, so that their lines are not read. Absent if the scan
   * reads lines.
   */
  countedColumns?: ((reader: SegmentReader, group: number) => readonly number[]) | undefined;
}

/** Row groups whose columns are planned for one read. */
const MAX_PLANNED = 256;
/** Rows that are found ahead, each of 20 bytes. */
const MAX_ROWS_AHEAD = 16_384;
/** Bytes of the columns of lines that are read in one round, if memory is free. Each row group has rows of the page. */
const LINE_BYTES = 4 * 1024 * 1024;
/** Bytes of a row group up to which it is read at once. */
const WHOLE_BYTES = 64 * 1024;
/** Bytes of a range of several row groups. Ranges are read side by side. */
const MAX_JOINED_BYTES = 1024 * 1024;
/** Work units of a read of a range in the bucket, and of each byte. */
const RANGE_WORK = 60_000;
const RANGE_BYTE_WORK = 0.2;

/**
 * Reads row groups in few rounds of the bucket: first the columns of the filter, then the columns of the lines for row
 * groups in which rows were found. Each round reads for several row groups ahead.
 */
export class RowGroupReader {
  readonly #source: BodySource;
  readonly #workspaceId: string;
  readonly #scan: RowGroupScan;
  readonly #commits: CommitRange;
  /** Row groups that hold bytes. */
  readonly #read = new Set<RowGroup>();
  /** Rows of the row groups that were prepared. */
  #prepared = 0;

  constructor(source: BodySource, workspaceId: string, scan: RowGroupScan, commits: CommitRange) {
    this.#source = source;
    this.#workspaceId = workspaceId;
    this.#scan = scan;
    this.#commits = commits;
  }

  /**
   * Finds the rows of the first row group and reads the columns of their lines.
   * @param groups in scan order; the others may be read ahead
   * @param maxBytes of the columns of a filter in one round; the first row group may need more
   * @returns whether something had to be read
   */
  async prepare(groups: readonly RowGroup[], maxBytes: number): Promise<boolean> {
    const [wanted] = groups;
    if (wanted === undefined) return false;
    const hasRead = this.#plan(wanted).length > 0;
    if (hasRead) await this.#readRanges(await this.#filterColumnsOf(groups, maxBytes));
    await this.#find(wanted);
    if (this.#scan.countedColumns !== undefined) return hasRead;
    if (wanted.isEmpty) return hasRead;
    const isRead = wanted.bytes.missing(wanted.lineColumns, wanted.found).length === 0;
    if (!isRead) await this.#readAhead(groups, maxBytes);
    this.#prepared += wanted.found?.length ?? 0;
    return hasRead || !isRead;
  }

  /** Reads the lines of the rows found ahead and, if they do not fill the page, the columns of the filter of further row groups. */
  async #readAhead(groups: readonly RowGroup[], maxBytes: number): Promise<void> {
    const { found, isFull } = await this.#findAhead(groups);
    const lines = this.#linesOf(found);
    await this.#readRanges(isFull ? lines : [...lines, ...(await this.#filterColumnsOf(groups, maxBytes))]);
  }

  /**
   * Returns the positions of rows, and reads the columns of their lines if that was not done.
   * @param rows some of `group.found`
   * @throws UnreadableItem
   */
  async locate(group: RowGroup, rows: Int32Array | null): Promise<FoundRows> {
    if (rows === null || rows.length === 0) return NO_ROWS;
    await this.#readRanges(this.#linesOf([group], rows));
    const found = group.failure === null ? group.positionsOf(rows, this.#scan.pacer.meter) : NO_ROWS;
    if (group.failure !== null) throw group.failure;
    return found;
  }

  /** Returns the ranges that finding rows needs, and those of a count, if they were not read. */
  #plan(group: RowGroup): ByteRange[] {
    const { filter, pacer, countedColumns } = this.#scan;
    const planned = group.plan(filter, this.#commits, pacer.meter);
    if (planned === null) return [];
    const counted = countedColumns?.(group.file.reader, group.group);
    const isWhole = group.storedBytes <= WHOLE_BYTES || (counted === undefined && group.takesAll);
    return group.bytes.missing([...planned, ...(counted ?? []), ...(isWhole ? group.lineColumns : [])]);
  }

  /** Returns the columns of the filter, up to the given bytes, of the row groups of which they were not read. */
  async #filterColumnsOf(groups: readonly RowGroup[], maxBytes: number): Promise<Read[]> {
    const reads: Read[] = [];
    let left = maxBytes;
    for (const group of groups.slice(0, MAX_PLANNED)) {
      const ranges = this.#plan(group);
      left -= bytesOf(ranges);
      if (reads.length > 0 && left < 0) break;
      if (ranges.length > 0) reads.push({ group, ranges });
      await this.#scan.pacer.pause();
    }
    return reads;
  }

  async #find(group: RowGroup): Promise<void> {
    const { filter, pacer, memory } = this.#scan;
    if (group.found !== null || group.isEmpty) return;
    const columns = group.plan(filter, this.#commits, pacer.meter);
    if (columns === null) return;
    memory.recordDecoded(group.decodedBytesOf(columns));
    for (const _ of group.find()) {
      memory.renew();
      await pacer.pause();
    }
    memory.recordDecoded(0);
    await pacer.pause();
  }

  /**
   * Finds rows in row groups whose columns were read, until there are enough.
   * @returns the row groups with rows, and whether there are enough
   */
  async #findAhead(groups: readonly RowGroup[]): Promise<{ found: RowGroup[]; isFull: boolean }> {
    const left = this.#scan.rows === null ? MAX_ROWS_AHEAD : this.#scan.rows - this.#prepared;
    const most = Math.max(1, Math.min(left, MAX_ROWS_AHEAD));
    const found: RowGroup[] = [];
    let rows = 0;
    for (const group of groups) {
      if (rows >= most) break;
      if (group.found === null && this.#plan(group).length > 0) break;
      await this.#find(group);
      if (group.isEmpty) continue;
      rows += group.found?.length ?? 0;
      found.push(group);
    }
    return { found, isFull: rows >= most };
  }

  /** Returns the pages of the lines of rows that were found, or of `rows`. */
  #linesOf(groups: readonly RowGroup[], rows: Int32Array | null = null): Read[] {
    const reads: Read[] = [];
    let left = LINE_BYTES;
    for (const group of groups) {
      const ranges = group.bytes.missing(group.lineColumns, rows ?? group.found);
      left -= bytesOf(ranges);
      if (reads.length > 0 && left < 0) break;
      if (ranges.length > 0) reads.push({ group, ranges });
    }
    return reads;
  }

  /** Reads ranges: all of the first row group, and of the others as many as memory allows. */
  async #readRanges(reads: readonly Read[]): Promise<void> {
    const { meter } = this.#scan.pacer;
    const [first] = reads;
    const wanted = joinedRanges(reads);
    const own = wanted.filter(({ parts }) => parts.some(({ group }) => group === first?.group)).length;
    for (let at = 0; at < own; ) {
      const rest = wanted.slice(at);
      const read = await this.#source.readFiles(rest.map(({ key, start, end }) => ({ key, start, end })));
      if (read.length === 0) throw new RangeError("The store has omitted the first range.");
      for (const [index, bytes] of read.entries()) {
        const range = rest[index];
        if (range === undefined) continue;
        meter.add(RANGE_WORK + (bytes?.length ?? 0) * RANGE_BYTE_WORK);
        await this.#share(range, bytes);
      }
      at += read.length;
      this.#recordHeld();
    }
  }

  /** Gives each row group its bytes, in memory of its own so that they can be freed one by one. */
  async #share({ start, parts }: JoinedRange, bytes: Uint8Array | null): Promise<void> {
    for (const { group, ...range } of parts) {
      this.#read.add(group);
      if (bytes === null) await this.#lose(group);
      else if (parts.length === 1) group.bytes.add(start, bytes);
      else group.bytes.add(range.start, new Uint8Array(bytes.subarray(range.start - start, range.end - start)));
    }
    if (bytes !== null && parts.length > 1) detachBuffer(bytes);
  }

  #recordHeld(): void {
    let held = 0;
    for (const group of this.#read) {
      held += group.bytes.held;
      if (group.bytes.held === 0) this.#read.delete(group);
    }
    this.#scan.memory.recordInput(held);
  }

  /** A file is deleted after its row. A row that is still there has lost its file. */
  async #lose(group: RowGroup): Promise<void> {
    if (group.isEmpty) return;
    const { meta } = group.file;
    const [row] = await this.#source.readBodies(this.#workspaceId, [{ key: meta, start: 0, end: 0 }]);
    this.#scan.pacer.meter.add(WORK.segment);
    if (row) group.lose();
    else group.delete();
  }
}

/** Ranges of a row group that one round reads. */
interface Read {
  group: RowGroup;
  ranges: readonly ByteRange[];
}

/** A range of a file with those of several row groups. */
interface JoinedRange extends ByteRange {
  key: string;
  parts: (ByteRange & { group: RowGroup })[];
}

/** Joins neighbors. The ranges with those of the first row group come first, so that they are certainly read. */
function joinedRanges(reads: readonly Read[]): JoinedRange[] {
  const all = reads.flatMap(({ group, ranges }) => ranges.map((range) => ({ key: group.key, group, ...range })));
  const order = new Map([...new Set(all.map(({ key }) => key))].map((key, at) => [key, at]));
  all.sort((a, b) => (order.get(a.key) ?? 0) - (order.get(b.key) ?? 0) || a.start - b.start);
  const joined: JoinedRange[] = [];
  for (const { key, ...part } of all) {
    const last = joined.at(-1);
    const isNear =
      last?.key === key && part.start - last.end <= JOINED_BYTES && part.end - last.start <= MAX_JOINED_BYTES;
    if (last !== undefined && isNear) {
      last.end = Math.max(last.end, part.end);
      last.parts.push(part);
    } else joined.push({ key, start: part.start, end: part.end, parts: [part] });
  }
  const first = reads[0]?.group;
  const isOwn = ({ parts }: JoinedRange) => parts.some(({ group }) => group === first);
  return [...joined.filter(isOwn), ...joined.filter((range) => !isOwn(range))];
}

function bytesOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}
