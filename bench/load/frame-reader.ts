const FINAL = 0x80;
const MAX_HEADER = 10;

/** Compares a frame's bytes with predicted ones, and copies them only if they differ. */
export interface FrameTaker {
  /** The predicted bytes of a frame of this length; `null` if none are predicted. */
  expected(opcode: number, length: number): Buffer | null;
  /** Receives a whole frame. `payload` is the buffer of the prediction if the bytes are equal. */
  take(opcode: number, payload: Buffer): void;
}

/** Parses frames of a service (RFC 6455, not masked) as they arrive, and keeps no byte that was predicted. */
export class FrameReader {
  readonly #taker: FrameTaker;
  readonly #header = Buffer.alloc(MAX_HEADER);
  /** Bytes of the header so far. */
  #headed = 0;
  /** State of the frame whose header is complete: */
  #opcode = 0;
  #length = 0;
  #filled = 0;
  #expected: Buffer | null = null;
  #own: Buffer | null = null;

  constructor(taker: FrameTaker) {
    this.#taker = taker;
  }

  /** @param chunk may be overwritten after this call */
  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (!this.#isHeaded) {
        this.#header[this.#headed++] = chunk[at++] ?? 0;
        if (this.#isHeaded) this.#begin();
      } else {
        const part = chunk.subarray(at, at + this.#length - this.#filled);
        at += part.length;
        this.#fill(part);
      }
      if (this.#isHeaded && this.#filled === this.#length) this.#end();
    }
  }

  get #isHeaded(): boolean {
    if (this.#headed < 2) return false;
    const length = this.#header[1] ?? 0;
    return this.#headed === 2 + (length === 126 ? 2 : length === 127 ? 8 : 0);
  }

  #begin(): void {
    const [first = 0, length = 0] = this.#header;
    if ((first & FINAL) === 0 || length > 127) throw new Error("the frame is in parts or masked");
    this.#opcode = first & 15;
    this.#length = length;
    if (length === 126) this.#length = this.#header.readUInt16BE(2);
    if (length === 127) this.#length = Number(this.#header.readBigUInt64BE(2));
    this.#filled = 0;
    this.#expected = this.#taker.expected(this.#opcode, this.#length);
    this.#own = this.#expected ? null : Buffer.allocUnsafe(this.#length);
  }

  #fill(part: Buffer): void {
    const from = this.#filled;
    this.#filled += part.length;
    if (this.#expected && !this.#own) {
      if (part.compare(this.#expected, from, this.#filled) === 0) return;
      this.#own = Buffer.allocUnsafe(this.#length);
      this.#expected.copy(this.#own, 0, 0, from);
    }
    if (this.#own) part.copy(this.#own, from);
  }

  #end(): void {
    const payload = this.#own ?? this.#expected;
    this.#headed = 0;
    this.#own = null;
    this.#expected = null;
    if (payload) this.#taker.take(this.#opcode, payload);
  }
}
