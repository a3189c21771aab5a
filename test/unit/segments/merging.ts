import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { GroupBytes } from "../../../src/logs/segments/decode/group-bytes.ts";
import { columnCountsOf } from "../../../src/logs/segments/decode/source-lines.ts";
import { mergeColumns } from "../../../src/logs/segments/encode/choose-columns.ts";
import { encodeSegment, type SegmentFile } from "../../../src/logs/segments/encode/encode-segment.ts";
import { canCopy } from "../../../src/logs/segments/merge/copy-group.ts";
import { type MergeOptions, SegmentMerger } from "../../../src/logs/segments/merge/segment-merger.ts";
import { batchesOf, bytesOf, open, PROJECT } from "./support.ts";

/** Runs a generator to its end. One that waits is run by `awaited`. */
export function done<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value instanceof Promise) throw new Error("The generator waits.");
  }
}

/** Runs a generator to its end, and waits for its promises. */
export async function awaited<T>(steps: Generator<unknown, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await step.value;
  }
}

/** Encodes lines as consecutive files. @param ends seq of the last line of each but the last file */
export function filesOf(lines: readonly string[], ends: readonly number[], groupRows = 25_000): SegmentFile[] {
  const batches = batchesOf(lines, 13);
  const starts = [1, ...ends.map((end) => end + 1)];
  return starts.map((firstSeq, index) => {
    const range = { firstSeq, lastSeq: ends[index] ?? lines.length };
    return done(encodeSegment(PROJECT, linesOf(batches, range), { groupRows }));
  });
}

/**
 * Merges files. Row groups of 20 rows and more are copied, and none are joined unless `joinRows` is given.
 * @returns the file, and how many row groups were copied
 */
export function merge(files: readonly SegmentFile[], options: Partial<MergeOptions> = {}, replaces: string[] = []) {
  const { steps, copied } = mergeSteps(files, options, replaces);
  return { merged: done(steps), copied };
}

/** Like `merge`, of files with long dictionaries. */
export function mergeLarge(files: readonly SegmentFile[], options: Partial<MergeOptions> = {}) {
  return awaited(mergeSteps(files, options, []).steps);
}

function mergeSteps(files: readonly SegmentFile[], options: Partial<MergeOptions>, replaces: string[]) {
  const opened = files.map((file) => ({ file, bytes: bytesOf(file), ...open(bytesOf(file)) }));
  const columns = mergeColumns(opened.map(({ reader }) => columnCountsOf(reader)));
  const merger = new SegmentMerger(PROJECT, columns, { copyRows: 20, joinRows: 0, ...options });
  const { copyRows = 20 } = options;
  const copied = opened.reduce(
    (sum, { reader }) =>
      sum + reader.rowGroups.filter(({ rows }, group) => rows >= copyRows && canCopy(reader, group, columns)).length,
    0,
  );
  const steps = function* () {
    for (const { file, bytes, reader } of opened) {
      for (const group of reader.rowGroups.keys()) {
        const { rawBytes = 0, levelMask = 0 } = file.blocks[group] ?? {};
        yield* merger.addGroup(
          { reader, group, bytes: GroupBytes.ofFile(reader, group, bytes) },
          { rawBytes, levelMask },
        );
      }
      merger.addCounts(file);
    }
    return yield* merger.finish(replaces);
  };
  return { steps: steps(), copied };
}
