import { zstdDecompressSync } from "node:zlib";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { ByteReader, ByteWriter } from "../../../platform/varint.ts";

/**
 * The packed parts of a segment that describe its body: the block index, which locates the blocks, and the batch table,
 * from which `seq`, commit and receipt time of the entries follow. Only versions before segment files wrote batch tables and
 * blocks of lines.
 *
 * They are packed as pieces of zstd, each after its length. Each piece has a checksum, so a flipped bit makes decoding fail.
 */

const LENGTH_BYTES = 4;

/** @throws an error of zstd or a RangeError if the bytes were not packed or are damaged */
export function unpack(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < packed.length; ) {
    const start = at + LENGTH_BYTES;
    at = start + view.getUint32(at, true);
    if (at > packed.length) throw new RangeError("The packed bytes end in the middle.");
    pieces.push(zstdDecompressSync(packed.subarray(start, at)));
  }
  if (pieces.length === 1 && pieces[0]) return pieces[0];
  const whole = Buffer.concat(pieces);
  for (const piece of pieces) detachBuffer(piece);
  return whole;
}

/**
 * A block: consecutive whole lines, compressed separately. The block index of a segment is stored apart from its body,
 * so that a reader requests only the bytes of the blocks that it needs.
 */
export interface Block {
  /** Index of its first line in the segment, from 0. */
  firstIndex: number;
  lines: number;
  rawBytes: number;
  /** Its bytes in the body. */
  start: number;
  end: number;
  /** Epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  levelMask: number;
}

/**
 * Packed form, LEB128 for each block: lines, raw bytes, stored bytes, first time relative to the segment's, span, level
 * mask.
 */
export function packBlockIndex(blocks: readonly Block[], minTimestamp: number): Uint8Array {
  const writer = new ByteWriter();
  for (const block of blocks) {
    writer.varint(block.lines);
    writer.varint(block.rawBytes);
    writer.varint(block.end - block.start);
    writer.varint(block.minTimestamp - minTimestamp);
    writer.varint(block.maxTimestamp - block.minTimestamp);
    writer.varint(block.levelMask);
  }
  return writer.finish();
}

/** @throws RangeError if the bytes are incomplete */
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

/** Consecutive entries of one batch, without a gap in `seq`. */
export interface BatchRun {
  firstSeq: number;
  count: number;
  commit: number;
  /** Epoch milliseconds. */
  receivedAt: number;
}

const SPARSE = 1;
const COMPRESSED = 2;

/**
 * Packed form: flags, then LEB128. First the `seq`, commit and time of the first run. Then column by column: counts; commits
 * and times (zigzag) as differences to the run before; and, if `seq` has gaps, the gap before each run.
 *
 * @throws if the bytes are no packed batch table
 */
export function readBatchTable(packed: Uint8Array): BatchRun[] {
  const flags = packed[0] ?? 0;
  const rest = packed.subarray(1);
  const reader = new ByteReader((flags & COMPRESSED) === 0 ? rest : unpack(rest));
  const length = reader.varint();
  let firstSeq = reader.varint();
  let commit = reader.varint();
  let receivedAt = reader.varint();
  const column = () => Array.from({ length }, () => reader.varint());
  const counts = column();
  const commits = column();
  const times = column();
  const gaps = (flags & SPARSE) === 0 ? [] : column();
  return counts.map((count, index) => {
    firstSeq += gaps[index] ?? 0;
    commit += commits[index] ?? 0;
    receivedAt += unzigzag(times[index] ?? 0);
    const run = { firstSeq, count, commit, receivedAt };
    firstSeq += count;
    return run;
  });
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
