import { INGEST_LIMITS } from "../../logs/entry.ts";
import { DoorBodyFault } from "../decoder.ts";
import { ByteTexts } from "./byte-texts.ts";
import { type Name, nameAt } from "./names.ts";

/** Wire types of protobuf; 3 and 4 are groups, which no message of OTLP has. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH = 2;
export const FIXED32 = 5;

const TWO_TO_32 = 0x1_0000_0000;
const MAX_VARINT_BYTES = 10;

/**
 * Reads the fields of one protobuf message in memory. Messages inside it are read by `enter` and `leave`.
 *
 * A lenient reader is at a part of a message whose end is missing: what is longer than the rest ends with it.
 */
export class Wire {
  at = 0;
  end = 0;
  /** The 64 bits of the last varint or fixed64, as unsigned halves. */
  high = 0;
  low = 0;
  isLenient = false;
  /** Values that may still be read of the message, so that short ones cannot fill the memory. */
  values = 0;
  readonly texts = new ByteTexts();
  #bytes: Buffer = this.texts.bytes;

  /** Sets the bytes to read, which must not change until the next call. */
  use(bytes: Uint8Array): void {
    this.texts.use(bytes);
    this.#bytes = this.texts.bytes;
  }

  /** Starts to read the message between two indexes. */
  open(from: number, to: number, isLenient = false): void {
    this.at = from;
    this.end = to;
    this.isLenient = isLenient;
    this.values = INGEST_LIMITS.entryValues;
  }

  /** The next field's number and wire type as sent: `number << 3 | type`. 0 at the end of the message. */
  tag(): number {
    if (this.at >= this.end) return 0;
    this.varint();
    if (this.high !== 0 || this.low < 8) {
      if (this.isLenient) return this.#stop();
      throw new DoorBodyFault("A protobuf field has an invalid number.");
    }
    return this.low;
  }

  /** Reads a varint of at most 10 bytes into `high` and `low`. */
  varint(): void {
    const bytes = this.#bytes;
    const first = bytes[this.at] ?? 0;
    if (first < 0x80 && this.at < this.end) {
      this.at++;
      this.high = 0;
      this.low = first;
      return;
    }
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.at >= this.end) {
        this.#endsEarly();
        return;
      }
      const byte = bytes[this.at++] ?? 0;
      const bits = byte & 0x7f;
      if (i < 4) low |= bits << (7 * i);
      else if (i === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (i < 9) high |= bits << (7 * i - 32);
      else high |= bits << 31;
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw new DoorBodyFault("A protobuf varint is longer than 10 bytes.");
  }

  /** Reads 8 bytes into `high` and `low`. */
  fixed64(): void {
    if (this.at + 8 > this.end) {
      this.#endsEarly();
      return;
    }
    this.low = this.#bytes.readUInt32LE(this.at);
    this.high = this.#bytes.readUInt32LE(this.at + 4);
    this.at += 8;
  }

  fixed32(): number {
    if (this.at + 4 > this.end) {
      this.#endsEarly();
      return 0;
    }
    const value = this.#bytes.readUInt32LE(this.at);
    this.at += 4;
    return value;
  }

  double(): number {
    if (this.at + 8 > this.end) {
      this.#endsEarly();
      return 0;
    }
    const value = this.#bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  /** Reads a length. @returns the index after the bytes of that length */
  limit(): number {
    this.varint();
    const to = this.at + this.high * TWO_TO_32 + this.low;
    if (to <= this.end) return to;
    if (this.isLenient) return this.end;
    throw new DoorBodyFault("A protobuf field is longer than its message.");
  }

  /** Begins to read a message inside this one. @returns what to pass to `leave` */
  enter(): number {
    const outer = this.end;
    this.end = this.limit();
    return outer;
  }

  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  /** Reads UTF-8. Invalid bytes are replaced by U+FFFD. */
  text(): string {
    const to = this.limit();
    const from = this.at;
    this.at = to;
    return this.texts.utf8(from, to);
  }

  /** Reads UTF-8 as a JSON string. */
  quoted(): string {
    const to = this.limit();
    const from = this.at;
    this.at = to;
    return this.texts.quoted(from, to);
  }

  /** Reads UTF-8 as a name; `null` if it is too long. */
  name(): Name | null {
    const to = this.limit();
    const from = this.at;
    this.at = to;
    return nameAt(this.#bytes, from, to);
  }

  /** The rest of the message as UTF-8. */
  rest(): string {
    const { at, end } = this;
    this.at = end;
    return this.#bytes.toString("utf8", at, end);
  }

  base64(): string {
    const to = this.limit();
    const from = this.at;
    this.at = to;
    return this.#bytes.toString("base64", from, to);
  }

  /** Reads bytes as lower-case hexadecimal digits; `""` if all are 0. */
  hex(): string {
    const to = this.limit();
    const from = this.at;
    this.at = to;
    let isZero = true;
    for (let i = from; i < to && isZero; i++) isZero = this.#bytes[i] === 0;
    return isZero ? "" : this.#bytes.toString("hex", from, to);
  }

  /** Passes over the value of a field. @param tag what `tag` has returned */
  skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        this.varint();
        return;
      case FIXED64:
        this.fixed64();
        return;
      case LENGTH:
        this.at = this.limit();
        return;
      case FIXED32:
        this.fixed32();
        return;
      default:
        this.wrong(tag);
    }
  }

  /** Ends the reading of a body with a wire type that the field cannot have. */
  wrong(tag: number): void {
    if (!this.isLenient) throw new DoorBodyFault(`Protobuf wire type ${tag & 7} is not supported.`);
    this.#stop();
  }

  #endsEarly(): void {
    if (!this.isLenient) throw new DoorBodyFault("A protobuf message ends within a field.");
    this.high = 0;
    this.low = 0;
    this.#stop();
  }

  #stop(): 0 {
    this.at = this.end;
    return 0;
  }
}
