import { detachBuffer, largeBodies, smallBodies } from "../platform/isolate-memory.ts";
import type { MemoryLease, MemoryPool } from "../platform/memory-pool.ts";
import { BodyIncomplete, BodyReader, type LossReason } from "./body-reader.ts";
import { type Encoding, encodingOf, inflated } from "./encodings.ts";

/** Bytes up to which a body over its limit is read and discarded, so that the client can read the response. */
export const DRAIN_BYTES = 16 * 1024 * 1024;
/** Bytes up to which a body is small, as sent and inflated. Any content of that size is cheap to read. */
export const SMALL_BYTES = 64 * 1024;
/** Milliseconds for which a body may wait for memory. */
const MEMORY_WAIT_MS = 10_000;
/** Maximum ratio of deflate. A frame of zstd has no bound that matters. */
const MAX_INFLATION = 1032;
const NO_ENCODINGS: readonly Encoding[] = [];

export type BodyFault =
  | "too_large"
  | "bad_encoding"
  | "unknown_encoding"
  /** The body is incomplete. */
  | LossReason
  /** No memory was free in time. */
  | "no_memory";

export type BodyResult =
  /** The lease covers the bytes; the reader of the body releases it. */
  { ok: true; bytes: Uint8Array; lease: MemoryLease } | { ok: false; reason: BodyFault };

export interface BodyOptions {
  /** The values of `Content-Encoding` that are accepted; the limit applies to the inflated body. None by default. */
  encodings?: readonly Encoding[];
  /** Called once, before more than 64 KiB are received or inflated. May end the request. */
  beforeLarge?: () => Promise<void>;
}

/** Reads a body of at most `limit` bytes, and counts them in the isolate's budget as they arrive. */
export async function readBody(request: Request, limit: number, options: BodyOptions = {}): Promise<BodyResult> {
  const bodyLease = new BodyLease(options.beforeLarge);
  try {
    const result = await receive(request, limit, options, bodyLease);
    if (!result.ok) bodyLease.release();
    return result;
  } catch (error) {
    bodyLease.release();
    if (error instanceof BodyIncomplete) return { ok: false, reason: error.reason };
    if (error instanceof NoMemory) return { ok: false, reason: "no_memory" };
    throw error;
  }
}

/**
 * Reads what no handler has read, up to the drain limit. Without it, a response before the end of its request makes the
 * server close the connection, and a client that is still sending gets a reset instead of the response.
 */
export async function drainUnread(request: Request): Promise<void> {
  // In this order, because `body` makes an object of a stream that was read to its end.
  if (request.bodyUsed || request.body === null) return;
  try {
    // Discarded bytes take no memory.
    await new BodyReader(request.body, () => false).drain(DRAIN_BYTES);
  } catch {
    // The connection ended early or stalls: the response is sent, and the connection is closed.
  }
}

/** Thrown if no memory was free in time. */
export class NoMemory extends Error {}

/** The memory of one body. */
export class BodyLease {
  readonly #beforeLarge: (() => Promise<void>) | undefined;
  #pool: MemoryPool = smallBodies;
  #lease: MemoryLease | null = null;

  constructor(beforeLarge: (() => Promise<void>) | undefined) {
    this.#beforeLarge = beforeLarge;
  }

  get isLarge(): boolean {
    return this.#pool === largeBodies;
  }

  get isPressed(): boolean {
    return this.#pool.waiting > 0;
  }

  /** Resizes the lease to the bytes that are in memory already. */
  leaseFor(bytes: number): MemoryLease {
    this.#lease ??= this.#pool.hold(bytes);
    this.#lease.resize(bytes);
    return this.#lease;
  }

  /** Takes over a lease that was granted before the bytes arrived. */
  adopt(lease: MemoryLease): MemoryLease {
    this.#lease = lease;
    return lease;
  }

  /** Calls `beforeLarge` once, before the body takes more memory than a small one. @throws what `beforeLarge` throws */
  async switchToLargePool(): Promise<void> {
    if (this.isLarge) return;
    await this.#beforeLarge?.();
    this.release();
    this.#pool = largeBodies;
  }

