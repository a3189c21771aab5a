import type { MemoryLease } from "../platform/memory-pool.ts";

/** Milliseconds without a byte after which the reader gives a body up. */
const IDLE_MS = 30_000;
/** Milliseconds between two checks of a body's progress. */
const TICK_MS = 1_000;
/**
 * While other bodies wait for the memory that a body holds, it must bring this many bytes in this many milliseconds, or
 * be complete. A slower connection may be genuine: it gets 408 and may retry.
 */
const PRESSED = { bytes: 512 * 1024, milliseconds: 3_000 } as const;

/**
 * Bytes of the buffer that one read fills, unless more were counted for it: as many as have arrived so far, within
 * these bounds. The minimum is the size of the runtime's buffers, because any client may open a connection and send
 * nothing.
 */
const READ_BYTES = { min: 4 * 1024, max: 128 * 1024 } as const;

/** Why a body is incomplete: the connection ended early, its chunks are malformed, or it stalls. */
export type LossReason = "incomplete" | "idle" | "slow";

/** Thrown if a body is incomplete. */
export class BodyIncomplete extends Error {
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`The body is ${reason}.`);
    this.reason = reason;
  }
}

/** Reads a body chunk by chunk. Gives up a body without progress, which would otherwise hold memory indefinitely. */
export class BodyReader {
  readonly #reader: ChunkReader;
  readonly #isPressed: () => boolean;
  readonly #stalled: Promise<LossReason>;
  #giveUp: (reason: LossReason) => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #bytes = 0;
  /** Time of the last byte, or of the start. */
  #lastAt = Date.now();
  /** Total bytes at the latest ticks at which the body was read and others waited, as far back as `PRESSED` needs. */
  readonly #marks: number[] = [];

  /** @param isPressed whether other bodies wait for the memory that this one holds */
  constructor(body: ReadableStream<Uint8Array>, isPressed: () => boolean) {
    this.#reader = readerOf(body);
    this.#isPressed = isPressed;
    this.#stalled = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#arm();
  }

  /** Whether reads fill buffers of the caller, as those of a connection do. */
  get fillsBuffers(): boolean {
    return this.#reader.fill !== null;
  }

  /**
   * Returns the next chunk; `null` at the end. A chunk is alone in its buffer, which may be much larger, because the
   * sender decides how little a read brings. Copy what is kept, and give the buffer back.
   * @param minBytes bytes of the buffer, if the caller has counted them
   * @throws BodyIncomplete
   */
  async next(minBytes = 0): Promise<Chunk | null> {
    const size = Math.min(Math.max(this.#bytes, READ_BYTES.min, minBytes), READ_BYTES.max);
    return this.#received(this.#reader.read(size));
  }

  /**
   * Reads a body of a known length into one buffer. Does not wait for the end of the stream, which would take another
   * read.
   * @param length bytes, more than 0
   * @param lease of the body's bytes, which must not be reclaimed while they arrive
   * @throws BodyIncomplete
   */
  async whole(length: number, lease: MemoryLease): Promise<Uint8Array> {
    const { fill } = this.#reader;
    if (fill === null) throw new Error("The body is not read into buffers.");
    let view = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const chunk = await this.#received(fill(view.subarray(at)));
      if (chunk === null) throw new BodyIncomplete("incomplete");
      lease.renew();
      at += chunk.byteLength;
      // Each read detaches the buffer and returns it as a new one.
      view = new Uint8Array(chunk.buffer);
    }
    this.#stop();
    return view;
  }

  async #received(reading: Promise<ReadableStreamReadResult<Chunk>>): Promise<Chunk | null> {
    this.#isReading = true;
    // A connection that ends early is caused by the client, not a fault of the service.
    const read = reading.catch((): LossReason => "incomplete");
    const chunk = await Promise.race([read, this.#stalled]);
    this.#isReading = false;
    if (typeof chunk === "string") {
      this.close();
      throw new BodyIncomplete(chunk);
    }
    this.#lastAt = Date.now();
    if (chunk.done) {
      this.#stop();
      return null;
    }
    this.#bytes += chunk.value.byteLength;
    return chunk.value;
  }

  /** Reads on and discards, until the body has had `maxBytes` bytes in total. */
  async drain(maxBytes: number): Promise<null> {
    while (this.#bytes < maxBytes) {
      const chunk = await this.next();
      if (chunk === null) return null;
      this.recycle(chunk);
    }
    this.close();
    return null;
  }

  /** Gives the buffer of a chunk back for the next read. */
  recycle(chunk: Chunk): void {
    this.#reader.recycle(chunk);
  }

  /** Cancels the rest of the body. */
  close(): void {
    this.#stop();
    this.#reader.cancel();
  }

  #stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = setTimeout(() => this.#look(), TICK_MS);
  }

  #look(): void {
    const fault = this.#fault(Date.now());
    if (fault === null) this.#arm();
    else this.#giveUp(fault);
  }

  #fault(now: number): LossReason | null {
    // While the body itself waits for memory, it does not count as idle.
    if (!this.#isReading) this.#lastAt = now;
    if (!this.#isReading || !this.#isPressed()) this.#marks.length = 0;
    this.#marks.push(this.#bytes);
    if (now - this.#lastAt >= IDLE_MS) return "idle";
    if (this.#marks.length <= PRESSED.milliseconds / TICK_MS) return null;
    const before = this.#marks.shift() ?? 0;
    return this.#bytes - before < PRESSED.bytes ? "slow" : null;
  }
}

type Chunk = Uint8Array<ArrayBuffer>;

interface ChunkReader {
  /** @param size of the buffer that the read may fill */
  read(size: number): Promise<ReadableStreamReadResult<Chunk>>;
  /** Reads into a part of a buffer; `null` if chunks come in separate buffers. */
  fill: ((part: Chunk) => Promise<ReadableStreamReadResult<Chunk>>) | null;
  recycle(chunk: Chunk): void;
  cancel(): void;
}

function readerOf(body: ReadableStream<Uint8Array>): ChunkReader {
  try {
    const reader = body.getReader({ mode: "byob" });
    let spare: ArrayBuffer | null = null;
    return {
      read: (size) => {
        const buffer = spare !== null && spare.byteLength * 2 > size ? spare : new ArrayBuffer(size);
        spare = null;
        return reader.read(new Uint8Array(buffer));
      },
      fill: (part) => reader.read(part),
      recycle: ({ buffer }) => {
        spare = buffer;
      },
      cancel: () => void reader.cancel().catch(() => {}),
    };
  } catch {
    // A stream made by JavaScript may only return its own chunks, and may continue to use them.
    const reader = body.getReader();
    return {
      read: async () => {
        const { done, value } = await reader.read();
        return done ? { done, value: undefined } : { done, value: value.slice() };
      },
      fill: null,
      recycle: () => {},
      cancel: () => void reader.cancel().catch(() => {}),
    };
  }
}
