import { detachBuffer } from "../platform/isolate-memory.ts";

const FIRST_BYTES = 4 * 1024;

/** The bytes of a body that arrived and belong to a record that has not ended. */
export class PendingBytes {
  #buffer = new Uint8Array();
  #length = 0;

  /** Bytes of memory. */
  get held(): number {
    return this.#buffer.length;
  }

  /** Returns the kept bytes with the next ones behind them, valid until the next call. */
  join(chunk: Uint8Array): Uint8Array {
    if (this.#length === 0) return chunk;
    this.#append(chunk);
    return this.#buffer.subarray(0, this.#length);
  }

  /** Keeps the end of what `join` has returned. Call once for each `join`. */
  keep(joined: Uint8Array, from: number): void {
    if (joined.buffer === this.#buffer.buffer && this.#length > 0) {
      this.#buffer.copyWithin(0, from, this.#length);
      this.#length -= from;
    } else {
      this.#append(joined.subarray(from));
    }
    if (this.#length === 0) this.free();
  }

  free(): void {
    detachBuffer(this.#buffer);
    this.#buffer = new Uint8Array();
    this.#length = 0;
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(FIRST_BYTES, length, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#length));
      detachBuffer(this.#buffer);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }
}