  /** Waits for memory of this many bytes in total. @throws NoMemory */
  async reserve(bytes: number): Promise<void> {
    if (bytes > SMALL_BYTES) await this.switchToLargePool();
    if (this.#lease === null) this.#lease = await this.#pool.take(bytes, MEMORY_WAIT_MS);
    else if (bytes > this.#lease.bytes && !(await this.#lease.grow(bytes, MEMORY_WAIT_MS))) throw new NoMemory();
    if (this.#lease === null) throw new NoMemory();
  }

  release(): void {
    this.#lease?.release();
    this.#lease = null;
  }
}

async function receive(
  request: Request,
  limit: number,
  { encodings = NO_ENCODINGS }: BodyOptions,
  bodyLease: BodyLease,
): Promise<BodyResult> {
  const { body, headers } = request;
  if (body === null) return { ok: true, bytes: new Uint8Array(0), lease: bodyLease.leaseFor(0) };
  const length = Number(headers.get("Content-Length") ?? Number.NaN);
  if (length > SMALL_BYTES && length <= limit) await bodyLease.switchToLargePool();
  const reader = new BodyReader(body, () => bodyLease.isPressed);
  const raw = length > limit ? await reader.drain(DRAIN_BYTES) : await read(reader, length, limit, bodyLease);
  if (raw === null) return { ok: false, reason: "too_large" };
  const encoding = encodingOf(headers, encodings);
  if (encoding === "identity") return { ok: true, bytes: raw, lease: bodyLease.leaseFor(raw.length) };
  if (encoding === null) return { ok: false, reason: "unknown_encoding" };
  return inflate(raw, encoding, limit, bodyLease);
}

/**
 * Returns the bytes as sent; `null` if there are more than `limit`. A read costs about as much as parsing ten entries.
 * So a small body of known length is read into one buffer, and a large one starts with a large buffer while memory is
 * free.
 * @throws BodyIncomplete
 */
async function read(
  reader: BodyReader,
  length: number,
  limit: number,
  bodyLease: BodyLease,
): Promise<Uint8Array | null> {
  const ahead = length > 0 && reader.fillsBuffers ? smallBodies.tryTakeAhead(Math.min(length, SMALL_BYTES)) : null;
  if (ahead === null) return collect(reader, limit, bodyLease, null);
  if (length <= SMALL_BYTES) return reader.whole(length, bodyLease.adopt(ahead));
  try {
    return await collect(reader, limit, bodyLease, ahead);
  } finally {
    ahead.release();
  }
}

/** Reads on past `limit` and discards. @param ahead counts the buffer of a read @throws BodyIncomplete */
async function collect(
  reader: BodyReader,
  limit: number,
  bodyLease: BodyLease,
  ahead: MemoryLease | null,
): Promise<Uint8Array | null> {
  const chunks = new ChunkBuffer(reader);
  const minBytes = ahead?.bytes ?? 0;
  for (let chunk = await reader.next(minBytes); chunk !== null; chunk = await reader.next(minBytes)) {
    ahead?.renew();
    chunks.add(chunk);
    if (chunks.size > limit) {
      chunks.drop();
      bodyLease.release();
      return reader.drain(DRAIN_BYTES);
    }
    try {
      await bodyLease.reserve(chunks.size);
    } catch (error) {
      // The request ends here, and its client must be able to read the response.
      chunks.drop();
      bodyLease.release();
      await reader.drain(DRAIN_BYTES).catch(() => {});
      throw error;
    }
  }
  return chunks.joined();
}

/** Bytes of the buffer into which small chunks are copied. */
const SMALL_CHUNKS_BYTES = 1024;

/**
 * Collects the chunks of a body. With the buffer of the next read it takes at most three times its size and 5 KiB,
 * however little each read brings: a chunk that fills less than half of its buffer is copied, and the buffer is filled
 * again.
 */
export class ChunkBuffer {
  size = 0;
  readonly #reader: BodyReader;
  readonly #whole: Uint8Array[] = [];
  /** Small chunks, up to `#used`; `null` before the first. */
  #small: Uint8Array | null = null;
  #used = 0;

  /** @param reader of the chunks */
  constructor(reader: BodyReader) {
    this.#reader = reader;
  }

  add(chunk: Uint8Array<ArrayBuffer>): void {
    this.size += chunk.byteLength;
    if (chunk.byteLength * 2 >= chunk.buffer.byteLength) {
      this.#appendSmall();
      this.#whole.push(chunk);
      return;
    }
    if (chunk.byteLength > SMALL_CHUNKS_BYTES) {
      this.#appendSmall();
      this.#whole.push(chunk.slice());
    } else this.#copy(chunk);
    this.#reader.recycle(chunk);
  }

  drop(): void {
    this.#whole.length = 0;
    this.#small = null;
  }

  joined(): Uint8Array {
    this.#appendSmall();
    if (this.#small) detachBuffer(this.#small);
    const [only] = this.#whole;
    if (only && this.#whole.length === 1) return only;
    const out = new Uint8Array(this.size);
    let at = 0;
    for (const chunk of this.#whole) {
      out.set(chunk, at);
      at += chunk.byteLength;
      // The buffer belongs to the chunk, even if it is not full.
      detachBuffer(new Uint8Array(chunk.buffer));
    }
    return out;
  }

  #copy(chunk: Uint8Array): void {
    if (this.#used + chunk.byteLength > SMALL_CHUNKS_BYTES) this.#appendSmall();
    this.#small ??= new Uint8Array(SMALL_CHUNKS_BYTES);
    this.#small.set(chunk, this.#used);
    this.#used += chunk.byteLength;
  }

  /** Appends the small chunks to those before them. */
  #appendSmall(): void {
    if (this.#used > 0 && this.#small) this.#whole.push(this.#small.slice(0, this.#used));
    this.#used = 0;
  }
}

/** Inflates in one pass and stops at the limit, so that a small body never unpacks to gigabytes. */
async function inflate(raw: Uint8Array, encoding: Encoding, limit: number, bodyLease: BodyLease): Promise<BodyResult> {
  // Most bodies are small, so the first attempt asks for no more memory than a small one takes.
  let bytes = bodyLease.isLarge ? "too_large" : inflated(raw, encoding, Math.min(limit, SMALL_BYTES));
  if (bytes === "too_large" && limit > SMALL_BYTES) {
    await bodyLease.switchToLargePool();
    const most = encoding === "zstd" ? limit : Math.min(limit, raw.length * MAX_INFLATION);
    await bodyLease.reserve(raw.length + most);
    bytes = inflated(raw, encoding, limit);
  }
  detachBuffer(raw);
  return bytes instanceof Uint8Array
    ? { ok: true, bytes, lease: bodyLease.leaseFor(bytes.length) }
    : { ok: false, reason: bytes };
}
