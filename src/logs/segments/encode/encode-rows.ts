import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { chooseFilter, maxFilterBytes } from "../../cold/filter/block-filter.ts";
import { TokenTable } from "../../cold/filter/token-table.ts";
import { TokenCollector } from "../../cold/filter/tokens.ts";
import { packBlockIndex } from "../../cold/format/batch-table.ts";
import { fileKey } from "../../cold/format/file-key.ts";
import type { DecodedBatch, SeqRange, SourceLine } from "../../cold/format/lines.ts";
import { type EncodedSegment, fitsRow, SEGMENT_FORMAT } from "../../cold/format/segment.ts";
import { encodeRange, type PartKey, type Pause } from "../../cold/format/split-range.ts";
import { MAGIC } from "../parquet/metadata.ts";
import { RowTokens } from "../tokens/row-tokens.ts";
import { encodeSegment, type SegmentFile } from "./encode-segment.ts";

/** A segment file, and its row of the catalog without a place for the file. */
export interface CatalogFile extends Pick<SegmentFile, "parts" | "size" | "sha256"> {
  /** `body` is empty and `file` is null until `placeInRow` or `placeInBucket`. */
  row: EncodedSegment;
}

/** Files from `bucketFromBytes` on go to the bucket, if the deployment has one. Changed only by tests. */
export const PLACEMENT = { bucketFromBytes: 32 * 1024 };
/**
 * Bits of the filter for each token: 0.33 % of absent tokens pass. 14 bits, as in segments of line blocks, would pass 0.15 %
 * and take a sixth more, of the part of a segment that is in D1.
 */
export const FILTER_BITS = 12;
const NO_BYTES = new Uint8Array(0);

/**
 * Encodes exactly a range of a project's entries as segment files, in steps of some milliseconds; see `encodeRange`.
 * @param hasBucket without one, each file fits a row of D1
 */
export function encodeFiles(
  projectId: string,
  batches: Iterable<DecodedBatch>,
  range: SeqRange,
  hasBucket: boolean,
): Generator<CatalogFile | Pause> {
  const fits = (file: CatalogFile) => fitsRow(file.row, isForBucket(file, hasBucket) ? 0 : file.size);
  return encodeRange(projectId, batches, range, { encode: encodePart, fits, discard: releaseFile });
}

/** Whether a file is to be stored in the bucket rather than in its row. */
export function isForBucket({ size }: CatalogFile, hasBucket: boolean): boolean {
  return hasBucket && size >= PLACEMENT.bucketFromBytes;
}

/** Returns the row with the file in its body. */
export function placeInRow({ row, parts }: CatalogFile): EncodedSegment {
  return { ...row, body: Buffer.concat(parts) };
}

/** Frees the parts of a file but the footer, which its row has. */
export function releaseParts({ row, parts }: CatalogFile): void {
  for (const part of parts) if (part !== row.batchTable && part !== MAGIC) detachBuffer(part);
}

/** Frees a file and its row. */
export function releaseFile(file: CatalogFile): void {
  releaseParts(file);
  releaseRow(file.row);
}

/** Frees the blobs of a row. */
export function releaseRow({ body, filter, blockFilter, batchTable, summary, levels, blocks }: EncodedSegment): void {
  for (const blob of [body, filter, blockFilter, batchTable, summary, levels, blocks]) detachBuffer(blob);
}

/** Returns the row that refers to the file in the bucket. */
export function placeInBucket({ row, sha256 }: CatalogFile, workspaceId: string): EncodedSegment & { file: string } {
  const { projectId, firstSeq, part } = row;
  return { ...row, file: fileKey({ workspaceId, projectId, firstSeq, part, hash: sha256 }) };
}

function* encodePart(key: PartKey, lines: readonly SourceLine[]): Generator<Pause, CatalogFile> {
  // A table with more tokens is not used, whatever the bytes of the file are.
  const maxTokens = Math.floor((maxFilterBytes(lines.length, Number.POSITIVE_INFINITY) * 8) / FILTER_BITS) + 1;
  const tokens = new TokenCollector(() => new TokenTable(maxTokens));
  const file = yield* encodeSegment(key.projectId, [lines], {}, new RowTokens(tokens));
  const filter = chooseFilter(tokens, maxFilterBytes(lines.length, file.size), FILTER_BITS);
  tokens.release();
  yield null;
  return catalogFile(key, file, filter);
}

/** Returns a file with its row. @param filter of its tokens; see `chooseFilter` */
export function catalogFile(
  key: PartKey,
  file: SegmentFile,
  { kinds: filterKinds, filter }: { kinds: number; filter: Uint8Array },
): CatalogFile {
  const { parts, size, sha256, footer, levels, summary } = file;
  const { count, minTimestamp, maxTimestamp, minCommit, maxCommit, levelMask, categoryMask, rawBytes } = file;
  const blocks = packBlockIndex(file.blocks, minTimestamp);
  const blobs = [blocks, levels, summary, footer, filter];
  const row: EncodedSegment = {
    ...key,
    format: SEGMENT_FORMAT.parquet,
    file: null,
    count,
    minTimestamp,
    maxTimestamp,
    minCommit,
    maxCommit,
    levelMask,
    categoryMask,
    rawBytes,
    storedBytes: blobs.reduce((sum, blob) => sum + blob.length, size),
    blocks,
    levels,
    summary,
    batchTable: footer,
    filterKinds,
    filter,
    blockKinds: 0,
    slotBytes: 0,
    blockFilter: NO_BYTES,
    body: NO_BYTES,
  };
  return { row, parts, size, sha256 };
}
