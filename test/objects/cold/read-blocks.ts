import type { Block } from "../../../src/logs/cold/format/batch-table.ts";
import { BatchTable, type DecodedBlock, decodeBlock } from "../../../src/logs/cold/format/decode.ts";
import { type BodyRange, CorruptSegment, type SegmentMeta } from "../../../src/logs/cold/format/segment.ts";
import type { SegmentStore } from "../../../src/logs/cold/store/store.ts";

/** The requested blocks of one segment. */
export interface WantedBlocks {
  meta: SegmentMeta;
  blocks: readonly Block[];
}

/** Adjacent blocks, which are one range of a body. */
interface BlockRange extends BodyRange {
  meta: SegmentMeta;
  blocks: Block[];
}

/**
 * Reads blocks and decodes them for scanning, in the requested order. Bodies arrive a few megabytes at a time, so that
 * a caller that stops early has read little. Skips a segment that was deleted in the meantime.
 *
 * @param asOf last commit that counts; null for all
 * @throws CorruptSegment
 */
export async function* readBlocks(
  store: SegmentStore,
  workspaceId: string,
  wanted: readonly WantedBlocks[],
  asOf: number | null,
): AsyncGenerator<DecodedBlock> {
  const runs = wanted.flatMap(runsOf);
  for (let at = 0; at < runs.length; ) {
    const bodies = await store.readBodies(workspaceId, runs.slice(at));
    for (const stored of bodies) {
      const run = runs[at++];
      if (stored === null || run === undefined) continue;
      if (stored.bytes.length !== run.end - run.start) throw new CorruptSegment(run.key, "its body ends too early");
      const batchTable = new BatchTable(run.meta, stored.batchTable);
      for (const block of run.blocks) {
        const bytes = stored.bytes.subarray(block.start - run.start, block.end - run.start);
        yield decodeBlock(run.key, batchTable, block, bytes, asOf);
      }
    }
  }
}

function runsOf({ meta, blocks }: WantedBlocks): BlockRange[] {
  const runs: BlockRange[] = [];
  for (const block of blocks) {
    const last = runs.at(-1);
    if (last?.end === block.start) {
      last.blocks.push(block);
      last.end = block.end;
    } else runs.push({ key: meta, meta, blocks: [block], start: block.start, end: block.end });
  }
  return runs;
}
