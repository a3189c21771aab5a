import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { detachBuffer } from "../platform/isolate-memory.ts";

/** Thrown if a stored item does not decode to what was encoded. The message names the item but none of its content. */
export class UnreadableItem extends Error {}

/**
 * Reports stored data that a reader had to leave out, so that the operator learns of it. All other data stays readable.
 * @param entries number of entries that were lost
 */
export type ReportUnreadable = (fault: Error, entries: number) => void;

/** Reports entries of a project whose lines are damaged. */
export function reportEntries(report: ReportUnreadable, projectId: string, seqs: readonly number[]): void {
  if (seqs.length === 0) return;
  const fault = `Stored lines of ${projectId} are not entries: ${seqs.length}, the first of them seq ${seqs[0]}.`;
  report(new UnreadableItem(fault), seqs.length);
}

/**
 * Accepted entries: the unit of storage and of `seq` ranges. A request with more entries than one batch may have is several
 * batches with consecutive commit numbers in one transaction; small requests of one commit become one batch.
 *
 * The body is NDJSON: one line for each entry, each `JSON.stringify` of an `Entry` with members in the order of
 * `ENTRY_MEMBERS`, joined by "\n" without one at the end. So every line begins with `{"timestamp":"<24
 * characters>","level":"<level>",`, and raw substring tests can run before any parsing. Entry `i` of a batch has `seq =
 * firstSeq + i`.
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

/** Bytes below which the garbage collector frees a buffer early enough. */
const FREED_BYTES = 16 * 1024;

/** Frees the memory of large batches that nothing uses any more. */
export function freeBatches(batches: readonly Pick<Batch, "body" | "summary">[]): void {
  for (const { body, summary } of batches) {
    for (const bytes of [body, summary]) if (bytes.length >= FREED_BYTES) detachBuffer(bytes);
  }
}

/** Stored bytes of batches. */
export function bytesOf(batches: readonly Pick<Batch, "body" | "summary">[]): number {
  return batches.reduce((sum, { body, summary }) => sum + body.length + summary.length, 0);
}

/** 0: plain NDJSON. 1: zstd blocks of at most 128 KiB of input, each after its length; see `encodeBody`. */
export type BatchEncoding = 0 | 1;

/** A batch as the workspace object returns it to a reader. */
export interface RecentBatch {
  /** Commit number in the workspace, from 1, rising. `asOf` pins it. */
  commit: number;
  projectId: string;
  firstSeq: number;
  count: number;
  minTimestamp: number;
  maxTimestamp: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  encoding: BatchEncoding;
  /** Bytes of the body before compression; absent from objects of an older version. */
  size?: number;
  body: Uint8Array;
}

/**
 * Input bytes of one block. workerd's decoder stops after the first of several zstd frames, so each block is stored
 * after its own length.
 */
const BLOCK_BYTES = 128 * 1024;
/**
 * workerd's one-shot zstd throws if a compressed block is larger than 40 KiB (measured). Blocks of this input size
 * never are.
 */
const SAFE_BLOCK_BYTES = 32 * 1024;
const LENGTH_BYTES = 4;
/** The form of a block, for code that makes blocks itself. */
export const BATCH_BLOCK = { lengthBytes: LENGTH_BYTES } as const;

/** Level 1: on log lines level 3 costs 1.6 times the CPU for 4 % fewer bytes (measured on 330-byte entries). */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/**
 * A window no larger than the input. Most of a small block's cost is allocating a large window (48 us, 34 us with
 * this).
 */
const SMALL_BYTES = 1 << 15;
const SMALL_OPTIONS = { params: { ...OPTIONS.params, [constants.ZSTD_c_windowLog]: 15 } };

/**
 * Below this size, setting zstd up (45 us here) costs more than the saved bytes. A segment compresses them again later.
 */
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
  for (const block of blocks) size += LENGTH_BYTES + block.length;
  const body = new Uint8Array(size);
  const view = new DataView(body.buffer);
  let at = 0;
  for (const block of blocks) {
    view.setUint32(at, block.length, true);
    body.set(block, at + LENGTH_BYTES);
    at += LENGTH_BYTES + block.length;
    detachBuffer(block);
  }
  return body;
}

