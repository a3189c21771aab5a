import { LineTimestampParser } from "../../query/lines.ts";
import { type Block, readBlockIndex } from "../format/batch-table.ts";
import { BatchTable, decodeBlock } from "../format/decode.ts";
import { ByteTimestampParser, type DecodedBatch, type SourceLine } from "../format/lines.ts";
import type { SegmentMeta } from "../format/segment.ts";

/**
 * Yields the lines of a segment of line blocks in order of `seq`, block by block.
 * @param packedTable its packed batch table
 * @throws CorruptSegment
 */
export function* linesOfBlocks(meta: SegmentMeta, packedTable: Uint8Array, body: Uint8Array): Generator<SourceLine[]> {
  const table = new BatchTable(meta, packedTable);
  for (const block of readBlockIndex(meta)) {
    yield linesOfBlock(table, block, decodeBlock(meta, table, block, body.subarray(block.start, block.end), null).body);
  }
}

function linesOfBlock(table: BatchTable, { firstIndex, lines }: Block, body: Uint8Array): SourceLine[] {
  const clock = new ByteTimestampParser();
  const looseClock = new LineTimestampParser();
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
  const found: SourceLine[] = [];
  let batch: DecodedBatch = { firstSeq: 0, count: 0, commit: -1, receivedAt: 0, body };
  for (let index = firstIndex, start = 0; index < firstIndex + lines; index++) {
    const next = text.indexOf("\n", start);
    const end = next < 0 ? text.length : next;
    const seq = table.seqAt(index);
    const commit = table.commitOf(index);
    const receivedAt = table.receivedAtOf(index);
    if (batch.commit !== commit || batch.receivedAt !== receivedAt) {
      batch = { firstSeq: seq, count: 0, commit, receivedAt, body };
    }
    batch.count++;
    const timestamp = clock.read(body, start, end);
    const isTimed = !Number.isNaN(timestamp);
    found.push({ batch, seq, timestamp: isTimed ? timestamp : looseClock.read(text, start), isTimed, start, end });
    start = end + 1;
  }
  return found;
}
