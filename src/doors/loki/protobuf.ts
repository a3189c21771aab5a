import { textOfAny } from "../../platform/bytes.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault } from "../decoder.ts";
import { MAX_VALUE_BYTES } from "../shared/json-cutter.ts";
import { KeptBytes } from "../shared/kept-bytes.ts";

/** Nanoseconds for a field, and for each byte of it that is copied or read. */
const COST_OF_FIELD = 40;
const COST_OF_BYTE = 5;
/** Bytes of the longest field number with its length or value. */
const HEADER_BYTES = 20;
const VARINT_BYTES = 10;
/** Bytes up to which a loop decodes ASCII faster than a call. */
const SHORT_TEXT = 24;

/** Wire types. Groups, which no current protocol uses, are refused. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/**
 * Receives a field. `length` is larger than that of `bytes` if the field was too long to be held. The bytes are valid
 * during the call only.
 */
type FieldHandler = (bytes: Uint8Array, length: number) => void;

/** A message whose fields are read while it arrives. All members are by field number. */
export interface MessageShape {
  /** Fields that are messages to be read while they arrive. */
  readonly messages?: Readonly<Record<number, MessageShape>>;
  /** Fields that are held until they are complete. */
  readonly fields?: Readonly<Record<number, FieldHandler>>;
  readonly begin?: () => void;
  readonly end?: () => void;
}

interface OpenMessage {
  shape: MessageShape;
  /** Offset in the body of the byte after the message. */
  end: number;
}

/**
 * Reads a protobuf message that is larger than memory may be: it enters the messages of a shape while they arrive, holds one
 * field of them, and skips every field that the shape does not have.
 */
export class ProtobufStream {
  readonly #meter: TurnMeter;
  /** The messages that have not ended, the innermost last. */
  readonly #open: OpenMessage[];
  /** Offset in the body of the next byte. */
  #offset = 0;
  /** Bytes of the current field that are skipped. */
  #skip = 0;
  /** Receives the current field; `null` between two fields. */
  #field: FieldHandler | null = null;
  readonly #kept = new KeptBytes(MAX_VALUE_BYTES);
  /** Bytes of the current field as sent. */
  #fieldLength = 0;
  /** The beginning of a header that a chunk has cut. */
  readonly #head = new Uint8Array(HEADER_BYTES);
  #headSize = 0;

  constructor(meter: TurnMeter, root: MessageShape) {
    this.#meter = meter;
    this.#open = [{ shape: root, end: Number.POSITIVE_INFINITY }];
  }

  get held(): number {
    return this.#kept.held;
  }

  /** @throws DoorBodyFault */
  *read(chunk: Uint8Array): Steps<void> {
    for (let at = 0; at < chunk.length; ) {
      const taken = this.#step(chunk, at);
      at += taken;
      this.#offset += taken;
      this.#closeEnded();
      if (this.#meter.isDue) yield;
    }
  }

  /** @throws DoorBodyFault */
  end(): void {
    if (this.#open.length > 1 || this.#skip > 0 || this.#field !== null || this.#headSize > 0) {
      throw new DoorBodyFault("The protobuf message ends early.");
    }
    this.#kept.free();
    this.#top.shape.end?.();
  }

  /** Reads at most one field. @returns bytes read */
  #step(chunk: Uint8Array, at: number): number {
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, chunk.length - at);
      this.#skip -= skipped;
      return skipped;
    }
    if (this.#field !== null) return this.#hold(this.#field, chunk, at);
    if (this.#headSize === 0 && chunk.length - at >= HEADER_BYTES) {
      const size = this.#header(chunk, at, at + HEADER_BYTES, this.#offset - at);
      if (size === 0) throw notProtobuf();
      return size + this.#passWhole(chunk, at + size);
    }
    // Near the end of a chunk the header is collected byte by byte.
    if (this.#headSize === HEADER_BYTES) throw notProtobuf();
    this.#head[this.#headSize++] = chunk[at] ?? 0;
    if (this.#header(this.#head, 0, this.#headSize, this.#offset + 1 - this.#headSize) > 0) this.#headSize = 0;
    return 1;
  }

  /**
   * Reads a field's number, and its value or length.
   * @param base offset in the body of the first of `bytes`
   * @returns bytes read; 0 if the header is not complete
   */
  #header(bytes: Uint8Array, start: number, end: number, base: number): number {
    const afterKey = endOfVarint(bytes, start, end);
    if (afterKey < 0) return 0;
    const key = varint(bytes, start, afterKey);
    const wire = key & 7;
    const number = Math.floor(key / 8);
    if (number === 0 || (wire !== VARINT && wire !== BYTES && wire !== FIXED64 && wire !== FIXED32))
      throw notProtobuf();
    let after = afterKey;
    let length = wire === FIXED64 ? 8 : wire === FIXED32 ? 4 : 0;
    if (wire === VARINT || wire === BYTES) {
      after = endOfVarint(bytes, afterKey, end);
      if (after < 0) return 0;
      if (wire === BYTES) length = varint(bytes, afterKey, after);
    }
    this.#meter.spend(COST_OF_FIELD);
    const { shape, end: messageEnd } = this.#top;
    if (base + after + length > messageEnd) throw notProtobuf();
    const message = wire === BYTES ? shape.messages?.[number] : undefined;
    const field = wire === BYTES ? shape.fields?.[number] : undefined;
    if (message) {
      this.#open.push({ shape: message, end: base + after + length });
      message.begin?.();
    } else if (field && length > 0) {
      this.#field = field;
      this.#fieldLength = length;
    } else {
      this.#skip = length;
      field?.(new Uint8Array(), 0);
    }
    return after - start;
  }

  /** Passes on a field that has arrived as a whole, without a copy. @returns bytes read */
  #passWhole(chunk: Uint8Array, at: number): number {
    const field = this.#field;
    const length = this.#fieldLength;
    if (field === null || length > chunk.length - at || length > MAX_VALUE_BYTES) return 0;
    this.#field = null;
    this.#pass(field, chunk.subarray(at, at + length), length);
    return length;
  }

  /** Collects a field. @returns bytes read */
  #hold(field: FieldHandler, chunk: Uint8Array, at: number): number {
    const taken = Math.min(chunk.length - at, this.#fieldLength - this.#kept.length);
    this.#kept.add(chunk, at, at + taken);
    if (this.#kept.length < this.#fieldLength) return taken;
    this.#field = null;
    this.#pass(field, this.#kept.bytes, this.#fieldLength);
    this.#kept.clear();
    return taken;
  }

  #pass(field: FieldHandler, bytes: Uint8Array, length: number): void {
    this.#meter.spend(bytes.length * COST_OF_BYTE);
    field(bytes, length);
  }

  #closeEnded(): void {
    while (this.#offset === this.#top.end) {
      this.#top.shape.end?.();
      this.#open.pop();
    }
  }

  get #top(): OpenMessage {
    const top = this.#open.at(-1);
    if (top === undefined) throw new Error("The root of a protobuf message has ended.");
    return top;
  }
}

