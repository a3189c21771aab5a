import { constants, zstdCompressSync } from "node:zlib";
import type { BatchRun } from "../../src/logs/cold/format/batch-table.ts";
import type { DecodedBatch, SourceLine } from "../../src/logs/cold/format/lines.ts";
import { ByteWriter } from "../../src/platform/varint.ts";

/** The packed parts of segments of line blocks, as the last version wrote them that made such segments. */

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

/** Below this size, compression adds more bytes than it saves. */
const COMPRESS_FROM_BYTES = 256;

const [SPARSE, COMPRESSED] = [1, 2];

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
  const flags = isSparse ? SPARSE : 0;
  const packed = plain.length < COMPRESS_FROM_BYTES ? null : pack(plain);
  return packed !== null && packed.length < plain.length
    ? Buffer.concat([Uint8Array.of(flags | COMPRESSED), packed])
    : Buffer.concat([Uint8Array.of(flags), plain]);
}

function endOf({ firstSeq, count }: Pick<BatchRun, "firstSeq" | "count">): number {
  return firstSeq + count;
}

/** Uses arithmetic, because times differ by more than 32 bits hold. */
function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
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
