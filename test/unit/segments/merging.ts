import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { GroupBytes } from "../../../src/logs/segments/decode/group-bytes.ts";
import { columnCountsOf } from "../../../src/logs/segments/decode/source-lines.ts";
import { mergeColumns } from "../../../src/logs/segments/encode/choose-columns.ts";
import { encodeSegment, type SegmentFile } from "../../../src/logs/segments/encode/encode-segment.ts";
import { canCopy } from "../../../src/logs/segments/merge/copy-group.ts";
import { type MergeOptions, SegmentMerger } from "../../../src/logs/segments/merge/segment-merger.ts";
import { batchesOf, bytesOf, open, PROJECT } from "./support.ts";

/** Runs a generator to its end. */
export function done<T>(steps: Generator<null, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
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
 * Merges files. Row groups of 20 rows and more are copied.
 * @returns the file, and how many row groups were copied
 */
export function merge(files: readonly SegmentFile[], options: Partial<MergeOptions> = {}, replaces: string[] = []) {
  const opened = files.map((file) => ({ file, bytes: bytesOf(file), ...open(bytesOf(file)) }));
  const columns = mergeColumns(opened.map(({ reader }) => columnCountsOf(reader)));
  const merger = new SegmentMerger(PROJECT, columns, { copyRows: 20, ...options });
  let copied = 0;
  for (const { file, bytes, reader } of opened) {
    for (const [group, { rows }] of reader.rowGroups.entries()) {
      const { rawBytes = 0, levelMask = 0 } = file.blocks[group] ?? {};
      if (rows >= 20 && canCopy(reader, group, columns)) copied++;
      done(merger.addGroup({ reader, group, bytes: GroupBytes.ofFile(reader, group, bytes) }, { rawBytes, levelMask }));
    }
    merger.addCounts(file);
  }
  return { merged: done(merger.finish(replaces)), copied };
}
