import { ByteCache, ISOLATE_BUDGET } from "../../platform/isolate-memory.ts";
import { allBlocks } from "../cold/filter/block-filter.ts";
import type { Block } from "../cold/format/batch-table.ts";
import { BatchTable } from "../cold/format/decode.ts";
import { CorruptSegment, FILE_HEAD_BYTES, type SegmentBody, type SegmentMeta } from "../cold/format/segment.ts";
import { WORK, type WorkMeter } from "./budget.ts";
import { type OpenFile, openFile, RowGroup } from "./row-group.ts";
import type { BodySource } from "./row-group-reader.ts";

/** The bytes of a block of lines. */
export interface BlockBody {
  batchTable: BatchTable;
  /** The block, as a part of `run.bytes`. */
  bytes: Uint8Array;
  /** The bytes read at once, and the number of their blocks that are not decoded yet. */
  run: { bytes: Uint8Array; blocksLeft: number };
}

/** A block that the scan may reach, and its bytes after they were read. */
export interface PendingBlock {
  meta: SegmentMeta;
  block: Block;
  bound: number;
  /** Index of the block in its segment. */
  index: number;
  /** `undefined` until it was read; `null` if it was deleted. */
  body: BlockBody | RowGroup | CorruptSegment | null | undefined;
}

// Module state: one instance per isolate, shared by all its requests and objects.
/** Footers by the keys of their files, which contain the hash of their bytes. A file never changes. */
const footers = new ByteCache<Uint8Array, string>(ISOLATE_BUDGET.footers);

/** Reads the bodies of blocks, and the footers of files that are not cached, from D1. */
export class BodyReader {
  readonly #source: BodySource;
  readonly #workspaceId: string;
  readonly #meter: WorkMeter;
  /** Files in the bucket that were opened. */
  readonly #files = new WeakMap<SegmentMeta, OpenFile>();

  constructor(source: BodySource, workspaceId: string, meter: WorkMeter) {
    this.#source = source;
    this.#workspaceId = workspaceId;
    this.#meter = meter;
  }

