import { refuse } from "../../http/errors.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault } from "../decoder.ts";

/**
 * Bytes of output that copies may refer back to. Snappy's own encoders compress blocks of 64 KiB and never refer beyond
 * them; encoders without such blocks are decoded if the output has at most this many bytes
 * (docs/decisions/0042-snappy-in-a-window.md).
 */
export const SNAPPY_WINDOW_BYTES = 1024 * 1024;
/** Bytes of output that are passed on at once. */
const PART_BYTES = 64 * 1024;
/** Nanoseconds for an element, and for each byte that it makes. */
const COST_OF_ELEMENT = 15;
const COST_OF_BYTE = 2;
/** Bytes of the longest length before the elements, and of the longest tag with its operands. */
const LENGTH_BYTES = 5;
const TAG_BYTES = 5;
/** Bytes of the first ring. */
const FIRST_BYTES = 4096;
/** Bytes of the longest copy, and of the longest literal whose length is in its tag. */
const SHORT_LENGTH = 64;
/** Bytes up to which a loop copies faster than a call. */
const SHORT_BYTES = 48;

/**
 * Decompresses one block of Snappy's raw format while it arrives. It holds the last bytes of its output in a ring, which
 * grows with the output up to `SNAPPY_WINDOW_BYTES`, whatever length the block announces.
 */
export class SnappyReader {
  readonly #meter: TurnMeter;
  readonly #limit: number;
  readonly #onPart: (part: Uint8Array) => Steps<void>;
  #ring = new Uint8Array(FIRST_BYTES);
  /** Bytes of output so far, and how many of them were passed on. */
  #size = 0;
  #passed = 0;
  /** Bytes of output that the block announces; -1 until they are known. */
  #length = -1;
  /** Bytes of the current literal that did not arrive yet. */
  #literal = 0;
  /** The beginning of a length or tag that a chunk has cut. */
  readonly #head = new Uint8Array(TAG_BYTES);
  #headSize = 0;

  /**
   * @param limit maximum bytes of output
   * @param onPart receives the output in order; a part is valid during the call only
   */
  constructor(meter: TurnMeter, limit: number, onPart: (part: Uint8Array) => Steps<void>) {
    this.#meter = meter;
    this.#limit = limit;
    this.#onPart = onPart;
  }

  get held(): number {
    return this.#ring.length;
  }

