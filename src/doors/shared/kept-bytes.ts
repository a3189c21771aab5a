import { detachBuffer } from "../../platform/isolate-memory.ts";

const FIRST_BYTES = 4 * 1024;

/** Bytes that arrive in parts, up to a bound. */
export class KeptBytes {
  readonly #max: number;
  #buffer = new Uint8Array();
  #kept = 0;
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Bytes of all parts, kept or not. */
  get length(): number {
    return this.#length;
  }

  /** Bytes in memory. */
  get held(): number {
    return this.#buffer.length;
  }

  /** The kept bytes, valid until the next call of a method. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#kept);
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.#length += to - from;
    const taken = Math.min(to - from, this.#max - this.#kept);
    if (taken <= 0) return;
    this.#makeRoom(this.#kept + taken);
    this.#buffer.set(bytes.subarray(from, from + taken), this.#kept);
    this.#kept += taken;
  }

  clear(): void {
    this.#kept = 0;
    this.#length = 0;
  }

  free(): void {
    this.clear();
    detachBuffer(this.#buffer);
    this.#buffer = new Uint8Array();
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.min(this.#max, Math.max(bytes, this.#buffer.length * 2, FIRST_BYTES)));
    grown.set(this.bytes);
    detachBuffer(this.#buffer);
    this.#buffer = grown;
  }
}

const utf8 = new TextDecoder();

/** Returns the name of a JSON member from its bytes without quotes. */
export function nameOf(bytes: Uint8Array, hasEscape: boolean): string {
  const text = utf8.decode(bytes);
  if (!hasEscape) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    // A name that is cut within an escape, or not JSON: none that matters.
    return "";
  }
}
