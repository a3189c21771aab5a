import { type FrameHits, frameMask } from "./frame-filter.ts";
import { type Frame, readFrames } from "./frame-index.ts";
import { CorruptSegment, type SegmentMeta } from "./segment.ts";
import type { TokenTest } from "./tokens.ts";

/** What a query asks of a frame. */
export interface FrameSelection {
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
export function framesToRead(
  found: SegmentMeta & FrameHits,
  selection: FrameSelection,
  all: readonly Frame[] = allFrames(found),
): Frame[] {
  const { from, to, levelMask, tests } = selection;
  const mayHold = frameMask(tests, found);
  return all.filter(
    (frame, index) =>
      (from === null || frame.maxTimestamp >= from) &&
      (to === null || frame.minTimestamp < to) &&
      (frame.levelMask & levelMask) !== 0 &&
      mayHold(index),
  );
}

/** @throws CorruptSegment */
export function allFrames(meta: SegmentMeta): Frame[] {
  let frames: Frame[];
  try {
    frames = readFrames(meta);
  } catch (error) {
    throw new CorruptSegment(meta, "its frames cannot be read", error);
  }
  if (frames.reduce((sum, { lines }) => sum + lines, 0) === meta.count) return frames;
  throw new CorruptSegment(meta, "its frames count other entries");
}
