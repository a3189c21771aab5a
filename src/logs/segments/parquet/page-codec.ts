import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { MalformedFile } from "./thrift.ts";

/**
 * Compression of pages: each page is one zstd frame.
 *
 * workerd's one-shot zstd throws if the compressed frame is larger than 40 KiB (measured). Such a page, a small page and
 * a page that hardly shrinks become a frame of stored blocks, which every reader of zstd accepts and which this reader
 * returns without a copy.
 */

/**
 * Level 1: on columns of log entries level 3 saves under 1 % of the bytes for a third more CPU time (measured; see the
 * decision record on segment files).
 */
const LEVEL = 1;
/** A window no larger than the input saves most of the setup of a small page. */
const optionsOf = (level: number) =>
  [15, 17].map((windowLog) => ({
    // Compressed output is one chunk.
    chunkSize: 2 ** windowLog,
    params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_windowLog]: windowLog },
  }));
const OPTIONS = optionsOf(LEVEL);
const SMALL_BYTES = 1 << 15;

/** Setting zstd up takes 35 to 45 us; smaller pages are stored. */
const COMPRESS_FROM_BYTES = 128;
/** Share of the input that compression must save, or reading stored bytes is the better deal. */
const WORTHWHILE = 0.95;

const FRAME_MAGIC = 0xfd2fb528;
/** Frame header descriptor: a single segment with its content size in 4 bytes, without a checksum. */
const STORED_DESCRIPTOR = 0xa0;
const STORED_HEADER_BYTES = 9;
/** Largest block of a zstd frame. */
const BLOCK_BYTES = 128 * 1024;
const BLOCK_HEADER_BYTES = 3;
/** Bytes beyond the announced size that workerd's decoder needs in its limit (measured). */
const DECODE_SLACK = 256 * 1024;

/**
 * Returns a new buffer with the page as one zstd frame.
 * @param bodyAt index up to which the page is stored, or 0. A few bytes of another kind before random digits would make
 *   the code of every digit longer, by 1.6 % for hexadecimal ids.
 * @param leastSaved bytes that compression must save; otherwise the page is stored
 */
export function compressPage(raw: Uint8Array, bodyAt: number, leastSaved = 0): Uint8Array {
  if (raw.length < Math.max(COMPRESS_FROM_BYTES, leastSaved)) return stored(raw);
  const packed = compress(raw, bodyAt);
  const most = Math.min(raw.length * WORTHWHILE, raw.length - leastSaved);
  if (packed !== null && packed.length < most) return packed;
  if (packed !== null) detachBuffer(packed);
  return stored(raw);
}

/**
 * Level of long pages, which only merges write. On sorted strings it saves a quarter of what level 1 leaves, for 0.15 us of CPU an
 * entry.
 */
const LONG_LEVEL = 9;
const LONG_OPTIONS = optionsOf(LONG_LEVEL);
/** Share of a page that compressing it again must leave at most. */
const REPACKED = 0.97;
/** A larger window would need tables of 24 MB at this level. */
const LONG_WINDOW_LOG = 17;
/** Bytes that are compressed between two pauses: a millisecond. */
const STEP_BYTES = 64 * 1024;

/**
 * Returns a new buffer with a long page as one zstd frame. Works as a stream, because only the one-shot functions of workerd have a limit.
 * Yields promises to be awaited before the next step.
 */
