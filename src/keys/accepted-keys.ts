/** Keys remembered at a time; the one that was accepted longest ago goes first. */
const MAX_KEYS = 4_096;

/**
 * Hashes of API keys that a workspace's object has accepted lately, for as long as the isolate lives. A hint, and no
 * authorisation: the object decides about each request. A key that is not here is asked about before a request with it
 * may cost much; a key that never existed cannot get here.
 */
export class AcceptedKeys {
  readonly #most: number;
  readonly #hashes = new Set<string>();

  constructor(most = MAX_KEYS) {
    this.#most = most;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  add(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    if (this.#hashes.size <= this.#most) return;
    const [oldest] = this.#hashes;
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }

  delete(hash: string): void {
    this.#hashes.delete(hash);
  }
}

/** Those of this isolate. */
export const acceptedKeys = new AcceptedKeys();
