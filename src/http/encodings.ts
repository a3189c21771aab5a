import {
  constants,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import { detachBuffer } from "../platform/isolate-memory.ts";

/** Encodings of a body that can be inflated. */
export type Encoding = "gzip" | "deflate" | "zstd";

/** Bytes of an inflated chunk. */
export const INFLATED_BYTES = 64 * 1024;
/** The largest window of a zstd frame that is accepted: 8 MiB, as RFC 8878 recommends (3.1.1.1.2). */
const ZSTD_WINDOW_LOG = 23;
const ZSTD_OPTIONS = { params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } };

/** Thrown if bytes are not of their encoding. */
export class BadEncoding extends Error {}

/** Returns the encoding of a body; `identity` without one, `null` for one that is not accepted. */
export function encodingOf(headers: Headers, accepted: readonly Encoding[]): Encoding | "identity" | null {
  const named = headers.get("Content-Encoding")?.trim().toLowerCase() ?? "";
  if (named === "" || named === "identity") return "identity";
  // graypy, a client of Graylog, names both and means the second.
  const encoding = named === "x-gzip" ? "gzip" : named === "gzip,deflate" ? "deflate" : named;
  return accepted.find((one) => one === encoding) ?? null;
}

/** Bytes that inflating a body in chunks takes beside the chunks. */
export function inflaterBytes(encoding: Encoding): number {
  // The window of deflate is 32 KiB. Clients send zstd of windows up to 2 MiB; larger ones take more for a moment.
  return encoding === "zstd" ? 2 * 1024 * 1024 : INFLATED_BYTES;
}

/** Message of workerd's zlib if the output would exceed `maxOutputLength`; it sets no code. A test pins the message. */
const OUTPUT_LIMIT_MESSAGE = "Memory limit exceeded";

/** Inflates in one call. Not with a `DecompressionStream`, which inflates all its input before its reader gets a byte. */
export function inflated(
  raw: Uint8Array,
  encoding: Encoding,
  limit: number,
): Uint8Array | "too_large" | "bad_encoding" {
  try {
    const out = inflate(raw, encoding, limit);
    // Not as a Buffer, whose slices are views.
    return new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
  } catch (error) {
    const tooLarge = error instanceof Error && error.message === OUTPUT_LIMIT_MESSAGE;
    return tooLarge ? "too_large" : "bad_encoding";
  }
}

function inflate(raw: Uint8Array, encoding: Encoding, limit: number): Uint8Array {
  const options = { maxOutputLength: limit };
  if (encoding === "gzip") return gunzipSync(raw, options);
  if (encoding === "deflate") return (hasZlibHeader(raw) ? inflateSync : inflateRawSync)(raw, options);
  const frames: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < raw.length; ) {
    const end = new FrameScanner().scan(raw, at);
    if (end < 0) throw new BadEncoding();
    const frame = zstdDecompressSync(raw.subarray(at, end), { ...ZSTD_OPTIONS, maxOutputLength: limit - size });
    frames.push(frame);
    size += frame.length;
    at = end;
  }
  const [only] = frames;
  return only !== undefined && frames.length === 1 ? only : Buffer.concat(frames);
}

/** Whether bytes of `deflate` have the header of RFC 1950. Some clients send them without it. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

/**
 * Inflates with backpressure: a chunk is inflated when the one before was read. A chunk is valid until the next one is
 * requested. (A `DecompressionStream` inflates all its input at once.)
 * @throws BadEncoding, and what the chunks throw
 */
