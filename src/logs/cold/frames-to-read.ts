import { type BlockHits, blockMask } from "./frame-filter.ts";
import { type Block, readBlockIndex } from "./frame-index.ts";
import { CorruptSegment, type SegmentMeta } from "./segment.ts";
import type { TokenTest } from "./tokens.ts";

/** What a query asks of a frame. */
export interface BlockSelection {
  /** Epoch milliseconds: `from <= timestamp < to`. Null: open. */
  from: number | null;
  to: number | null;
  levelMask: number;
  /** The tests that the segment was found with. */
  tests: readonly TokenTest[];
}

/**
 * The frames of a segment found that may hold an entry wanted, in order.
 * @throws CorruptSegment
 */
export function blocksToRead(
  found: SegmentMeta & BlockHits,
  selection: BlockSelection,
  all: readonly Block[] = allBlocks(found),
): Block[] {
  const { from, to, levelMask, tests } = selection;
  const mayHold = blockMask(tests, found);
  return all.filter(
    (block, index) =>
      (from === null || block.maxTimestamp >= from) &&
      (to === null || block.minTimestamp < to) &&
      (block.levelMask & levelMask) !== 0 &&
      mayHold(index),
  );
}

/** @throws CorruptSegment */
export function allBlocks(meta: SegmentMeta): Block[] {
  let blocks: Block[];
  try {
    blocks = readBlockIndex(meta);
  } catch (error) {
    throw new CorruptSegment(meta, "its frames cannot be read", error);
  }
  if (blocks.reduce((sum, { lines }) => sum + lines, 0) === meta.count) return blocks;
  throw new CorruptSegment(meta, "its frames count other entries");
}