/**
 * Reads the fields of a message that is in memory. Of a message that was cut, the last field is what is left of it.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  readonly #isCut: boolean;
  readonly #last: number;
  #at: number;
  /** Number and wire type of the current field. */
  number = 0;
  wire = 0;
  /** A varint, as far as a number holds it, or the length of the current field's bytes as sent. */
  value = 0;
  /** Where the bytes of the current field begin and end. */
  start = 0;
  end = 0;

  constructor(bytes: Uint8Array, isCut = false, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    this.#isCut = isCut;
    this.#at = from;
    this.#last = to;
  }

  /** Reads the message that the current field is. */
  inner(): FieldReader {
    return new FieldReader(this.#bytes, this.#isCut, this.start, this.end);
  }

  /** Moves to the next field. @returns whether there is one @throws DoorBodyFault */
  next(): boolean {
    const bytes = this.#bytes;
    const last = this.#last;
    if (this.#at >= last) return false;
    const afterKey = endOfVarint(bytes, this.#at, last);
    if (afterKey < 0) return this.#endEarly();
    const key = varint(bytes, this.#at, afterKey);
    this.number = Math.floor(key / 8);
    this.wire = key & 7;
    if (this.number === 0) throw notProtobuf();
    let length = this.wire === FIXED64 ? 8 : this.wire === FIXED32 ? 4 : 0;
    let after = afterKey;
    if (this.wire === VARINT || this.wire === BYTES) {
      after = endOfVarint(bytes, afterKey, last);
      if (after < 0) return this.#endEarly();
      this.value = varint(bytes, afterKey, after);
      if (this.wire === BYTES) length = this.value;
    } else if (length === 0) {
      throw notProtobuf();
    }
    this.start = after;
    this.end = after + length;
    if (this.end > last) {
      if (!this.#isCut) throw notProtobuf();
      this.end = last;
    }
    this.#at = this.end;
    return true;
  }

  /** The current field as UTF-8; invalid bytes become U+FFFD. */
  get text(): string {
    return textOf(this.#bytes, this.start, this.end);
  }

  #endEarly(): false {
    if (!this.#isCut) throw notProtobuf();
    this.#at = this.#last;
    return false;
  }
}

/** Decodes UTF-8. A short text of ASCII is read by a loop, which is faster than a call of the decoder. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT_TEXT) return textOfAny(bytes.subarray(start, end));
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x80) return textOfAny(bytes.subarray(start, end));
    text += String.fromCharCode(byte);
  }
  return text;
}

/** @returns index after the varint; -1 if it does not end before `end` */
function endOfVarint(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + VARINT_BYTES);
  for (let at = start; at < last; at++) {
    if ((bytes[at] ?? 0) < 0x80) return at + 1;
  }
  if (end >= last && last === start + VARINT_BYTES) throw notProtobuf();
  return -1;
}

/** The value of a varint, exact up to 2^53. */
function varint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = end - 1; at >= start; at--) value = value * 0x80 + ((bytes[at] ?? 0) & 0x7f);
  return value;
}

function notProtobuf(): DoorBodyFault {
  return new DoorBodyFault("The body is not a protobuf message of this route.");
}
