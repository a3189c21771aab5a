/** Uncompressed bytes looked through between two pauses: about 5 ms, as `Date.now` stands still while code runs. */
const STRETCH_BYTES = 1.5 * 1024 * 1024;

/**
 * Lets others have their turn while much is looked through: on one machine, router and objects share a thread, and a long
 * scan would hold up every writer. (A timer of 0 ms costs a lone query a millisecond a pause.)
 */
export class Pacer {
  #bytes = 0;

  /** To be awaited after each stretch of work. @param bytes looked through, each by its cost */
  async pause(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes < STRETCH_BYTES) return;
    this.#bytes = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
