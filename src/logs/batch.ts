import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { detachBuffer } from "../platform/isolate-memory.ts";

/** What is stored is not what was put in. The message names it, never what it holds. */
export class UnreadableItem extends Error {}

/**
 * Told of what a reader had to leave out, so that whoever runs the service learns of it: nobody can read it any more, and
 * all the rest can be read.
 * @param entries how many it held
 */
export type ReportUnreadable = (fault: Error, entries: number) => void;

/** Entries of a project whose lines are not what was put in. */
export function reportEntries(report: ReportUnreadable, projectId: string, seqs: readonly number[]): void {
  if (seqs.length === 0) return;
  const fault = `Stored lines of ${projectId} are no entries: ${seqs.length}, the first of them seq ${seqs[0]}.`;
  report(new UnreadableItem(fault), seqs.length);
}

/**
 * A batch is what one accepted ingest request becomes: the unit of storage, of group commit and of `seq` runs.
 *
 * Its body is NDJSON: one line per entry, each `JSON.stringify` of an `Entry` with members in the order of
 * `ENTRY_MEMBERS`, lines joined by "\n" without one at the end. So every line begins
 * `{"timestamp":"<24 characters>","level":"<level>",` and a raw substring test can run before any parse.
 * Entry `i` of a batch has `seq = firstSeq + i`.
 */
export interface Batch {
  /** Entries in the body, 1 to 1,000. */
  count: number;
  /** Smallest and largest timestamp, epoch milliseconds. */
  minTimestamp: number;
  maxTimestamp: number;
  /** Bit per level and bit per category that occurs; see `levelBit` and `categoryBit`. */
  levelMask: number;
  categoryMask: number;
  /** Packed counts by minute, level, category and type, and a filter of the ids; see `summary.ts`. */
  summary: Uint8Array;
  encoding: BatchEncoding;
  /** Bytes of the body before compression. */
  size: number;
  body: Uint8Array;
}

/** 0: NDJSON as it is. 1: zstd frames of at most 128 KiB of input, each behind its length; see `codec.ts`. */
export type BatchEncoding = 0 | 1;

/** A batch as read back from the workspace object: what is needed to give its entries back. */
export interface RecentBatch {
  /** The workspace's commit number, from 1, rising; what `asOf` pins. */
  commit: number;
  projectId: string;
  firstSeq: number;
  count: number;
  minTimestamp: number;
  maxTimestamp: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  encoding: BatchEncoding;
  body: Uint8Array;
}

/**
 * Input bytes of one zstd frame. workerd's decoder stops after the first of several frames, so each frame stands behind
 * its own length.
 */
const BLOCK_BYTES = 128 * 1024;
/** workerd's one-shot zstd throws when a frame comes out larger than 40 KiB (measured). From this size none ever does. */
const SAFE_FRAME_BYTES = 32 * 1024;
const LENGTH_BYTES = 4;

/** Level 1: on log lines level 3 costs 1.6 times the CPU for 4 % fewer bytes (measured on 330-byte entries). */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** A window no larger than the input: most of a small frame's cost is making room for a large one (48 us, 34 us with this). */
const SMALL_BYTES = 1 << 15;
const SMALL_OPTIONS = { params: { ...OPTIONS.params, [constants.ZSTD_c_windowLog]: 15 } };

/** Below this, setting zstd up (45 us here) costs more than the bytes it saves; a segment compresses them again later. */
const COMPRESS_FROM_BYTES = 1024;

/** Compresses a batch body if that makes it smaller. */
export function encodeBody(raw: Uint8Array): EncodedBody {
  if (raw.length < COMPRESS_FROM_BYTES) return { encoding: 0, body: raw };
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < raw.length; at += BLOCK_BYTES) blocks.push(...compress(raw.subarray(at, at + BLOCK_BYTES)));
  const body = joined(blocks);
  return body.length >= raw.length ? { encoding: 0, body: raw } : { encoding: 1, body };
}

function joined(blocks: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const frame of blocks) size += LENGTH_BYTES + frame.length;
  const body = new Uint8Array(size);
  const view = new DataView(body.buffer);
  let at = 0;
  for (const frame of blocks) {
    view.setUint32(at, frame.length, true);
    body.set(frame, at + LENGTH_BYTES);
    at += LENGTH_BYTES + frame.length;
  }
  return body;
}

