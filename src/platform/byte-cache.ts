/**
 * Values that can be read again at any time, bounded by their bytes over everything in the isolate that shares the cache.
 * The value that was used least recently goes first. A value larger than the whole capacity is not kept.
 */
export class ByteCache<V> {
  readonly capacity: number;
  /** In order of use, the newest last. Keys are compared by identity. */
  readonly #values = new Map<object, { value: V; bytes: number }>();
  #held = 0;

  /** @param capacity in bytes */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Bytes of all values. */
  get held(): number {
    return this.#held;
  }

  get(key: object): V | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  /** Adds a value or replaces that of the key, also to state that its size has changed. */
  set(key: object, value: V, bytes: number): void {
    this.delete(key);
    if (bytes > this.capacity) return;
    this.#values.set(key, { value, bytes });
    this.#held += bytes;
    for (const [oldest] of this.#values) {
      if (this.#held <= this.capacity) return;
      this.delete(oldest);
    }
  }

  delete(key: object): void {
    const found = this.#values.get(key);
    if (found === undefined) return;
    this.#values.delete(key);
    this.#held -= found.bytes;
  }
}