  /** @throws DoorBodyFault, ApiError if the block announces more than the limit */
  *read(chunk: Uint8Array): Steps<void> {
    let at = 0;
    if (this.#length < 0) at = this.#readLength(chunk);
    while (at < chunk.length) {
      if (this.#literal > 0) {
        const end = Math.min(chunk.length, at + Math.min(this.#literal, PART_BYTES));
        this.#copyIn(chunk, at, end);
        this.#literal -= end - at;
        at = end;
      } else if (this.#headSize === 0 && chunk.length - at >= TAG_BYTES) {
        const after = this.#shortElements(chunk, at);
        at = after > at ? after : at + this.#element(chunk, at);
      } else {
        // Near the end of a chunk the tag is collected byte by byte.
        this.#head[this.#headSize++] = chunk[at++] ?? 0;
        if (this.#headSize < tagSize(this.#head[0] ?? 0)) continue;
        this.#headSize = 0;
        this.#element(this.#head, 0);
      }
      if (this.#size - this.#passed >= PART_BYTES) yield* this.#pass();
    }
  }

  /** @throws DoorBodyFault */
  *end(): Steps<void> {
    if (this.#length < 0 || this.#headSize > 0 || this.#literal > 0 || this.#size !== this.#length) {
      throw new DoorBodyFault("The Snappy block ends early. Send the block format, not the framing format.");
    }
    yield* this.#pass();
    this.free();
  }

  /** Frees the ring. Nothing may be read afterwards. */
  free(): void {
    detachBuffer(this.#ring);
    this.#ring = new Uint8Array();
  }

  /** @returns index of the byte after the length */
  #readLength(chunk: Uint8Array): number {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      this.#head[this.#headSize++] = byte;
      if (byte >= 0x80) {
        if (this.#headSize === LENGTH_BYTES) throw new DoorBodyFault("The body is not a Snappy block.");
        continue;
      }
      let length = 0;
      for (let i = this.#headSize - 1; i >= 0; i--) length = length * 0x80 + ((this.#head[i] ?? 0) & 0x7f);
      if (length > this.#limit)
        refuse("PAYLOAD_TOO_LARGE", `The body is larger than ${this.#limit} bytes after decompression.`);
      this.#length = length;
      this.#headSize = 0;
      return at + 1;
    }
    return chunk.length;
  }

  /**
   * Makes what the next elements say, as long as they are short and end before the ring does.
   * @returns index of the first other element
   */
  #shortElements(chunk: Uint8Array, from: number): number {
    const ring = this.#ring;
    // Such a ring has to grow first.
    if (this.#size === ring.length && ring.length < SNAPPY_WINDOW_BYTES) return from;
    const start = this.#size & (ring.length - 1);
    const base = this.#size - start;
    const last = Math.min(ring.length, start + PART_BYTES, this.#length - base) - SHORT_LENGTH;
    const end = chunk.length - SHORT_LENGTH - 1;
    let to = start;
    let at = from;
    while (at < end && to < last) {
      const tag = chunk[at] ?? 0;
      if ((tag & 3) === 0) {
        const length = (tag >> 2) + 1;
        if (length > 60) break;
        for (let i = 1; i <= length; i++) ring[to++] = chunk[at + i] ?? 0;
        at += 1 + length;
        continue;
      }
      const isNear = (tag & 3) === 1;
      if (!isNear && (tag & 3) === 3) break;
      const next = chunk[at + 1] ?? 0;
      const offset = isNear ? ((tag & 0xe0) << 3) | next : next | ((chunk[at + 2] ?? 0) << 8);
      const length = isNear ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
      // Copies from before the ring's beginning, and those that are not valid, are made byte by byte.
      if (offset === 0 || offset > to) break;
      for (let source = to - offset, n = length; n > 0; n--) ring[to++] = ring[source++] ?? 0;
      at += isNear ? 2 : 3;
    }
    this.#size = base + to;
    this.#meter.spend((at - from) * COST_OF_ELEMENT + (to - start) * COST_OF_BYTE);
    return at;
  }

  /** Reads a tag and makes what it says. @returns bytes of the tag */
  #element(bytes: Uint8Array, at: number): number {
    const tag = bytes[at] ?? 0;
    const a = bytes[at + 1] ?? 0;
    const b = bytes[at + 2] ?? 0;
    this.#meter.spend(COST_OF_ELEMENT);
    switch (tag & 3) {
      case 0: {
        const short = tag >> 2;
        const extra = short < 60 ? 0 : short - 59;
        const length = extra === 0 ? short : littleEndian(bytes, at + 1, extra);
        this.#literal = length + 1;
        if (this.#literal > this.#length - this.#size) throw tooLong();
        return 1 + extra;
      }
      case 1:
        this.#copy(((tag & 0xe0) << 3) | a, 4 + ((tag >> 2) & 7));
        return 2;
      case 2:
        this.#copy(a | (b << 8), 1 + (tag >> 2));
        return 3;
      default:
        this.#copy(littleEndian(bytes, at + 1, 4), 1 + (tag >> 2));
        return 5;
    }
  }

  /** Repeats bytes of the output. */
  #copy(offset: number, length: number): void {
    if (offset === 0 || offset > this.#size) throw new DoorBodyFault("A copy in the Snappy block refers to no byte.");
    if (offset > SNAPPY_WINDOW_BYTES) {
      const message = `A copy in the Snappy block refers back by more than ${SNAPPY_WINDOW_BYTES} bytes.`;
      throw new DoorBodyFault(`${message} Send smaller bodies, blocks of 64 KiB as Snappy's own encoder, or JSON.`);
    }
    if (length > this.#length - this.#size) throw tooLong();
    this.#meter.spend(length * COST_OF_BYTE);
    const ring = this.#roomFor(length);
    const mask = ring.length - 1;
    const to = this.#size & mask;
    const from = (this.#size - offset) & mask;
    if (Math.max(from, to) + length <= ring.length) {
      if (offset >= length && length > SHORT_BYTES) ring.copyWithin(to, from, from + length);
      else for (let i = 0; i < length; i++) ring[to + i] = ring[from + i] ?? 0;
    } else {
      for (let i = 0; i < length; i++) ring[(to + i) & mask] = ring[(from + i) & mask] ?? 0;
    }
    this.#size += length;
  }

  /** Copies bytes of a literal. */
  #copyIn(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#meter.spend(length * COST_OF_BYTE);
    const ring = this.#roomFor(length);
    const to = this.#size & (ring.length - 1);
    const first = Math.min(length, ring.length - to);
    if (length <= SHORT_BYTES && first === length) {
      for (let i = 0; i < length; i++) ring[to + i] = bytes[start + i] ?? 0;
    } else {
      ring.set(bytes.subarray(start, start + first), to);
      if (first < length) ring.set(bytes.subarray(start + first, end), 0);
    }
    this.#size += length;
  }

  /** Makes the ring as large as the output, up to the window. */
  #roomFor(more: number): Uint8Array<ArrayBuffer> {
    const ring = this.#ring;
    if (this.#size + more <= ring.length || ring.length === SNAPPY_WINDOW_BYTES) return ring;
    let length = ring.length;
    while (length < this.#size + more && length < SNAPPY_WINDOW_BYTES) length *= 2;
    const grown = new Uint8Array(length);
    // A ring below the window has not begun a second round.
    grown.set(ring.subarray(0, this.#size));
    detachBuffer(ring);
    this.#ring = grown;
    return grown;
  }

  *#pass(): Steps<void> {
    while (this.#passed < this.#size) {
      const from = this.#passed & (this.#ring.length - 1);
      const part = this.#ring.subarray(from, Math.min(this.#ring.length, from + this.#size - this.#passed));
      yield* this.#onPart(part);
      this.#passed += part.length;
    }
    if (this.#meter.isDue) yield;
  }
}

function tooLong(): DoorBodyFault {
  return new DoorBodyFault("The Snappy block makes more bytes than it announces.");
}

/** Bytes of a tag with its operands. */
function tagSize(tag: number): number {
  const short = tag >> 2;
  if ((tag & 3) === 0) return short < 60 ? 1 : short - 58;
  return [1, 2, 3, 5][tag & 3] ?? 1;
}

function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}
