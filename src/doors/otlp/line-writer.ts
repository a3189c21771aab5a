import { isUtf8 } from "node:buffer";
import { textOfRange } from "../../platform/bytes.ts";

/** Writes JSON as UTF-8 into a buffer. */

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const FIRST_NOT_ASCII = 0x80;
/** UTF-8 bytes of a UTF-16 unit in JSON at most: `\u0001`. */
const MAX_UNIT_BYTES = 6;
/** Bytes of UTF-8 for a byte that is not UTF-8. */
const MAX_BYTE_BYTES = 3;

const encoder = new TextEncoder();
const HEX = encoder.encode("0123456789abcdef");

export class LineWriter {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  /** Whether so many bytes fit. */
  hasRoom(size: number): boolean {
    return this.at + size <= this.bytes.length;
  }

  /** Copies bytes. */
  raw(source: Uint8Array): void {
    const { bytes } = this;
    let { at } = this;
    const { length } = source;
    if (length > 32) {
      bytes.set(source, at);
      at += length;
    } else for (let i = 0; i < length; i++) bytes[at++] = source[i] ?? 0;
    this.at = at;
  }

  /** Writes ASCII, such as a number. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.bytes[this.at++] = text.charCodeAt(i);
  }

  /**
   * Writes UTF-8 as the inside of a JSON string, as `JSON.stringify` does.
   * @returns `false` if there may be no room for it
   */
  inside(source: Buffer, from: number, to: number): boolean {
    const { bytes } = this;
    let { at } = this;
    if (at + to - from > bytes.length) return false;
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      if (byte < SPACE || byte >= FIRST_NOT_ASCII || byte === QUOTE || byte === BACKSLASH) {
        return this.#escaped(textOfRange(source, from, to));
      }
      bytes[at++] = byte;
    }
    this.at = at;
    return true;
  }

  /**
   * Copies the inside of a JSON string in ASCII without escapes, up to its closing quote. There must be room for all bytes.
   * @param to index after the last byte of what has the string
   * @returns the index of the quote; -1 for another string, of which nothing is written
   */
  plainInside(source: Uint8Array, from: number, to: number): number {
    const { bytes } = this;
    let { at } = this;
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      if (byte === QUOTE) {
        this.at = at;
        return i;
      }
      if (byte < SPACE || byte >= FIRST_NOT_ASCII || byte === BACKSLASH) return -1;
      bytes[at++] = byte;
    }
    return -1;
  }

  /**
   * Copies the inside of a JSON string, of which the escapes are those of `JSON.stringify`. Bytes that are not UTF-8 are replaced
   * by U+FFFD.
   * @returns `false` if there may be no room for it
   */
  ownInside(source: Buffer, from: number, to: number): boolean {
    const { bytes } = this;
    const first = this.at;
    if (first + MAX_BYTE_BYTES * (to - from) > bytes.length) return false;
    let at = first;
    let all = 0;
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      all |= byte;
      bytes[at++] = byte;
    }
    if (all >= FIRST_NOT_ASCII && !isUtf8(bytes.subarray(first, at))) {
      at = first + encoder.encodeInto(textOfRange(source, from, to), bytes.subarray(first)).written;
    }
    this.at = at;
    return true;
  }

  /** Writes digits of a non-negative integer of at most 2 ** 53, with leading zeros up to a width. */
  digits(value: number, width: number): void {
    let end = this.at + width;
    if (width === 0) {
      end = this.at + 1;
      for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++;
    }
    let rest = value;
    for (let at = end - 1; at >= this.at; at--) {
      const next = Math.floor(rest / 10);
      this.bytes[at] = ZERO + rest - next * 10;
      rest = next;
    }
    this.at = end;
  }

  integer(value: number): void {
    if (value < 0) this.bytes[this.at++] = MINUS;
    this.digits(Math.abs(value), 0);
  }

  hex(source: Uint8Array, from: number, to: number): void {
    const { bytes } = this;
    let { at } = this;
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      bytes[at++] = HEX[byte >> 4] ?? 0;
      bytes[at++] = HEX[byte & 15] ?? 0;
    }
    this.at = at;
  }

  #escaped(text: string): boolean {
    if (this.at + MAX_UNIT_BYTES * text.length + 2 > this.bytes.length) return false;
    const { written } = encoder.encodeInto(JSON.stringify(text).slice(1, -1), this.bytes.subarray(this.at));
    this.at += written;
    return true;
  }
}
