import { detachBuffer } from "./isolate-memory.ts";

const doubles = new DataView(new ArrayBuffer(8));

export class ByteWriter {
  #bytes = new Uint8Array(64);
  /** Bytes written so far. May be reset to an earlier value to overwrite what follows. */
  length = 0;

  /** Unsigned LEB128: seven bits a byte, least significant first. Values are safe non-negative integers. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  /** Writes the length in bytes, then the bytes. */
  blob(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  /** Writes bytes as they are, without their length. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Writes an integer with a sign. Its size is at most half of the largest safe integer. */
  signed(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  double(value: number): void {
    doubles.setFloat64(0, value);
    this.#reserve(8);
    for (let at = 0; at < 8; at++) this.#bytes[this.length++] = doubles.getUint8(at);
  }

  /** Returns a copy of the bytes written, and frees the rest. Nothing may be written afterwards. */
  finish(): Uint8Array {
    const bytes = this.toBytes();
    detachBuffer(this.#bytes);
    return bytes;
  }

  /** Returns a copy of the bytes written. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + more));
    grown.set(this.#bytes);
    detachBuffer(this.#bytes);
    this.#bytes = grown;
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Index of the next byte. */
  get at(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError("The packed value ends in the middle.");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  double(): number {
    for (let at = 0; at < 8; at++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError("The packed value ends in the middle.");
      doubles.setUint8(at, byte);
    }
    return doubles.getFloat64(0);
  }

  blob(): Uint8Array {
    const length = this.varint();
    const start = this.#at;
    this.skip(length);
    return this.#bytes.subarray(start, this.#at);
  }

  /** Passes over bytes. */
  skip(length: number): void {
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError("The packed value ends in the middle.");
  }

  /** Passes over numbers that `varint` or `signed` would read. */
  skipVarints(count: number): void {
    const bytes = this.#bytes;
    let [at, left] = [this.#at, count];
    while (left > 0 && at < bytes.length) if ((bytes[at++] ?? 0) < 0x80) left--;
    if (left > 0) throw new RangeError("The packed value ends in the middle.");
    this.#at = at;
  }
}
