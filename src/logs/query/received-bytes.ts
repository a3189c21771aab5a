import { detachBuffer } from "../../platform/isolate-memory.ts";

/** Buffers after which those that were freed are forgotten. */
const MANY_BUFFERS = 256;

/** The bytes that a read has received. What was read ahead and not needed would wait for a garbage collection. */
export class ReceivedBytes {
  #buffers: Uint8Array[] = [];
  #checkedAt = MANY_BUFFERS;

  add(bytes: Uint8Array): void {
    this.#buffers.push(bytes);
    if (this.#buffers.length < this.#checkedAt) return;
    this.#buffers = this.#buffers.filter(({ byteLength }) => byteLength > 0);
    this.#checkedAt = MANY_BUFFERS + 2 * this.#buffers.length;
  }

  release(): void {
    for (const bytes of this.#buffers) detachBuffer(bytes);
    this.#buffers = [];
  }
}
