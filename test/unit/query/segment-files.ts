import type { DecodedBatch, SeqRange } from "../../../src/logs/cold/format/lines.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import { encodeRange } from "../../../src/logs/cold/format/split-range.ts";
import { catalogFile, placeInBucket, placeInRow } from "../../../src/logs/segments/encode/encode-rows.ts";
import { encodeSegment } from "../../../src/logs/segments/encode/encode-segment.ts";

/** A segment as a reader finds it, and the bytes of its file. */
export interface StoredFile {
  segment: EncodedSegment;
  bytes: Uint8Array;
}

/** Encodes a range as segment files with small row groups, in their rows or in the bucket. */
export function segmentFiles(
  workspaceId: string,
  projectId: string,
  batches: readonly DecodedBatch[],
  range: SeqRange,
  { groupRows, isInline }: { groupRows: number; isInline: boolean },
): StoredFile[] {
  const steps = encodeRange(projectId, batches, range, {
    *encode(key, lines) {
      const file = yield* encodeSegment(projectId, [lines], { groupRows });
      return catalogFile(key, file, { kinds: 0, filter: new Uint8Array(0) });
    },
    fits: () => true,
  });
  const files = [...steps].filter((step) => step !== null);
  return files.map((file) => {
    const row = isInline ? placeInRow(file) : placeInBucket(file, workspaceId);
    const named = row.file === null ? {} : { file: row.file };
    const segment = { ...row, parquet: { footerBytes: row.batchTable.length, isInline, ...named } };
    return { segment, bytes: Buffer.concat(file.parts) };
  });
}