  /**
   * Returns the bytes that D1 sends for blocks. The footer of a file in the bucket is sent once for all of its blocks.
   * @param sent segments whose footer was counted; receives those of the blocks
   */
  bytesOf(blocks: readonly PendingBlock[], sent = new Set<SegmentMeta>()): number {
    let bytes = 0;
    for (const { meta, block } of blocks) {
      const { parquet } = meta;
      if (parquet === undefined || parquet.isInline) bytes += block.end - block.start;
      if (parquet?.isInline) bytes += parquet.footerBytes;
      if (parquet === undefined || parquet.isInline || this.#files.has(meta) || sent.has(meta)) continue;
      bytes += parquet.footerBytes;
      sent.add(meta);
    }
    return bytes;
  }

  /** Reads blocks in the fewest ranges. The first is certainly read. @returns work units */
  async read(blocks: readonly PendingBlock[]): Promise<number> {
    const runs = joined(blocks.filter((pending) => !this.#takeOpened(pending)));
    if (runs.length === 0) return 0;
    const ranges = runs.map(({ meta, start, end }) => {
      return { key: meta, start, end, footerBytes: meta.parquet?.footerBytes ?? 0 };
    });
    const bodies = await this.#source.readBodies(this.#workspaceId, ranges);
    let cost = 0;
    for (const [index, stored] of bodies.entries()) {
      const run = runs[index];
      if (run === undefined) continue;
      if (run.meta.parquet === undefined) cost += WORK.segment + (stored?.batchTable.length ?? 0) * WORK.batchTableByte;
      share(run, stored, (footer, key) => this.#open(run.meta, footer, key));
    }
    if (blocks[0]?.body === undefined) throw new RangeError("The store has omitted the first range.");
    return cost;
  }

  /** Whether a block is in a file in the bucket that was opened before, or whose footer is cached. */
  #takeOpened(pending: PendingBlock): boolean {
    const file = this.#files.get(pending.meta) ?? this.#openCached(pending.meta);
    if (file !== undefined) pending.body = new RowGroup(file, pending.index, pending.block.rawBytes);
    return file !== undefined;
  }

  /** If the segment was deleted, its file is missing in the bucket; see `RowGroupReader`. */
  #openCached(meta: SegmentMeta): OpenFile | undefined {
    const key = meta.parquet?.file;
    const footer = key === undefined ? undefined : footers.get(key);
    if (key === undefined || footer === undefined) return undefined;
    try {
      return this.#open(meta, footer, key);
    } catch (error) {
      // What D1 has of the segment decides.
      if (error instanceof CorruptSegment) return undefined;
      throw error;
    }
  }

  /** @throws CorruptSegment */
  #open(meta: SegmentMeta, footer: Uint8Array, key: string | null): OpenFile {
    const file = openFile(meta, allBlocks(meta), footer, key, this.#meter);
    if (key !== null) {
      this.#files.set(meta, file);
      footers.set(key, footer, footer.length);
    }
    return file;
  }
}

/** Adjacent blocks of one segment; all wanted blocks of a file in the bucket. */
interface AdjacentBlocks {
  meta: SegmentMeta;
  /** Bytes of the body. */
  start: number;
  end: number;
  blocks: PendingBlock[];
}

/** Joins adjacent blocks. The run with the first block comes first, so that it is certainly read. */
function joined(blocks: readonly PendingBlock[]): AdjacentBlocks[] {
  const runs: AdjacentBlocks[] = [];
  for (const pending of blocks) {
    const { start, end } = rangeOf(pending);
    const run = runs.find(({ meta, ...span }) => meta === pending.meta && (span.end === start || span.start === end));
    if (run) {
      run.start = Math.min(run.start, start);
      run.end = Math.max(run.end, end);
      run.blocks.push(pending);
    } else runs.push({ meta: pending.meta, start, end, blocks: [pending] });
  }
  return runs;
}

/** Returns the bytes of the body that a block needs: none if the file is in the bucket. */
function rangeOf({ meta: { parquet }, block: { start, end } }: PendingBlock): { start: number; end: number } {
  if (parquet === undefined) return { start, end };
  return parquet.isInline ? { start: FILE_HEAD_BYTES + start, end: FILE_HEAD_BYTES + end } : { start: 0, end: 0 };
}

function share(
  { meta, start, blocks }: AdjacentBlocks,
  stored: SegmentBody | null,
  open: (footer: Uint8Array, key: string | null) => OpenFile,
): void {
  const content = stored && contentOf(meta, stored, open);
  const run = { bytes: stored?.bytes ?? new Uint8Array(), blocksLeft: blocks.length };
  for (const pending of blocks) {
    const { block, index } = pending;
    const range = rangeOf(pending);
    const bytes = run.bytes.subarray(range.start - start, range.end - start);
    if (content === null || content instanceof CorruptSegment) pending.body = content;
    else if (content instanceof BatchTable) pending.body = { batchTable: content, bytes, run };
    else pending.body = groupOf(content, index, block, range.start, bytes);
  }
}

function groupOf(file: OpenFile, index: number, block: Block, start: number, bytes: Uint8Array) {
  const group = new RowGroup(file, index, block.rawBytes);
  if (file.key !== null) return group;
  if (bytes.length !== block.end - block.start) return new CorruptSegment(file.meta, "its row lacks bytes of its file");
  // Bytes of its own, so that they can be freed when the row group was read.
  group.bytes.add(start, bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice());
  return group;
}

/** Returns the batch table or the file, or the error. An error affects only the blocks of its segment. */
function contentOf(
  meta: SegmentMeta,
  { batchTable, file }: SegmentBody,
  open: (footer: Uint8Array, key: string | null) => OpenFile,
): BatchTable | OpenFile | CorruptSegment {
  try {
    return meta.parquet === undefined ? new BatchTable(meta, batchTable) : open(batchTable, file ?? null);
  } catch (error) {
    if (error instanceof CorruptSegment) return error;
    throw error;
  }
}
