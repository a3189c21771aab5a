import type { Bucket } from "../../../platform/bucket.ts";
import { GroupBytes } from "../../segments/decode/group-bytes.ts";
import type { SegmentReader } from "../../segments/decode/segment-reader.ts";
import { sourceLinesOf } from "../../segments/decode/source-lines.ts";
import { EntryCounter } from "../../segments/encode/counter.ts";
import { catalogFile, FILTER_BITS } from "../../segments/encode/encode-rows.ts";
import { RangeTracker } from "../../segments/encode/range-tracker.ts";
import { RowGroup } from "../../segments/encode/row-group.ts";
import { MalformedFile } from "../../segments/parquet/thrift.ts";
import { RowTokens } from "../../segments/tokens/row-tokens.ts";
import { chooseFilter, maxFilterBytes } from "../filter/block-filter.ts";
import { TokenCollector } from "../filter/tokens.ts";
import type { Block } from "../format/batch-table.ts";
import type { SourceLine } from "../format/lines.ts";
import { type EncodedSegment, SEGMENT_LIMITS } from "../format/segment.ts";
import type { PartKey } from "../format/split-range.ts";

/** A file in the bucket, opened by its footer. */
export interface OpenFile {
  /** Key in the bucket. */
  file: string;
  size: number;
  footer: Uint8Array;
  reader: SegmentReader;
}

const NO_FILTER = { kinds: 0, filter: new Uint8Array(0) };

/**
 * Builds the row of the catalog for a file by reading all its entries, a row group at a time. A file of a flush gets the same
 * row as the first time; a merged one has no filter.
 * @param pause yields to other requests
 * @throws MalformedFile, RangeError if the file is damaged or missing
 */
export async function rebuildRow(
  bucket: Bucket,
  { file, size, footer, reader }: OpenFile,
  key: PartKey,
  pause: () => Promise<void>,
): Promise<EncodedSegment> {
  const hasFilter = reader.properties.count <= SEGMENT_LIMITS.entries;
  const counts = new RowCounts(hasFilter);
  let end = 0;
  for (const group of reader.rowGroups.keys()) {
    const held = new GroupBytes(reader, group);
    const ranges = held.all;
    const read = await bucket.readRanges(ranges.map((range) => ({ key: file, ...range })));
    for (const [index, { start }] of ranges.entries()) {
      const bytes = read[index];
      if (bytes === null || bytes === undefined) throw new MalformedFile("The file is missing or too short.");
      held.add(start, bytes);
    }
    const source = (_: number, column: number): Uint8Array => held.chunk(column);
    counts.begin();
    for (const lines of sourceLinesOf(reader, group, source)) {
      counts.add(lines);
      await pause();
    }
    const storedBytes = reader.storedBytes(group);
    counts.end({ start: end, end: end + storedBytes });
    end += storedBytes;
    held.release();
  }
  const { properties } = reader;
  const { range, tokens } = counts;
  if (range.count !== properties.count) throw new MalformedFile("The file has other entries.");
  const filter = hasFilter ? chooseFilter(tokens, maxFilterBytes(range.count, size), FILTER_BITS) : NO_FILTER;
  const facts = {
    ...range,
    ...counts.pack(),
    parts: [],
    size,
    sha256: "",
    footer,
    linesSha256: properties.linesSha256,
  };
  counts.release();
  const { row } = catalogFile(key, { ...facts, columns: properties.columns, blocks: counts.blocks }, filter);
  return { ...row, file };
}

/** Adds up what a row of the catalog states about entries. */
class RowCounts {
  readonly range = new RangeTracker();
  readonly tokens = new TokenCollector();
  readonly blocks: Block[] = [];
  readonly #counter = new EntryCounter();
  readonly #rowTokens: RowTokens | null;
  /** The block of the current row group. */
  #block = { firstIndex: 0, rawBytes: 0, minTimestamp: 0, maxTimestamp: 0, levelMask: 0 };

  /** @param hasTokens whether the tokens of all entries are needed; those of a large file would take more memory than it */
  constructor(hasTokens: boolean) {
    this.#rowTokens = hasTokens ? new RowTokens(this.tokens) : null;
  }

  begin(): void {
    const { count: firstIndex, rawBytes } = this.range;
    const [minTimestamp, maxTimestamp] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    this.#block = { firstIndex, rawBytes, minTimestamp, maxTimestamp, levelMask: 0 };
  }

  /** @param lines of the current row group */
  add(lines: readonly SourceLine[]): void {
    const block = this.#block;
    const group = new RowGroup();
    for (const line of lines) {
      this.range.add(line);
      group.add(line);
      block.levelMask |= 1 << this.#counter.add(group);
      block.minTimestamp = Math.min(block.minTimestamp, line.timestamp);
      block.maxTimestamp = Math.max(block.maxTimestamp, line.timestamp);
      this.#rowTokens?.add(group);
    }
    group.release();
  }

  /** @param bytes of the row group, counted from the first one, as if row groups were stored one behind the other */
  end({ start, end }: { start: number; end: number }): void {
    const { count, rawBytes } = this.range;
    const { firstIndex } = this.#block;
    const lines = count - firstIndex;
    this.blocks.push({ ...this.#block, lines, rawBytes: rawBytes - this.#block.rawBytes, start, end });
  }

  pack() {
    const { levelMask, categoryMask } = this.#counter;
    return { ...this.#counter.pack(), levelMask, categoryMask };
  }

  /** Frees its memory. */
  release(): void {
    this.#counter.release();
    this.tokens.release();
  }
}
