import { ByteReader, ByteWriter } from "../../bytes/varint.ts";

/**
 * A frame is a run of whole lines, compressed by itself. The index of a segment's frames is stored apart from its body,
 * so that a reader asks for the bytes of the frames that it needs and no others.
 */
export interface Block {
  /** Place of its first line in the segment, from 0. */
  firstIndex: number;
  lines: number;
  rawBytes: number;
  /** Where its bytes lie in the body. */
  start: number;
  end: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  levelMask: number;
}

/** Packed form, LEB128 per frame: lines, raw bytes, stored bytes, first time after the segment's, span, level mask. */
export function packFrames(blocks: readonly Block[], minTimestamp: number): Uint8Array {
  const writer = new ByteWriter();
  for (const block of blocks) {
    writer.varint(block.lines);
    writer.varint(block.rawBytes);
    writer.varint(block.end - block.start);
    writer.varint(block.minTimestamp - minTimestamp);
    writer.varint(block.maxTimestamp - block.minTimestamp);
    writer.varint(block.levelMask);
  }
  return writer.toBytes();
}

/** @throws RangeError on bytes that end in the middle */
export function readBlockIndex({ blocks, minTimestamp }: { blocks: Uint8Array; minTimestamp: number }): Block[] {
  const reader = new ByteReader(blocks);
  const read: Block[] = [];
  let firstIndex = 0;
  let start = 0;
  while (!reader.done) {
    const lines = reader.varint();
    const rawBytes = reader.varint();
    const end = start + reader.varint();
    const min = minTimestamp + reader.varint();
    const maxTimestamp = min + reader.varint();
    read.push({ firstIndex, lines, rawBytes, start, end, minTimestamp: min, maxTimestamp, levelMask: reader.varint() });
    firstIndex += lines;
    start = end;
  }
  return read;
}
