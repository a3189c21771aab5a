import { requestsBegun } from "../../http/arrivals.ts";

/**
 * Uncompressed bytes looked through between two pauses: while other requests keep coming, and while none do. About 1 and
 * 8 ms, as `Date.now` stands still while code runs. The second is also what the first of them may have to wait.
 */
const CROWDED_BYTES = 384 * 1024;
const ALONE_BYTES = 3 * 1024 * 1024;

/**
 * Lets others have their turn while much is looked through: on one machine, router and objects share a thread, and a long
 * scan would hold up every writer. A pause is a timer of 0 ms, as nothing less lets the network in; it costs a lone query
 * a millisecond.
 */
export class Pacer {
  readonly #begun: () => number;
  /** Requests that had begun at the pause before the last. */
  #seen: number;
  #isCrowded = false;
  #bytes = 0;

  /** @param begun requests that have begun so far, this one included */
  constructor(begun: () => number = requestsBegun) {
    this.#begun = begun;
    this.#seen = begun();
  }

  /** To be awaited after each stretch of work. @param bytes looked through, each by its cost */
  async pause(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes < (this.#isCrowded ? CROWDED_BYTES : ALONE_BYTES)) return;
    this.#bytes = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
    const begun = this.#begun();
    this.#isCrowded = begun !== this.#seen;
    this.#seen = begun;
  }
}
