import { decodeFrame, type ScanUnit, SegmentDirectory } from "../../../src/logs/cold/decode.ts";
import type { Frame } from "../../../src/logs/cold/frame-index.ts";
import { type BodyRange, CorruptSegment, type SegmentMeta } from "../../../src/logs/cold/segment.ts";
import type { SegmentStore } from "../../../src/logs/cold/store.ts";

/** Frames of one segment that are wanted. */
export interface WantedFrames {
  meta: SegmentMeta;
  frames: readonly Frame[];
}

/** Frames that lie side by side: one range of a body. */
interface FrameRun extends BodyRange {
  meta: SegmentMeta;
  frames: Frame[];
}

/**
 * Reads frames and makes them ready to be scanned, in the order asked for. Bodies come some megabytes at a time, so
 * whoever stops early has read little in vain. A segment that has been deleted meanwhile is passed over.
 *
 * @param asOf last commit that counts; null for all
 * @throws CorruptSegment
 */
export async function* readUnits(
  store: SegmentStore,
  workspaceId: string,
  wanted: readonly WantedFrames[],
  asOf: number | null,
): AsyncGenerator<ScanUnit> {
  const runs = wanted.flatMap(runsOf);
  for (let at = 0; at < runs.length; ) {
    const bodies = await store.readBodies(workspaceId, runs.slice(at));
    for (const stored of bodies) {
      const run = runs[at++];
      if (stored === null || run === undefined) continue;
      if (stored.bytes.length !== run.end - run.start) throw new CorruptSegment(run.key, "its body ends too early");
      const directory = new SegmentDirectory(run.meta, stored.directory);
      for (const frame of run.frames) {
        const bytes = stored.bytes.subarray(frame.start - run.start, frame.end - run.start);
        yield decodeFrame(run.key, directory, frame, bytes, asOf);
      }
    }
  }
}

function runsOf({ meta, frames }: WantedFrames): FrameRun[] {
  const runs: FrameRun[] = [];
  for (const frame of frames) {
    const last = runs.at(-1);
    if (last?.end === frame.start) {
      last.frames.push(frame);
      last.end = frame.end;
    } else runs.push({ key: meta, meta, frames: [frame], start: frame.start, end: frame.end });
  }
  return runs;
}
