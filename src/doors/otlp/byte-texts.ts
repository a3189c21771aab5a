import { textOfRange } from "../../platform/bytes.ts";

/** Bytes of which a text is made at once; short texts are parts of it. */
const WINDOW_BYTES = 32 * 1024;
const SHORT_BYTES = 16 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const FIRST_NOT_ASCII = 0x80;

/** Makes texts of bytes. A text of its own for each short range would take longer than the rest of its reading. */
export class ByteTexts {
  bytes: Buffer = EMPTY;
  #window = "";
  #from = 0;
  #to = 0;

  /** Sets the bytes, which must not change until the next call. */
  use(bytes: Uint8Array): void {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#window = "";
    this.#to = 0;
  }

  /** The text of bytes that are ASCII. */
  ascii(from: number, to: number): string {
    if (to - from > SHORT_BYTES) return this.bytes.toString("latin1", from, to);
    if (from < this.#from || to > this.#to) this.#move(from);
    return this.#window.slice(from - this.#from, to - this.#from);
  }

  /** The text of UTF-8. Invalid bytes are read as Latin-1. */
  utf8(from: number, to: number): string {
    const { bytes } = this;
    for (let i = from; i < to; i++) {
      if ((bytes[i] ?? 0) >= FIRST_NOT_ASCII) return textOfRange(bytes, from, to);
    }
    return this.ascii(from, to);
  }

  /** The text of UTF-8 as a JSON string, with its quotes. */
  quoted(from: number, to: number): string {
    const { bytes } = this;
    for (let i = from; i < to; i++) {
      const byte = bytes[i] ?? 0;
      if (byte < SPACE || byte >= FIRST_NOT_ASCII || byte === QUOTE || byte === BACKSLASH) {
        return JSON.stringify(textOfRange(bytes, from, to));
      }
    }
    return `"${this.ascii(from, to)}"`;
  }

  #move(from: number): void {
    this.#from = from;
    this.#to = Math.min(from + WINDOW_BYTES, this.bytes.length);
    this.#window = this.bytes.toString("latin1", from, this.#to);
  }
}

const EMPTY = Buffer.alloc(0);
