import { env } from "cloudflare:workers";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import {
  type CatalogFile,
  encodeFiles,
  isForBucket,
  placeInBucket,
  placeInRow,
} from "../../../src/logs/segments/encode/encode-rows.ts";
import { slices } from "../../unit/cold/support.ts";
import type { TestEntry } from "../../unit/query/store.ts";

/** Encodes entries of one project as segment files: each list of batches becomes one range. */
export function filesOf(
  projectId: string,
  ranges: readonly (readonly (readonly TestEntry[])[])[],
  hasBucket: boolean,
): CatalogFile[][] {
  const batches = slices(ranges.flat());
  let firstSeq = 1;
  return ranges.map((range) => {
    const lastSeq = firstSeq + range.flat().length - 1;
    const steps = [...encodeFiles(projectId, batches, { firstSeq, lastSeq }, hasBucket)];
    firstSeq = lastSeq + 1;
    return steps.filter((step) => step !== null);
  });
}

/**
 * Stores entries of one project as segment files in `COLD_DB`, and files of 32 KiB and more in the bucket.
 * @param bucket `null`: everything is in D1
 */
export async function storeFiles(
  workspaceId: string,
  projectId: string,
  ranges: readonly (readonly (readonly TestEntry[])[])[],
  bucket: { put(key: string, bytes: Uint8Array): Promise<unknown> } | null,
): Promise<EncodedSegment[]> {
  const stored: EncodedSegment[] = [];
  for (const files of filesOf(projectId, ranges, bucket !== null)) {
    const rows = files.map((file) =>
      isForBucket(file, bucket !== null) ? placeInBucket(file, workspaceId) : placeInRow(file),
    );
    for (const [index, { file }] of rows.entries()) {
      if (file !== null) await bucket?.put(file, Buffer.concat(files[index]?.parts ?? []));
    }
    await new SegmentWriter(env.COLD_DB).insertSegments(workspaceId, rows);
    stored.push(...rows);
  }
  return stored;
}
