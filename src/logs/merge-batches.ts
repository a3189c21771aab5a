import { BATCH_BLOCK, type Batch } from "./batch.ts";
import { BATCH_ENTRIES } from "./entry.ts";
import { mergeSummaries } from "./summary.ts";

/** Stored bytes of a batch, and of its summary, up to which it may share a row with others. */
const SHARED_BYTES = 16 * 1024;
/** Stored bytes of a shared row, and batches in it. */
const ROW_BYTES = 128 * 1024;
const ROW_BATCHES = 64;

/** Small consecutive batches of one project that become one. Rows written are most of the bill. */
export class SharedRow {
  readonly #batches: Batch[] = [];
  #entries = 0;
  #bytes = 0;

  /** Whether a batch is small enough to share a row. */
  static mayShare({ body, summary }: Batch): boolean {
    return body.length <= SHARED_BYTES && summary.length <= SHARED_BYTES;
  }

  /** Whether there is room for one more batch that may share a row. */
  hasRoomFor({ count, body, summary }: Batch): boolean {
    if (this.#batches.length === ROW_BATCHES || this.#entries + count > BATCH_ENTRIES) return false;
    return this.#bytes + body.length + summary.length <= ROW_BYTES;
  }

  /** Adds the next batch. */
  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#entries += batch.count;
    this.#bytes += batch.body.length + batch.summary.length;
  }

  /** Returns one batch with the entries of all. */
  merged(): Batch {
    const [first] = this.#batches;
    if (first === undefined) throw new Error("A row has at least one batch.");
    return this.#batches.length === 1 ? first : mergeBatches(this.#batches);
  }
}

/** @param batches at least two */
function mergeBatches(batches: readonly Batch[]): Batch {
  const isPlain = batches.every(({ encoding }) => encoding === 0);
  const bodies = batches.map(({ encoding, body }) => (isPlain || encoding === 1 ? body : plainBlock(body)));
  const separator = isPlain ? LINE_BREAK : LINE_BREAK_BLOCK;
  return {
    count: batches.reduce((sum, { count }) => sum + count, 0),
    minTimestamp: Math.min(...batches.map(({ minTimestamp }) => minTimestamp)),
    maxTimestamp: Math.max(...batches.map(({ maxTimestamp }) => maxTimestamp)),
    levelMask: batches.reduce((mask, { levelMask }) => mask | levelMask, 0),
    categoryMask: batches.reduce((mask, { categoryMask }) => mask | categoryMask, 0),
    summary: mergeSummaries(batches.map(({ summary }) => summary)),
    encoding: isPlain ? 0 : 1,
    size: batches.reduce((sum, { size }) => sum + size + 1, -1),
    body: joined(bodies, separator),
  };
}

function joined(bodies: readonly Uint8Array[], separator: Uint8Array): Uint8Array {
  const length = bodies.reduce((sum, body) => sum + body.length + separator.length, -separator.length);
  const out = new Uint8Array(length);
  let at = 0;
  for (const body of bodies) {
    if (at > 0) {
      out.set(separator, at);
      at += separator.length;
    }
    out.set(body, at);
    at += body.length;
  }
  return out;
}

/** Magic number, then: single segment, content size in 4 bytes (RFC 8878, 3.1.1). */
const FRAME_HEADER = [0x28, 0xb5, 0x2f, 0xfd, 0xa0];
const FRAME_BYTES = FRAME_HEADER.length + 4 + 3;

/** Returns bytes as a block of a body in zstd blocks, not compressed: one frame with one raw block. */
function plainBlock(bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(BATCH_BLOCK.lengthBytes + FRAME_BYTES + bytes.length);
  const view = new DataView(block.buffer);
  view.setUint32(0, FRAME_BYTES + bytes.length, true);
  let at = BATCH_BLOCK.lengthBytes;
  block.set(FRAME_HEADER, at);
  at += FRAME_HEADER.length;
  view.setUint32(at, bytes.length, true);
  at += 4;
  // The last block of the frame; type 0 is raw.
  const header = 1 | (bytes.length << 3);
  for (let byte = 0; byte < 3; byte++) block[at++] = (header >> (8 * byte)) & 0xff;
  block.set(bytes, at);
  return block;
}

const LINE_BREAK = Uint8Array.of(0x0a);
const LINE_BREAK_BLOCK = plainBlock(LINE_BREAK);
