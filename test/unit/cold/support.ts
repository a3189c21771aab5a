import { type Block, readBlockIndex } from "../../../src/logs/cold/format/batch-table.ts";
import { BatchTable, type DecodedBlock, decodeBlock } from "../../../src/logs/cold/format/decode.ts";
import type { DecodedBatch } from "../../../src/logs/cold/format/lines.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import { bodyOf, type TestEntry } from "../query/store.ts";

/** An entry as decoded from a segment. */
export interface Decoded {
  seq: number;
  receivedAt: number;
  visible: boolean;
  line: string;
}

/** Consecutive batches of one project, with rising commit numbers. */
export function slices(batches: readonly (readonly TestEntry[])[], firstSeq = 1): DecodedBatch[] {
  let next = firstSeq;
  return batches.map((entries, index) => {
    const slice = {
      firstSeq: next,
      count: entries.length,
      commit: 10 + index * 3,
      // Receipt times may decrease, because clocks are set back.
      receivedAt: 1_800_000_000_000 + index * 1000 - (index % 3) * 5000,
      body: bodyOf(entries),
    };
    next += entries.length;
    return slice;
  });
}

export function* unitsOf(segment: EncodedSegment, asOf: number | null): Generator<[Block, DecodedBlock]> {
  const batchTable = new BatchTable(segment, segment.batchTable);
  for (const block of readBlockIndex(segment)) {
    yield [block, decodeBlock(segment, batchTable, block, segment.body.subarray(block.start, block.end), asOf)];
  }
}

export function decodeAll(segment: EncodedSegment, asOf: number | null = null): Decoded[] {
  return [...unitsOf(segment, asOf)].flatMap(([, unit]) => {
    const lines = new TextDecoder().decode(unit.body).split("\n");
    return lines.map((line, index) => ({
      seq: unit.seqAt(index),
      receivedAt: unit.receivedAtOf(index),
      visible: unit.isVisible(index),
      line,
    }));
  });
}
