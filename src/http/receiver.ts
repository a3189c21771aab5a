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
 * Bytes of the buffer that one read fills: as many as have come so far, within these bounds, so that a connection that
 * stands still holds no more than it has sent. The runtime's own buffers have 4 KiB, each behind a promise of its own.
 */
const READ_BYTES = { least: 8 * 1024, most: 64 * 1024 } as const;

/** Why the rest of a body will not come: the connection ended early or its chunks are none, or it stands still. */
export type LossReason = "incomplete" | "idle" | "slow";

/** Thrown where a body does not come to its end. */
export class BodyLost extends Error {
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`The body is ${reason}.`);
    this.reason = reason;
  }
}

/** Reads a body piece by piece, and gives up one that does not get on: a half-sent body would be held for ever. */
export class Receiver {
  readonly #reader: PieceReader;
  readonly #isPressed: () => boolean;
  readonly #stalled: Promise<LossReason>;
  #giveUp: (reason: LossReason) => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #bytes = 0;
  /** When the last byte came, or reading began. */
  #lastAt = Date.now();
  /** Where the stretch began that is looked at. */
  #stretch = { at: Date.now(), bytes: 0 };

  /** @param isPressed whether others wait for the memory that this body holds */
  constructor(body: ReadableStream<Uint8Array>, isPressed: () => boolean) {
    this.#reader = readerOf(body);
    this.#isPressed = isPressed;
    this.#stalled = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#arm();
  }

  /** The next piece; null at the end. @throws BodyLost */
  async next(): Promise<Uint8Array | null> {
    this.#isReading = true;
    // A connection that ends early is the sender's doing, and no fault of ours.
    const size = Math.min(Math.max(this.#bytes, READ_BYTES.least), READ_BYTES.most);
    const read = this.#reader.read(size).catch((): LossReason => "incomplete");
    const piece = await Promise.race([read, this.#stalled]);
    this.#isReading = false;
    if (typeof piece === "string") {
      this.close();
      throw new BodyLost(piece);
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
    while (this.#bytes < most) if ((await this.next()) === null) return null;
    this.close();
    return null;
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
    if (!this.#isReading) {
      // A body that waits for memory is not to blame.
      this.#lastAt = now;
      this.#stretch = { at: now, bytes: this.#bytes };
      return null;
    }
    if (now - this.#lastAt >= IDLE_MS) return "idle";
    if (now - this.#stretch.at < PRESSED.milliseconds) return null;
    const isSlow = this.#bytes - this.#stretch.bytes < PRESSED.bytes;
    this.#stretch = { at: now, bytes: this.#bytes };
    return isSlow && this.#isPressed() ? "slow" : null;
  }
}

interface PieceReader {
  /** @param size of the buffer that it may fill */
  read(size: number): Promise<ReadableStreamReadResult<Uint8Array>>;
  cancel(): void;
}

function readerOf(body: ReadableStream<Uint8Array>): PieceReader {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      read: (size) => reader.read(new Uint8Array(size)),
      cancel: () => void reader.cancel().catch(() => {}),
    };
  } catch {
    // A stream that was made by JavaScript, not by a connection, may give its own pieces only.
    const reader = body.getReader();
    return { read: () => reader.read(), cancel: () => void reader.cancel().catch(() => {}) };
  }
}
