import { detachBuffer } from "../../platform/isolate-memory.ts";
import { UnreadableItem } from "../batch.ts";
import { allBlocks, type BlockHits, blocksToRead } from "../cold/filter/block-filter.ts";
import type { Block } from "../cold/format/batch-table.ts";
import { decodeBlock } from "../cold/format/decode.ts";
import { CorruptSegment, type SegmentMeta } from "../cold/format/segment.ts";
import { type PagerSelection, type SegmentPage, SegmentPager, type SegmentSelection } from "../cold/store/selection.ts";
import { BodyReader, type PendingBlock } from "./body-reader.ts";
import { ScanPacer } from "./budget.ts";
import { boundOf, type LineSource, nothingAt, type RowSource, type ScanFeed, type ScanItem } from "./feed.ts";
import { OPEN_FILTER } from "./filter.ts";
import { UNBOUNDED_MEMORY } from "./memory.ts";
import { RowGroup } from "./row-group.ts";
import { RowGroupLines } from "./row-group-lines.ts";
import { type BodySource, RowGroupReader, type RowGroupScan } from "./row-group-reader.ts";

/** A segment with its block filter columns. */
export type FoundSegment = SegmentMeta & BlockHits;

/** The part of the cold tier that a scan reads. */
export interface ColdSource extends BodySource {
  findSegments(selection: SegmentSelection): Promise<SegmentPage<FoundSegment>>;
}

/** Number of segments examined for the first page, and the maximum on any page. Most queries need few. */
export const FIRST_SEGMENTS = 32;
export const MAX_SEGMENTS = 256;
/** Number of segments examined for the first page of a count, and of a query whose tests exclude most: 2.5 ms. */
export const LONG_SEGMENTS = 128;

/** Bytes of bodies, as stored, in the first read. Each further read doubles them. Most queries need few blocks. */
const FIRST_BODY_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Like `FIRST_BODY_BYTES`, if filters leave few blocks: then all of them are likely to be needed, and reading a block
 * costs a tenth of a request.
 */
const FIRST_SPARSE_BYTES = 256 * 1024;
const SPARSE_GROWTH = 4;
/** Maximum share of the segments' blocks that counts as few. */
const SPARSE_SHARE = 0.25;
/** Bytes of the columns of a filter in the first round of the bucket. Each further one takes four times as many. */
const FIRST_GROUP_BYTES = 256 * 1024;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
const GROUP_GROWTH = 4;
/** Blocks among which row groups are read ahead. */
const MAX_AHEAD = 256;

export interface StoredSelection extends PagerSelection {
  /** Excludes entries of this commit and earlier ones. */
  afterCommit?: number;
}

/** Returns how a scan reads row groups if it takes all rows. */
function everyRow(): RowGroupScan {
  return { filter: OPEN_FILTER, pacer: new ScanPacer(), memory: UNBOUNDED_MEMORY, rows: null };
}

/** The blocks and row groups of the cold tier's segments, as scan items. */
export class ColdFeed implements ScanFeed {
  readonly #selection: StoredSelection;
  readonly #sign: number;
  readonly #pager: SegmentPager<FoundSegment>;
  readonly #scan: RowGroupScan;
  readonly #bodies: BodyReader;
  readonly #groups: RowGroupReader;
  /** Segments that are found but not yet split into blocks. */
  #metas: FoundSegment[] = [];
  /** Blocks in scan order. */
  #blocks: PendingBlock[] = [];
  /** Maximum bytes of the last read. */
  #bodyBytes = 0;
  /** Like `#bodyBytes`, for row groups. */
  #groupBytes = FIRST_GROUP_BYTES;
  /** Number of blocks in the segments found so far, and number of those that the filters leave. */
  #blocksFound = 0;
  #blocksLeft = 0;
  /** Work units spent on batch tables. */
  #readCost = 0;