export function* compressLong(raw: Uint8Array): Generator<Promise<void>, Uint8Array> {
  const stream = createZstdCompress({
    chunkSize: STEP_BYTES,
    params: {
      [constants.ZSTD_c_compressionLevel]: LONG_LEVEL,
      [constants.ZSTD_c_windowLog]: LONG_WINDOW_LOG,
    },
  });
  const parts: Uint8Array[] = [];
  let failure: Error | null = null;
  stream.on("data", (part: Uint8Array) => parts.push(part));
  const ended = new Promise<void>((resolve) => {
    stream.on("end", resolve);
    stream.on("error", (error) => {
      failure = error;
      resolve();
    });
  });
  for (let at = 0; at < raw.length; at += STEP_BYTES) {
    yield new Promise((resolve) => {
      stream.write(raw.subarray(at, at + STEP_BYTES), () => resolve());
    });
  }
  // workerd also fails if the end of a stream writes much at once. Behind a flush it writes a few bytes.
  yield new Promise((resolve) => stream.flush(constants.ZSTD_e_flush, () => resolve()));
  stream.end();
  yield ended;
  const packed = failure === null ? joined(parts) : null;
  for (const buffer of new Set(parts.map((part) => part.buffer))) detachBuffer(new Uint8Array(buffer));
  if (packed !== null && packed.length < raw.length * WORTHWHILE) return packed;
  if (packed !== null) detachBuffer(packed);
  return stored(raw);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * Compresses a page again, with more effort.
 * @param rawBytes size of the page, uncompressed
 * @returns `null` if it does not become smaller
 * @throws MalformedFile
 */
export function repackPage(frame: Uint8Array, rawBytes: number): Uint8Array | null {
  if (singleStoredBlock(frame) !== null) return null;
  const raw = decompressPage(frame, rawBytes);
  const packed = compress(raw, storedHeadOf(frame), LONG_OPTIONS);
  detachBuffer(raw);
  if (packed === null || packed.length < frame.length * REPACKED) return packed;
  detachBuffer(packed);
  return null;
}

/** Returns the bytes before the compressed ones in a frame of `withStored`; 0 in others. */
function storedHeadOf(frame: Uint8Array): number {
  if (frame.length < STORED_HEADER_BYTES + BLOCK_HEADER_BYTES || frame[4] !== STORED_DESCRIPTOR) return 0;
  const head = (frame[9] ?? 0) | ((frame[10] ?? 0) << 8) | ((frame[11] ?? 0) << 16);
  // A raw block that is not the last one.
  return (head & 7) === 0 ? head >> 3 : 0;
}

function compress(raw: Uint8Array, bodyAt: number, options = OPTIONS): Uint8Array | null {
  try {
    const body = bodyAt === 0 ? raw : raw.subarray(bodyAt);
    const packed = zstdCompressSync(body, body.length <= SMALL_BYTES ? options[0] : options[1]);
    if (bodyAt === 0) return packed;
    const frame = withStored(raw, bodyAt, packed);
    detachBuffer(packed);
    return frame;
  } catch {
    return null;
  }
}

/** Puts a stored block with the page's head before the blocks of a compressed frame. */
function withStored(raw: Uint8Array, bodyAt: number, packed: Uint8Array): Uint8Array {
  const descriptor = packed[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const blocks = packed.subarray(5 + (isSingle ? 0 : 1) + sizeBytes);
  const start = STORED_HEADER_BYTES + BLOCK_HEADER_BYTES + bodyAt;
  const frame = new Uint8Array(start + blocks.length);
  const at = writeHeader(frame, raw.length);
  writeBlock(frame, at, raw.subarray(0, bodyAt), false);
  frame.set(blocks, start);
  return frame;
}

function stored(raw: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(raw.length / BLOCK_BYTES));
  const frame = new Uint8Array(STORED_HEADER_BYTES + blocks * BLOCK_HEADER_BYTES + raw.length);
  let at = writeHeader(frame, raw.length);
  for (let block = 0; block < blocks; block++) {
    const part = raw.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    at = writeBlock(frame, at, part, block === blocks - 1);
  }
  return frame;
}

function writeHeader(frame: Uint8Array, size: number): number {
  const view = new DataView(frame.buffer);
  view.setUint32(0, FRAME_MAGIC, true);
  view.setUint8(4, STORED_DESCRIPTOR);
  view.setUint32(5, size, true);
  return STORED_HEADER_BYTES;
}

function writeBlock(frame: Uint8Array, at: number, part: Uint8Array, isLast: boolean): number {
  const head = (part.length << 3) | (isLast ? 1 : 0);
  frame[at] = head;
  frame[at + 1] = head >> 8;
  frame[at + 2] = head >> 16;
  frame.set(part, at + BLOCK_HEADER_BYTES);
  return at + BLOCK_HEADER_BYTES + part.length;
}

/**
 * @param rawBytes size of the page, uncompressed
 * @returns the page; a view of `frame` if it is one stored block
 * @throws MalformedFile
 */
export function decompressPage(frame: Uint8Array, rawBytes: number): Uint8Array {
  const single = singleStoredBlock(frame);
  const raw = single ?? decompress(frame, rawBytes);
  if (raw.length !== rawBytes) throw new MalformedFile("A page has another length.");
  return raw;
}

function singleStoredBlock(frame: Uint8Array): Uint8Array | null {
  const start = STORED_HEADER_BYTES + BLOCK_HEADER_BYTES;
  if (frame.length < start || frame[4] !== STORED_DESCRIPTOR) return null;
  const head = (frame[9] ?? 0) | ((frame[10] ?? 0) << 8) | ((frame[11] ?? 0) << 16);
  return (head & 7) === 1 && head >> 3 === frame.length - start ? frame.subarray(start) : null;
}

function decompress(frame: Uint8Array, rawBytes: number): Uint8Array {
  try {
    // The output is one chunk, where the default is chunks of 16 KiB.
    return zstdDecompressSync(frame, { maxOutputLength: rawBytes + DECODE_SLACK, chunkSize: rawBytes + 64 });
  } catch (error) {
    throw new MalformedFile("A page cannot be decompressed.", { cause: error });
  }
}
