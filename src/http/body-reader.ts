import type { MemoryLease } from "../platform/memory-pool.ts";

/** Milliseconds without a byte after which a body is given up. */
const IDLE_MS = 30_000;
/** Milliseconds between two looks at how a body gets on. */
const TICK_MS = 1_000;
/**
 * While others wait for the memory that a body holds, it has to bring so many bytes in so many milliseconds, or to be
 * whole. (A connection with less is an honest one on a bad day: it gets 408 and may try again.)
 */
const PRESSED = { bytes: 512 * 1024, milliseconds: 3_000 } as const;

/**
 * Bytes of the buffer that one read fills, unless more were counted for it: as many as have come so far, within these bounds.
 * The least is what the runtime's own buffers have: any client may open a connection and send nothing.
 */
const READ_BYTES = { least: 4 * 1024, most: 128 * 1024 } as const;

/** Why the rest of a body will not come: the connection ended early, its chunks are malformed, or it stalls. */
export type LossReason = "incomplete" | "idle" | "slow";

/** Thrown where a body does not come to its end. */
export class BodyIncomplete extends Error {
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`The body is ${reason}.`);
    this.reason = reason;
  }
}

/** Reads a body piece by piece, and gives up one that does not get on: a half-sent body would be held for ever. */
export class BodyReader {
  readonly #reader: PieceReader;
  readonly #isPressed: () => boolean;
  readonly #stalled: Promise<LossReason>;
  #giveUp: (reason: LossReason) => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #bytes = 0;
  /** When the last byte came, or reading began. */
  #lastAt = Date.now();
  /** Bytes in all at the last ticks, of a time in which it was read and others waited, as far back as `PRESSED` looks. */
  readonly #marks: number[] = [];

  /** @param isPressed whether others wait for the memory that this body holds */
  constructor(body: ReadableStream<Uint8Array>, isPressed: () => boolean) {
    this.#reader = readerOf(body);
    this.#isPressed = isPressed;
    this.#stalled = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#arm();
  }

  /** Whether reads fill buffers of the caller: bodies of connections do so. */
  get fillsBuffers(): boolean {
    return this.#reader.fill !== null;
  }

  /**
   * The next piece; null at the end. It is alone in its buffer, which may be much larger: a sender decides how little a read
   * brings. What is kept is copied out of it, and the buffer given back.
   * @param least bytes of the buffer, where the caller has counted them
   * @throws BodyIncomplete
   */
  async next(least = 0): Promise<Piece | null> {
    const size = Math.min(Math.max(this.#bytes, READ_BYTES.least, least), READ_BYTES.most);
    return this.#received(this.#reader.read(size));
  }

  /**
   * A body of a known length, read into one buffer of that length. Its end is not asked for: that would take one more read.
   * @param length bytes, more than 0
   * @param lease of its bytes, which must not be reclaimed while they come
   * @throws BodyIncomplete
   */
  async whole(length: number, lease: MemoryLease): Promise<Uint8Array> {
    const { fill } = this.#reader;
    if (fill === null) throw new Error("The body is not read into buffers.");
    let view = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const piece = await this.#received(fill(view.subarray(at)));
      if (piece === null) throw new BodyIncomplete("incomplete");
      lease.renew();
      at += piece.byteLength;
      // Each read takes the buffer away and gives it back under another name.
      view = new Uint8Array(piece.buffer);
    }
    this.#stop();
    return view;
  }

  async #received(reading: Promise<ReadableStreamReadResult<Piece>>): Promise<Piece | null> {
    this.#isReading = true;
    // A connection that ends early is the sender's doing, and no fault of ours.
    const read = reading.catch((): LossReason => "incomplete");
    const piece = await Promise.race([read, this.#stalled]);
    this.#isReading = false;
    if (typeof piece === "string") {
      this.close();
      throw new BodyIncomplete(piece);
    }
    this.#lastAt = Date.now();
    if (piece.done) {
      this.#stop();
      return null;
    }
    this.#bytes += piece.value.byteLength;
    return piece.value;
  }

  /** Reads on, keeping nothing, until the body has had `most` bytes in all. */
  async drain(most: number): Promise<null> {
    while (this.#bytes < most) {
      const piece = await this.next();
      if (piece === null) return null;
      this.recycle(piece);
    }
    this.close();
    return null;
  }

  /** The next read may fill a piece's buffer again. */
  recycle(piece: Piece): void {
    this.#reader.recycle(piece);
  }

  /** Takes no more of it. */
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
    // A body that waits for memory is not to blame.
    if (!this.#isReading) this.#lastAt = now;
    if (!this.#isReading || !this.#isPressed()) this.#marks.length = 0;
    this.#marks.push(this.#bytes);
    if (now - this.#lastAt >= IDLE_MS) return "idle";
    if (this.#marks.length <= PRESSED.milliseconds / TICK_MS) return null;
    const before = this.#marks.shift() ?? 0;
    return this.#bytes - before < PRESSED.bytes ? "slow" : null;
  }
}

type Piece = Uint8Array<ArrayBuffer>;

interface PieceReader {
  /** @param size of the buffer that it may fill */
  read(size: number): Promise<ReadableStreamReadResult<Piece>>;
  /** Reads into a part of a buffer; null where pieces come in buffers of their own. */
  fill: ((part: Piece) => Promise<ReadableStreamReadResult<Piece>>) | null;
  recycle(piece: Piece): void;
  cancel(): void;
}

function readerOf(body: ReadableStream<Uint8Array>): PieceReader {
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
    // A stream that was made by JavaScript, not by a connection, may give its own pieces only. It may go on using them.
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