  /**
   * @param segments number of segments examined for the first page
   * @param scan for row groups. Rows that do not pass its filter are left out of the items
   */
  static async open(
    source: ColdSource,
    selection: StoredSelection,
    segments = FIRST_SEGMENTS,
    scan = everyRow(),
  ): Promise<ColdFeed> {
    const feed = new ColdFeed(source, selection, segments, scan);
    if (!feed.#pager.isDone) await feed.#readPage();
    return feed;
  }

  private constructor(source: ColdSource, selection: StoredSelection, segments: number, scan: RowGroupScan) {
    const { workspaceId, asOf, afterCommit = 0 } = selection;
    this.#selection = selection;
    this.#scan = scan;
    this.#bodies = new BodyReader(source, workspaceId, scan.pacer.meter);
    this.#groups = new RowGroupReader(source, workspaceId, scan, { asOf, afterCommit });
    // What filters leave is likely to be needed, and a count needs all.
    if (selection.tests.length > 0 || scan.rows === null) this.#groupBytes = MAX_GROUP_BYTES;
    this.#sign = selection.order === "desc" ? -1 : 1;
    this.#pager = new SegmentPager((wanted) => source.findSegments(wanted), selection, MAX_SEGMENTS, segments);
  }

  bound(): number | null {
    return this.#unseenBound() ?? this.#blocks[0]?.bound ?? null;
  }

  get cost(): number {
    return this.#pager.cost + this.#readCost;
  }

  async take(): Promise<ScanItem> {
    const unseen = this.#unseenBound();
    if (unseen !== null) {
      await this.#readPage();
      return nothingAt("cold", unseen);
    }
    const taken = this.#blocks.shift();
    if (!taken) throw new RangeError("There is no further block.");
    this.#splitNearSegments();
    const { meta, block } = taken;
    const { asOf, afterCommit = 0 } = this.#selection;
    return {
      tier: "cold",
      count: block.lines,
      minTimestamp: block.minTimestamp,
      maxTimestamp: block.maxTimestamp,
      isWhole: (asOf === null || meta.maxCommit <= asOf) && meta.minCommit > afterCommit,
      seqs: { projectId: meta.projectId, first: meta.firstSeq, last: meta.lastSeq },
      loadedBytes: 0,
      open: () => this.#open(taken),
      openRows: this.#scan.countedColumns && meta.parquet ? () => this.#openRows(taken) : undefined,
    };
  }

  /** Returns the bound of the segments that were not examined yet, if they may hold the next block. */
  #unseenBound(): number | null {
    const { position } = this.#pager;
    if (position === null) return null;
    const bound = boundOf(this.#selection.order, position);
    const [next] = this.#blocks;
    return next && this.#sign * (next.bound - bound) < 0 ? null : bound;
  }

  async #readPage(): Promise<void> {
    this.#metas.push(...(await this.#pager.page()));
    this.#splitNearSegments();
  }

  /** Splits found segments into blocks until no further segment can hold a block before the next one. */
  #splitNearSegments(): void {
    for (;;) {
      const [meta] = this.#metas;
      const [next] = this.#blocks;
      if (!meta || (next && this.#sign * (next.bound - boundOf(this.#selection.order, meta)) < 0)) return;
      this.#metas.shift();
      this.#splitSegment(meta);
    }
  }

  /**
   * Splits further segments until the known blocks have the given bytes, so that they can be read together with the
   * next.
   */
  #splitAhead(bytes: number): void {
    let known = this.#bodies.bytesOf(this.#blocks);
    while (known < bytes) {
      const meta = this.#metas.shift();
      if (!meta) return;
      known += this.#splitSegment(meta);
    }
  }