export async function* inflatedChunks(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Uint8Array> {
  const input = new RestOfChunks(chunks);
  if (encoding === "zstd") {
    // The runtime's decoder ends with the first frame.
    while (await input.hasMore())
      yield* inflatedBy(createZstdDecompress({ ...ZSTD_OPTIONS, chunkSize: INFLATED_BYTES }), input.frame());
  } else if (encoding === "gzip") yield* inflatedBy(createGunzip({ chunkSize: INFLATED_BYTES }), input.all());
  else {
    await input.hasMore();
    const create = hasZlibHeader(input.rest) ? createInflate : createInflateRaw;
    yield* inflatedBy(create({ chunkSize: INFLATED_BYTES }), input.all());
  }
}

async function* inflatedBy(
  inflater: ReturnType<typeof createGunzip>,
  chunks: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let fault: unknown = null;
  const feed = async () => {
    try {
      for await (const chunk of chunks) {
        if (inflater.destroyed) return;
        await new Promise<void>((resolve) => inflater.write(chunk, () => resolve()));
      }
      inflater.end();
    } catch (error) {
      fault = error;
      inflater.destroy();
    }
  };
  const fed = feed();
  let filled: ArrayBufferLike | null = null;
  try {
    for await (const chunk of inflater) {
      // The chunks before have filled their buffer.
      if (filled !== null && filled !== chunk.buffer) detachBuffer(new Uint8Array(filled));
      filled = chunk.buffer;
      yield chunk;
    }
    await fed;
  } catch {
    throw fault ?? new BadEncoding();
  } finally {
    inflater.destroy();
    if (filled !== null) detachBuffer(new Uint8Array(filled));
  }
  if (fault !== null) throw fault;
}

/** Chunks of which a part may be read. */
class RestOfChunks {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncGenerator<Uint8Array>) {
    this.#chunks = chunks;
  }

  /** Whether there are bytes left. Reads the next chunk if the last one was read. */
  async hasMore(): Promise<boolean> {
    while (this.rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.rest = value;
    }
    return true;
  }

  async *all(): AsyncGenerator<Uint8Array> {
    while (await this.hasMore()) yield this.#take(this.rest.length);
  }

  /** Yields the bytes of one zstd frame. @throws BadEncoding */
  async *frame(): AsyncGenerator<Uint8Array> {
    const scanner = new FrameScanner();
    while (await this.hasMore()) {
      const end = scanner.scan(this.rest, 0);
      yield this.#take(end < 0 ? this.rest.length : end);
      if (end >= 0) return;
    }
    throw new BadEncoding();
  }

  #take(bytes: number): Uint8Array {
    const taken = this.rest.subarray(0, bytes);
    this.rest = this.rest.subarray(bytes);
    return taken;
  }
}

const ZSTD_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** Finds the end of a zstd frame in bytes that arrive in parts (RFC 8878, 3.1). */
export class FrameScanner {
  #state: "magic" | "skippable" | "header" | "block" | "content" = "magic";
  /** Bytes of a field that are still to come, and its value so far. */
  #missing = 4;
  #value = 0;
  #shift = 0;
  #isLast = false;
  #hasChecksum = false;

  /** @returns index after the frame; -1 if it has not ended @throws BadEncoding */
  scan(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; ) {
      if (this.#state === "content") {
        const skipped = Math.min(this.#missing, bytes.length - at);
        this.#missing -= skipped;
        at += skipped;
      } else {
        this.#value += (bytes[at++] ?? 0) * 2 ** this.#shift;
        this.#shift += 8;
        this.#missing--;
      }
      if (this.#missing === 0 && this.#next()) return at;
    }
    return -1;
  }

  /** Reads a field that is complete. @returns whether the frame has ended */
  #next(): boolean {
    const value = this.#value;
    this.#value = 0;
    this.#shift = 0;
    switch (this.#state) {
      case "magic":
        if (value === ZSTD_MAGIC) this.#expect("header", 1);
        else if (value - (value % 16) === SKIPPABLE_MAGIC) this.#expect("skippable", 4);
        else throw new BadEncoding();
        return false;
      case "skippable":
        this.#isLast = true;
        return this.#skip(value);
      case "header":
        this.#hasChecksum = (value & 4) !== 0;
        return this.#skip(headerBytes(value));
      case "block": {
        const type = (value >> 1) & 3;
        if (type === 3) throw new BadEncoding();
        this.#isLast = (value & 1) === 1;
        const size = type === 1 ? 1 : value >> 3;
        return this.#skip(size + (this.#isLast && this.#hasChecksum ? 4 : 0));
      }
      case "content":
        if (!this.#isLast) this.#expect("block", 3);
        return this.#isLast;
    }
  }

  #expect(state: "skippable" | "header" | "block" | "content", bytes: number): void {
    this.#state = state;
    this.#missing = bytes;
  }

  #skip(bytes: number): boolean {
    this.#expect("content", bytes);
    return bytes === 0 && this.#next();
  }
}

/** Bytes of a frame's header after its descriptor. */
function headerBytes(descriptor: number): number {
  const isSingle = (descriptor & 0x20) !== 0;
  // SAFETY: both are two bits of the descriptor.
  const contentSize = CONTENT_SIZE_BYTES[(descriptor >> 6) as 0 | 1 | 2 | 3];
  const size = isSingle && contentSize === 0 ? 1 : contentSize;
  return (isSingle ? 0 : 1) + DICTIONARY_ID_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3] + size;
}
