import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { detachBuffer } from "../../platform/free-memory.ts";

/**
 * zstd within what workerd's one-shot calls can do, with a checksum in every piece: a flipped bit fails to decode.
 * See `../codec.ts` for the bounds; each piece stands behind its length there, too.
 */

/** Input bytes of one piece. workerd fails from 160 KB on. */
export const PIECE_BYTES = 128 * 1024;
/** workerd fails where a piece comes out larger than 40 KiB. From this size of input none does. */
const SAFE_PIECE_BYTES = 32 * 1024;
const LENGTH_BYTES = 4;

/**
 * Level 1 is the smallest but for level 19 on log lines of one kind (45 bytes an entry of 330; levels 3 to 12: 48 to 51),
 * and at most 5 % larger than level 9 on mixed ones, at a fifth of its CPU (docs/decisions).
 */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Compresses bytes as one piece, or several where they are many or hardly compress. */
export function pack(bytes: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(...compress(bytes.subarray(at, at + PIECE_BYTES)));
  return Buffer.concat(pieces.flatMap((piece) => [lengthOf(piece), piece]));
}

/** @throws whatever zstd throws, or a RangeError, on bytes that `pack` has not written */
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