  /** Splits a segment into blocks. @returns the bytes of its blocks */
  #splitSegment(meta: FoundSegment): number {
    const blocks = this.#blocksOf(meta);
    this.#blocks.push(...blocks);
    this.#blocks.sort((a, b) => this.#sign * (a.bound - b.bound));
    return this.#bodies.bytesOf(blocks);
  }

  /**
   * Returns the blocks of a segment that may hold a matching entry. A segment with a corrupt index becomes one failing
   * block.
   */
  #blocksOf(found: FoundSegment): PendingBlock[] {
    const { order } = this.#selection;
    try {
      const all = allBlocks(found);
      const blocks = blocksToRead(found, this.#selection, all);
      this.#blocksFound += all.length;
      this.#blocksLeft += blocks.length;
      return blocks.map((block) => ({
        meta: found,
        block,
        bound: boundOf(order, block),
        index: all.indexOf(block),
        body: undefined,
      }));
    } catch (error) {
      if (!(error instanceof CorruptSegment)) throw error;
      const block: Block = { ...found, firstIndex: 0, lines: found.count, start: 0, end: 0 };
      return [{ meta: found, block, bound: boundOf(order, block), index: 0, body: error }];
    }
  }

  async #open(wanted: PendingBlock): Promise<LineSource | null> {
    if (wanted.body === undefined) await this.#read(wanted);
    const { meta, block, body } = wanted;
    wanted.body = null;
    if (body === null || body === undefined) return null;
    if (body instanceof RowGroup) return this.#openGroup(body);
    try {
      if (body instanceof CorruptSegment) throw body;
      const { asOf, afterCommit } = this.#selection;
      const { batchTable, bytes, run } = body;
      const lines = decodeBlock(meta, batchTable, block, bytes, asOf, afterCommit);
      run.blocksLeft--;
      if (run.blocksLeft === 0) detachBuffer(run.bytes);
      return lines;
    } catch (error) {
      throw error instanceof CorruptSegment ? new UnreadableItem(error.message, { cause: error }) : error;
    }
  }

  async #openGroup(group: RowGroup): Promise<LineSource | null> {
    await this.#prepare(group);
    if (group.isDeleted) return null;
    return this.#linesOfRows(group, group.found);
  }

  /** Finds the rows of a row group that pass, and reads what the scan needs of them. @throws UnreadableItem */
  async #prepare(group: RowGroup): Promise<void> {
    const ahead = this.#blocks
      .slice(0, MAX_AHEAD)
      .map(({ body }) => body)
      .filter((body) => body instanceof RowGroup);
    const hasRead = await this.#groups.prepare([group, ...ahead], this.#groupBytes);
    if (hasRead) this.#groupBytes = Math.min(this.#groupBytes * GROUP_GROWTH, MAX_GROUP_BYTES);
    if (group.failure !== null) throw group.failure;
  }

  async #openRows(wanted: PendingBlock): Promise<RowSource | null> {
    if (wanted.body === undefined) await this.#read(wanted);
    const { body } = wanted;
    wanted.body = null;
    if (body instanceof CorruptSegment) throw new UnreadableItem(body.message, { cause: body });
    if (!(body instanceof RowGroup)) return null;
    await this.#prepare(body);
    if (body.isDeleted) return null;
    return { group: body, linesOf: (rows) => this.#linesOfRows(body, rows) };
  }

  /** Returns the lines of some rows of a row group, and reads them before if necessary. @throws UnreadableItem */
  async #linesOfRows(group: RowGroup, rows: Int32Array | null): Promise<LineSource> {
    const { pacer, memory } = this.#scan;
    const found = await this.#groups.locate(group, rows);
    return new RowGroupLines(group, this.#selection.order, pacer.meter, memory, found);
  }

  /** Reads a block and the blocks that follow it in scan order, in the fewest ranges. */
  async #read(wanted: PendingBlock): Promise<void> {
    // The first row groups of a page are mostly enough. A count needs every file, and a needle those that its tests leave.
    const isFile = wanted.meta.parquet !== undefined;
    const isEach = isFile && (this.#scan.rows === null || this.#selection.tests.length > 0);
    const isLong = isFile && this.#groupBytes > FIRST_GROUP_BYTES;
    const isSparse = isEach || isLong || this.#blocksLeft <= this.#blocksFound * SPARSE_SHARE;
    const minBytes = isEach ? MAX_BODY_BYTES : isSparse ? FIRST_SPARSE_BYTES : FIRST_BODY_BYTES;
    const grown = Math.max(minBytes, this.#bodyBytes * (isSparse ? SPARSE_GROWTH : 2));
    this.#bodyBytes = Math.min(grown, MAX_BODY_BYTES);
    if (isSparse) this.#splitAhead(this.#bodyBytes);
    const blocks = [wanted];
    const sent = new Set<SegmentMeta>();
    let bytes = this.#bodies.bytesOf([wanted], sent);
    for (const next of this.#blocks) {
      if (next.body !== undefined) continue;
      bytes += this.#bodies.bytesOf([next], sent);
      if (bytes > this.#bodyBytes) break;
      blocks.push(next);
    }
    this.#readCost += await this.#bodies.read(blocks);
  }
}
