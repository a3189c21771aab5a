import { detachBuffer } from "../../../platform/isolate-memory.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const ZERO = 0x30;
const HEX = new TextEncoder().encode("0123456789abcdef");
/** Letters of the short escapes of control characters. */
const SHORT = new Map([8, 9, 10, 12, 13].map((code, index) => [code, "btnfr".charCodeAt(index)]));
/** Most bytes that one byte of a string takes in JSON: `\u0000`. */
const ESCAPED_BYTES = 6;

/** Builds one line after the other in a buffer. */
export class LineWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  /** Bytes written since the last `take`. */
  get length(): number {
    return this.#length;
  }

  /** Returns a copy of what was written since the last call. */
  take(): Uint8Array {
    const line = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return line;
  }

  /** Frees its memory. */
  release(): void {
    detachBuffer(this.#bytes);
  }

  bytes(from: Uint8Array, start = 0, end = from.length): void {
    this.#reserve(end - start);
    if (end - start > 32) this.#bytes.set(from.subarray(start, end), this.#length);
    else for (let i = start, at = this.#length; i < end; i++, at++) this.#bytes[at] = from[i] ?? 0;
    this.#length += end - start;
  }

  /** Writes a text of ASCII characters. */
  ascii(text: string): void {
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length++] = text.charCodeAt(i);
  }

  /** Writes a string with quotes as `JSON.stringify` does. */
  quoted(from: Uint8Array, start: number, end: number): void {
    this.#reserve((end - start) * ESCAPED_BYTES + 2);
    const out = this.#bytes;
    let at = this.#length;
    out[at++] = QUOTE;
    for (let i = start; i < end; i++) {
      const byte = from[i] ?? 0;
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) {
        out[at++] = byte;
        continue;
      }
      out[at++] = BACKSLASH;
      const short = byte >= 0x20 ? byte : SHORT.get(byte);
      if (short !== undefined) out[at++] = short;
      else {
        out[at++] = SMALL_U;
        out[at++] = ZERO;
        out[at++] = ZERO;
        out[at++] = HEX[byte >> 4] ?? ZERO;
        out[at++] = HEX[byte & 15] ?? ZERO;
      }
    }
    out[at++] = QUOTE;
    this.#length = at;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    detachBuffer(this.#bytes);
    this.#bytes = grown;
  }
}