export interface EncodedBody {
  encoding: BatchEncoding;
  body: Uint8Array;
}

/** Compresses a batch body that comes in pieces. Holds the frames made so far and less than one frame of input. */
export class BodyEncoder {
  readonly #blocks: Uint8Array[] = [];
  /** Bytes of all frames, with their lengths. */
  #framedBytes = 0;
  #size = 0;
  /** Input of the frame that is being filled; null while there is none. */
  #open: Uint8Array | null = null;
  #openBytes = 0;

  /** Bytes added so far. */
  get size(): number {
    return this.#size;
  }

  /** Bytes that the encoder holds. */
  get held(): number {
    return this.#framedBytes + (this.#open?.length ?? 0);
  }

  /** Adds a piece, which may change afterwards. */
  add(piece: Uint8Array): void {
    this.#size += piece.length;
    let at = 0;
    while (at < piece.length) {
      if (this.#openBytes === 0 && piece.length - at >= BLOCK_BYTES) {
        this.#close(piece.subarray(at, at + BLOCK_BYTES));
        at += BLOCK_BYTES;
        continue;
      }
      const taken = Math.min(piece.length - at, BLOCK_BYTES - this.#openBytes);
      this.#reserve(this.#openBytes + taken).set(piece.subarray(at, at + taken), this.#openBytes);
      this.#openBytes += taken;
      at += taken;
      if (this.#openBytes === BLOCK_BYTES) this.#closeOpen();
    }
  }

  /** The whole body: as it came where it is less than one frame's input and does not get smaller. */
  finish(): EncodedBody {
    const rest = this.#open?.subarray(0, this.#openBytes) ?? new Uint8Array();
    if (this.#blocks.length === 0) return encodeBody(rest.slice());
    if (rest.length > 0) this.#close(rest);
    return { encoding: 1, body: joined(this.#blocks) };
  }

  #reserve(bytes: number): Uint8Array {
    if (this.#open !== null && this.#open.length >= bytes) return this.#open;
    const grown = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(bytes, (this.#open?.length ?? 0) * 2)));
    if (this.#open !== null) grown.set(this.#open.subarray(0, this.#openBytes));
    this.#open = grown;
    return grown;
  }

  #closeOpen(): void {
    if (this.#open !== null) this.#close(this.#open);
    this.#openBytes = 0;
  }

  #close(input: Uint8Array): void {
    for (const frame of compress(input)) {
      this.#blocks.push(frame);
      this.#framedBytes += LENGTH_BYTES + frame.length;
    }
  }
}

/** One frame, or several of less input each where the data hardly compresses. */
function compress(piece: Uint8Array): Uint8Array[] {
  try {
    return [zstdCompressSync(piece, piece.length <= SMALL_BYTES ? SMALL_OPTIONS : OPTIONS)];
  } catch (error) {
    if (piece.length <= SAFE_FRAME_BYTES) throw error;
    const half = piece.length >> 1;
    return [...compress(piece.subarray(0, half)), ...compress(piece.subarray(half))];
  }
}

/**
 * The pieces of a body in order, each at most 128 KiB when compressed. A line may cross from one piece to the next. A piece
 * that was compressed is good until the next one is asked for: its memory is freed then.
 */
export function* decodeBlocks(encoding: BatchEncoding, body: Uint8Array): Generator<Uint8Array> {
  if (encoding === 0) {
    yield body;
    return;
  }
  for (const frame of framesOf(body)) {
    const piece = zstdDecompressSync(frame);
    try {
      yield piece;
    } finally {
      detachBuffer(piece);
    }
  }
}

/** The compressed frames of a body. */
function* framesOf(body: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  for (let at = 0; at < body.length; ) {
    const length = view.getUint32(at, true);
    at += LENGTH_BYTES;
    yield body.subarray(at, at + length);
    at += length;
  }
}

/** The whole body, uncompressed. */
export function decodeBody(encoding: BatchEncoding, body: Uint8Array): Uint8Array {
  if (encoding === 0) return body;
  const pieces = Array.from(framesOf(body), (frame) => zstdDecompressSync(frame));
  if (pieces.length === 1 && pieces[0]) return pieces[0];
  const whole = Buffer.concat(pieces);
  for (const piece of pieces) detachBuffer(piece);
  return whole;
}
