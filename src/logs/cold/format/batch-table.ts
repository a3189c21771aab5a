import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { ByteReader, ByteWriter } from "../../../platform/varint.ts";
import type { DecodedBatch, SourceLine } from "./lines.ts";

/**
 * The packed parts of a segment that describe its body: the block index, which locates the blocks, and the batch table,
 * from which `seq`, commit and receipt time of the entries follow.
 *
 * Packing uses zstd within the limits of workerd's one-shot calls. Each piece has a checksum, so a flipped bit
 * makes decoding fail. Each piece is stored after its length; see `../../batch.ts` for the limits.
 */

/** Input bytes of one piece. workerd fails from 160 KB on. */
export const PIECE_BYTES = 128 * 1024;
/** workerd fails if a compressed piece is larger than 40 KiB. Pieces of this input size never are. */
const SAFE_PIECE_BYTES = 32 * 1024;
const LENGTH_BYTES = 4;

/**
 * Level 1 is the smallest except for level 19 on log lines of one kind (45 bytes an entry of 330; levels 3 to 12: 48 to
 * 51). On mixed lines it is at most 5 % larger than level 9, at a fifth of its CPU (docs/decisions).
 */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Compresses bytes as one piece, or as several if they are many or hardly compress. */
export function pack(bytes: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(...compress(bytes.subarray(at, at + PIECE_BYTES)));
  return Buffer.concat(pieces.flatMap((piece) => [lengthOf(piece), piece]));
}

/** @throws an error of zstd or a RangeError if `pack` has not written the bytes */
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

function compress(piece: Uint8Array): Uint8Array[] {
  try {
    return [zstdCompressSync(piece, OPTIONS)];
  } catch (error) {
    if (piece.length <= SAFE_PIECE_BYTES) throw error;
    const half = piece.length >> 1;
    return [...compress(piece.subarray(0, half)), ...compress(piece.subarray(half))];
  }
}

function lengthOf(piece: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(LENGTH_BYTES);
  new DataView(bytes.buffer).setUint32(0, piece.length, true);
  return bytes;
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
  return writer.toBytes();
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

/** Below this size, compression adds more bytes than it saves. */
const COMPRESS_FROM_BYTES = 256;

const DENSE = 0;
const SPARSE = 1;
const COMPRESSED = 2;

/**
 * Packed form: flags, then LEB128, compressed if that makes it smaller. First the `seq`, commit and time of the first
 * run. Then column by column, because similar values compress together: counts; commits and times (zigzag) as
 * differences to the run before; and, if `seq` has gaps, the gap before each run.
 */
export function packBatchTable(runs: readonly BatchRun[]): Uint8Array {
  const [first] = runs;
  if (first === undefined) throw new RangeError("A segment has at least one run.");
  const gaps = runs.map(
    (run, index) => run.firstSeq - endOf(runs[index - 1] ?? { firstSeq: first.firstSeq, count: 0 }),
  );
  if (gaps.some((gap) => gap < 0) || runs.some((run, index) => run.commit < (runs[index - 1] ?? run).commit)) {
    throw new RangeError("The runs of a segment rise in seq and commit.");
  }
  const isSparse = gaps.some((gap) => gap > 0);
  const writer = new ByteWriter();
  writer.varint(runs.length);
  writer.varint(first.firstSeq);
  writer.varint(first.commit);
  writer.varint(first.receivedAt);
  for (const run of runs) writer.varint(run.count);
  runs.forEach((run, index) => {
    writer.varint(run.commit - (runs[index - 1] ?? first).commit);
  });
  runs.forEach((run, index) => {
    writer.varint(zigzag(run.receivedAt - (runs[index - 1] ?? first).receivedAt));
  });
  if (isSparse) for (const gap of gaps) writer.varint(gap);
  const plain = writer.toBytes();
  const flags = isSparse ? SPARSE : DENSE;
  const packed = plain.length < COMPRESS_FROM_BYTES ? null : pack(plain);
  return packed !== null && packed.length < plain.length
    ? Buffer.concat([Uint8Array.of(flags | COMPRESSED), packed])
    : Buffer.concat([Uint8Array.of(flags), plain]);
}

/** @throws if `packBatchTable` has not written the bytes */
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

function endOf({ firstSeq, count }: Pick<BatchRun, "firstSeq" | "count">): number {
  return firstSeq + count;
}

/** Uses arithmetic, because times differ by more than 32 bits hold. */
function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Builds the batch runs of a segment from its lines. */
export class BatchRunBuilder {
  readonly runs: BatchRun[] = [];
  #batch: DecodedBatch | null = null;
  #last: BatchRun = { firstSeq: 0, count: 0, commit: 0, receivedAt: 0 };

  add({ batch, seq }: SourceLine): void {
    if (this.#batch === batch && this.#last.firstSeq + this.#last.count === seq) {
      this.#last.count++;
      return;
    }
    this.#batch = batch;
    this.#last = { firstSeq: seq, count: 1, commit: batch.commit, receivedAt: batch.receivedAt };
    this.runs.push(this.#last);
  }
}