export interface EncodedBody {
  encoding: BatchEncoding;
  body: Uint8Array;
}

/** Compresses a batch body that is added in parts. Holds the compressed blocks and less than one block of input. */
export class BodyEncoder {
  readonly #blocks: Uint8Array[] = [];
  /** Bytes of all blocks, with their lengths. */
  #blockBytes = 0;
  #size = 0;
  /** Input of the block that is being filled; `null` if there is none. */
  #open: Uint8Array | null = null;
  #openBytes = 0;

  /** Bytes added so far. */
  get size(): number {
    return this.#size;
  }

  /** Number of bytes that the encoder holds. */
  get held(): number {
    return this.#blockBytes + (this.#open?.length ?? 0);
  }

  /** Adds a part of the body. The caller may change the bytes afterwards. */
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

  /** Returns the whole body; plain if it is less than one block and compression does not make it smaller. */
  finish(): EncodedBody {
    const rest = this.#open?.subarray(0, this.#openBytes) ?? new Uint8Array();
    if (this.#blocks.length === 0) {
      const encoded = encodeBody(rest);
      // Plain, the body must be a buffer of its own.
      if (encoded.encoding === 0) encoded.body = rest.slice();
      if (this.#open !== null) detachBuffer(this.#open);
      return encoded;
    }
    if (rest.length > 0) this.#close(rest);
    if (this.#open !== null) detachBuffer(this.#open);
    return { encoding: 1, body: joined(this.#blocks) };
  }

  #reserve(bytes: number): Uint8Array {
    if (this.#open !== null && this.#open.length >= bytes) return this.#open;
    const grown = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(bytes, (this.#open?.length ?? 0) * 2)));
    if (this.#open !== null) {
      grown.set(this.#open.subarray(0, this.#openBytes));
      detachBuffer(this.#open);
    }
    this.#open = grown;
    return grown;
  }

  #closeOpen(): void {
    if (this.#open !== null) this.#close(this.#open);
    this.#openBytes = 0;
  }

  #close(input: Uint8Array): void {
    for (const block of compress(input)) {
      this.#blocks.push(block);
      this.#blockBytes += LENGTH_BYTES + block.length;
    }
  }
}

/** Compresses input as one block, or as several smaller ones if the data hardly compresses. */
function compress(piece: Uint8Array): Uint8Array[] {
  try {
    return [zstdCompressSync(piece, piece.length <= SMALL_BYTES ? SMALL_OPTIONS : OPTIONS)];
  } catch (error) {
    if (piece.length <= SAFE_BLOCK_BYTES) throw error;
    const half = piece.length >> 1;
    return [...compress(piece.subarray(0, half)), ...compress(piece.subarray(half))];
  }
}

/**
 * Yields the decoded blocks of a body in order, each at most 128 KiB when compressed. A line may cross from one block
 * to the next. A decompressed block is valid until the next one is requested; then its memory is freed.
 */
export function* decodeBlocks(encoding: BatchEncoding, body: Uint8Array): Generator<Uint8Array> {
  if (encoding === 0) {
    yield body;
    return;
  }
  for (const block of blocksOf(body)) {
    const piece = zstdDecompressSync(block);
    try {
      yield piece;
    } finally {
      detachBuffer(piece);
    }
  }
}

/** Yields the compressed blocks of a body. */
function* blocksOf(body: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  for (let at = 0; at < body.length; ) {
    const length = view.getUint32(at, true);
    at += LENGTH_BYTES;
    yield body.subarray(at, at + length);
    at += length;
  }
}

/** Returns the whole body, uncompressed. */
export function decodeBody(encoding: BatchEncoding, body: Uint8Array): Uint8Array {
  if (encoding === 0) return body;
  const pieces = Array.from(blocksOf(body), (block) => zstdDecompressSync(block));
  if (pieces.length === 1 && pieces[0]) return pieces[0];
  const whole = Buffer.concat(pieces);
  for (const piece of pieces) detachBuffer(piece);
  return whole;
}
