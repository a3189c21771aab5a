import { detachBuffer } from "../../platform/isolate-memory.ts";
import { UnreadableItem } from "../batch.ts";
import { allBlocks, type BlockHits, blocksToRead } from "../cold/filter/block-filter.ts";
import type { Block } from "../cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../cold/format/decode.ts";
import { type BodyRange, CorruptSegment, type SegmentBody, type SegmentMeta } from "../cold/format/segment.ts";
import { type PagerSelection, type SegmentPage, SegmentPager, type SegmentSelection } from "../cold/store/selection.ts";
import { WORK } from "./budget.ts";
import { boundOf, type LineSource, nothingAt, type ScanFeed, type ScanItem } from "./feed.ts";

/** A segment with its block filter columns. */
export type FoundSegment = SegmentMeta & BlockHits;

/** The part of the cold tier that a scan reads. */
export interface ColdSource {
  findSegments(selection: SegmentSelection): Promise<SegmentPage<FoundSegment>>;
  /**
   * Reads the first of the given ranges, up to the bytes of one response. An item is `null` if the segment was deleted.
   */
  readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]>;
}

/** Number of segments examined for the first page, and the maximum on any page. Most queries need few. */
export const FIRST_SEGMENTS = 32;
const MAX_SEGMENTS = 256;
/** Number of segments examined for the first page of a query for an id, which excludes nearly all: 2.5 ms. */
export const ID_SEGMENTS = 128;

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

export interface StoredSelection extends PagerSelection {
  /** Excludes entries of this commit and earlier ones. */
  afterCommit?: number;
}

interface BlockBody {
  batchTable: BatchTable;
  /** The block, as a part of `run.bytes`. */
  bytes: Uint8Array;
  /** The bytes read at once, and the number of their blocks that are not decoded yet. */
  run: { bytes: Uint8Array; blocksLeft: number };
}

/** A block that the scan may reach, and its bytes after they were read. */
interface PendingBlock {
  meta: SegmentMeta;
  block: Block;
  bound: number;
  /** `undefined` until it was read; `null` if it was deleted. */
  body: BlockBody | CorruptSegment | null | undefined;
}

/** The blocks of the cold tier's segments, as scan items. */
export class ColdFeed implements ScanFeed {
  readonly #source: ColdSource;
  readonly #selection: StoredSelection;
  readonly #sign: number;
  readonly #pager: SegmentPager<FoundSegment>;
  /** Segments that are found but not yet split into blocks. */
  #metas: FoundSegment[] = [];
  /** Blocks in scan order. */
  #blocks: PendingBlock[] = [];
  /** Maximum bytes of the last read. */
  #bodyBytes = 0;
  /** Number of blocks in the segments found so far, and number of those that the filters leave. */
  #blocksFound = 0;
  #blocksLeft = 0;
  /** Work units spent on batch tables. */
  #readCost = 0;

  /** @param segments number of segments examined for the first page */
  static async open(source: ColdSource, selection: StoredSelection, segments = FIRST_SEGMENTS): Promise<ColdFeed> {
    const feed = new ColdFeed(source, selection, segments);
    if (!feed.#pager.isDone) await feed.#readPage();
    return feed;
  }

  private constructor(source: ColdSource, selection: StoredSelection, segments: number) {
    this.#source = source;
    this.#selection = selection;
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
    let known = this.#blocks.reduce((sum, { block }) => sum + block.end - block.start, 0);
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
    return blocks.reduce((sum, { block }) => sum + block.end - block.start, 0);
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
      return blocks.map((block) => ({ meta: found, block, bound: boundOf(order, block), body: undefined }));
    } catch (error) {
      if (!(error instanceof CorruptSegment)) throw error;
      const block: Block = { ...found, firstIndex: 0, lines: found.count, start: 0, end: 0 };
      return [{ meta: found, block, bound: boundOf(order, block), body: error }];
    }
  }

  async #open(wanted: PendingBlock): Promise<LineSource | null> {
    if (wanted.body === undefined) await this.#read(wanted);
    const { meta, block, body } = wanted;
    wanted.body = null;
    if (body === null || body === undefined) return null;
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

  /** Reads a block and the blocks that follow it in scan order, in the fewest ranges. */
  async #read(wanted: PendingBlock): Promise<void> {
    const isSparse = this.#blocksLeft <= this.#blocksFound * SPARSE_SHARE;
    const minBytes = isSparse ? FIRST_SPARSE_BYTES : FIRST_BODY_BYTES;
    const grown = Math.max(minBytes, this.#bodyBytes * (isSparse ? SPARSE_GROWTH : 2));
    this.#bodyBytes = Math.min(grown, MAX_BODY_BYTES);
    if (isSparse) this.#splitAhead(this.#bodyBytes);
    const blocks = [wanted];
    let bytes = wanted.block.end - wanted.block.start;
    for (const next of this.#blocks) {
      if (next.body !== undefined) continue;
      bytes += next.block.end - next.block.start;
      if (bytes > this.#bodyBytes) break;
      blocks.push(next);
    }
    const runs = joined(blocks);
    const ranges = runs.map(({ meta, start, end }) => ({ key: meta, start, end }));
    const bodies = await this.#source.readBodies(this.#selection.workspaceId, ranges);
    for (const [index, stored] of bodies.entries()) {
      const run = runs[index];
      if (run) share(run, stored);
      this.#readCost += WORK.segment + (stored?.batchTable.length ?? 0) * WORK.batchTableByte;
    }
    if (wanted.body === undefined) throw new RangeError("The store has omitted the first range.");
  }
}

/** Adjacent blocks of one segment. */
interface AdjacentBlocks {
  meta: SegmentMeta;
  start: number;
  end: number;
  blocks: PendingBlock[];
}

/** Joins adjacent blocks. The run with the first block comes first, so that it is certainly read. */
function joined(blocks: readonly PendingBlock[]): AdjacentBlocks[] {
  const runs: AdjacentBlocks[] = [];
  for (const pending of blocks) {
    const { start, end } = pending.block;
    const run = runs.find(({ meta, ...span }) => meta === pending.meta && (span.end === start || span.start === end));
    if (run) {
      run.start = Math.min(run.start, start);
      run.end = Math.max(run.end, end);
      run.blocks.push(pending);
    } else runs.push({ meta: pending.meta, start, end, blocks: [pending] });
  }
  return runs;
}

function share({ meta, start, blocks }: AdjacentBlocks, stored: SegmentBody | null): void {
  const batchTable = stored && batchTableOf(meta, stored);
  const run = { bytes: stored?.bytes ?? new Uint8Array(), blocksLeft: blocks.length };
  for (const pending of blocks) {
    const { block } = pending;
    if (!(batchTable instanceof BatchTable)) pending.body = batchTable;
    else pending.body = { batchTable, bytes: run.bytes.subarray(block.start - start, block.end - start), run };
  }
}

/** Returns the batch table, or the error. An error affects only the blocks of its segment. */
function batchTableOf(meta: SegmentMeta, { batchTable }: SegmentBody): BatchTable | CorruptSegment {
  try {
    return new BatchTable(meta, batchTable);
  } catch (error) {
    if (error instanceof CorruptSegment) return error;
    throw error;
  }
}
