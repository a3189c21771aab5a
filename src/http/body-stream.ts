import { detachBuffer } from "../platform/isolate-memory.ts";
import {
  type BodyFault,
  BodyLease,
  type BodyOptions,
  type BodyResult,
  ChunkBuffer,
  DRAIN_BYTES,
  NoMemory,
  readBody,
  SMALL_BYTES,
} from "./body.ts";
import { BodyIncomplete, BodyReader } from "./body-reader.ts";
import {
  BadEncoding,
  type Encoding,
  encodingOf,
  INFLATED_BYTES,
  inflated,
  inflatedChunks,
  inflaterBytes,
} from "./encodings.ts";

/** Bytes of one read. */
const READ_BYTES = 128 * 1024;

/** Thrown by `BodyStream` if the body cannot be read to its end. The rest of the body was discarded. */
export class BodyFailed extends Error {
  readonly reason: BodyFault;

  constructor(reason: BodyFault) {
    super(`The body cannot be read: ${reason}.`);
    this.reason = reason;
  }
}

/**
 * Reads a body, or opens it as a stream if it is larger than 64 KiB, as sent or inflated. So a body may be larger than
 * the memory for bodies; `options` are those of `readBody`.
 * @param limit bytes, as sent and inflated
 */
export async function openBody(
  request: Request,
  limit: number,
  options: BodyOptions,
): Promise<BodyResult | BodyStream> {
  const { body, headers } = request;
  const length = Number(headers.get("Content-Length") ?? Number.NaN);
  const sent = encodingOf(headers, options.encodings ?? []);
  if (body === null || sent === null || (sent === "identity" && length <= SMALL_BYTES)) {
    return readBody(request, limit, options);
  }
  const encoding = sent === "identity" ? null : sent;
  const bodyLease = new BodyLease(options.beforeLarge);
  const reader = new BodyReader(body, () => bodyLease.isPressed);
  try {
    if (length > limit) {
      await reader.drain(limit + DRAIN_BYTES);
      return { ok: false, reason: "too_large" };
    }
    const first = length > SMALL_BYTES ? null : await readSmall(reader, bodyLease);
    if (first?.isWhole) {
      const bytes = encoding ? inflated(first.bytes, encoding, Math.min(limit, SMALL_BYTES)) : first.bytes;
      if (bytes instanceof Uint8Array) return { ok: true, bytes, lease: bodyLease.leaseFor(bytes.length) };
      if (bytes === "bad_encoding" || limit <= SMALL_BYTES) {
        bodyLease.release();
        return { ok: false, reason: bytes };
      }
    }
    await bodyLease.switchToLargePool();
    return new BodyStream(reader, first, { limit, encoding, bodyLease, length: encoding ? Number.NaN : length });
  } catch (error) {
    bodyLease.release();
    if (error instanceof BodyIncomplete) return { ok: false, reason: error.reason };
    // The request ends here, and its client must be able to read the response.
    await reader.drain(limit + DRAIN_BYTES).catch(() => {});
    if (error instanceof NoMemory) return { ok: false, reason: "no_memory" };
    throw error;
  }
}

interface FirstBytes {
  bytes: Uint8Array;
  /** Whether the body has ended. */
  isWhole: boolean;
}

/** Reads until a body of unknown length has ended or is not small. */
async function readSmall(reader: BodyReader, bodyLease: BodyLease): Promise<FirstBytes> {
  const chunks = new ChunkBuffer(reader);
  for (let chunk = await reader.next(); chunk !== null; chunk = await reader.next()) {
    chunks.add(chunk);
    if (chunks.size > SMALL_BYTES) return { bytes: chunks.joined(), isWhole: false };
    await bodyLease.reserve(chunks.size);
  }
  return { bytes: chunks.joined(), isWhole: true };
}

interface StreamOptions {
  limit: number;
  /** `null` if the body is sent as it is. */
  encoding: Encoding | null;
  bodyLease: BodyLease;
  /** Bytes of the body; NaN if they are not known. */
  length: number;
}

/** A large body while it arrives. Release it when its batches are stored. */
export class BodyStream {
  readonly #reader: BodyReader;
  readonly #first: FirstBytes | null;
  readonly #options: StreamOptions;
  #sent = 0;
  #isFailed = false;

  constructor(reader: BodyReader, first: FirstBytes | null, options: StreamOptions) {
    this.#reader = reader;
    this.#first = first;
    this.#options = options;
  }

  /** Bytes of the whole body; `undefined` if they are not known. */
  get length(): number | undefined {
    const { length } = this.#options;
    return Number.isNaN(length) ? undefined : length;
  }

  /** Bytes that the stream itself holds. */
  get held(): number {
    const { encoding } = this.#options;
    return READ_BYTES + (encoding ? READ_BYTES + INFLATED_BYTES + inflaterBytes(encoding) : 0);
  }

  /** Waits for memory of this many bytes in total. @throws BodyFailed */
  async reserve(bytes: number): Promise<void> {
    try {
      await this.#options.bodyLease.reserve(bytes);
    } catch (error) {
      if (!(error instanceof NoMemory)) throw error;
      throw await this.#failed("no_memory");
    }
  }

  /** Sets the lease to the bytes that are in memory. */
  resize(bytes: number): void {
    this.#options.bodyLease.leaseFor(bytes);
  }

  release(): void {
    this.#options.bodyLease.release();
  }

  /** Discards what was not read, so that the client can read the response. */
  async drain(): Promise<void> {
    await this.#reader.drain(this.#options.limit + DRAIN_BYTES).catch(() => {});
  }

  /** Yields the body in chunks, inflated. A chunk is valid until the next one is requested. @throws BodyFailed */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const { limit, encoding } = this.#options;
    let size = 0;
    for await (const chunk of encoding ? this.#inflated(encoding) : this.#received()) {
      size += chunk.length;
      if (size > limit) throw await this.#failed("too_large");
      yield chunk;
    }
  }

  async *#received(): AsyncGenerator<Uint8Array> {
    const { limit } = this.#options;
    if (this.#first !== null) {
      this.#sent += this.#first.bytes.length;
      yield this.#first.bytes;
      detachBuffer(this.#first.bytes);
      if (this.#first.isWhole) return;
    }
    try {
      while (!this.#isFailed) {
        const chunk = await this.#reader.next(READ_BYTES);
        if (chunk === null) return;
        this.#sent += chunk.length;
        if (this.#sent > limit) throw await this.#failed("too_large");
        yield chunk;
        this.#reader.recycle(chunk);
      }
    } catch (error) {
      throw error instanceof BodyIncomplete ? new BodyFailed(error.reason) : error;
    }
  }

  async *#inflated(encoding: Encoding): AsyncGenerator<Uint8Array> {
    try {
      yield* inflatedChunks(this.#received(), encoding);
    } catch (error) {
      throw error instanceof BadEncoding ? await this.#failed("bad_encoding") : error;
    }
  }

  async #failed(reason: BodyFault): Promise<BodyFailed> {
    this.#isFailed = true;
    await this.drain();
    return new BodyFailed(reason);
  }
}
