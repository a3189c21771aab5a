import { detachBuffer } from "../../platform/isolate-memory.ts";

/** The first buffer of a body's bytes that must be kept. */
const FIRST_BYTES = 128 * 1024;

/**
 * The bytes of a body that are still needed, from `keep` on. Positions count from the body's first byte. A chunk is read
 * where it is; only what is still needed afterwards is copied.
 */
export class HeldBytes {
  /** The bytes that can be read. The byte at position `p` is `bytes[p - base]`. */
  bytes: Uint8Array = EMPTY;
  base = 0;
  /** Position after the last byte received. */
  end = 0;
  #own: Uint8Array = EMPTY;

  /** Bytes of the buffer. */
  get held(): number {
    return this.#own.length;
  }

  /** Adds a chunk. @param keep position of the first byte that is still needed */
  add(chunk: Uint8Array, keep: number): void {
    if (keep === this.end) {
      this.bytes = chunk;
      this.base = keep;
      this.end += chunk.length;
      return;
    }
    const kept = this.end - keep;
    this.#reserve(kept + chunk.length, keep);
    this.#own.set(chunk, this.end - this.base);
    this.end += chunk.length;
  }

  /** Copies what is still needed of the last chunk, which its owner may change now. */
  settle(keep: number): void {
    if (this.bytes === this.#own) {
      if (keep === this.end) this.free();
      return;
    }
    const kept = this.bytes.subarray(keep - this.base, this.end - this.base);
    if (this.#own.length < kept.length) {
      detachBuffer(this.#own);
      this.#own = new Uint8Array(kept.length <= 64 ? 64 : Math.max(kept.length, FIRST_BYTES));
    }
    this.#own.set(kept);
    this.bytes = this.#own;
    this.base = keep;
  }

  free(): void {
    detachBuffer(this.#own);
    this.#own = EMPTY;
    this.bytes = EMPTY;
    this.base = this.end;
  }

  /** Makes the own buffer hold the bytes from `keep` on, with room for `size` in all. */
  #reserve(size: number, keep: number): void {
    const from = keep - this.base;
    const to = this.end - this.base;
    if (size <= this.#own.length) {
      if (from > 0 && size + from > this.#own.length) {
        this.#own.copyWithin(0, from, to);
        this.base = keep;
      }
      return;
    }
    const grown = new Uint8Array(Math.max(size, Math.min(2 * this.#own.length, size + FIRST_BYTES), FIRST_BYTES));
    grown.set(this.#own.subarray(from, to));
    detachBuffer(this.#own);
    this.#own = grown;
    this.bytes = grown;
    this.base = keep;
  }
}

const EMPTY = new Uint8Array();
