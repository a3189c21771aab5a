/** Groups of one chunk. */
const CHUNK_BITS = 10;
const CHUNK_GROUPS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_GROUPS - 1;
const CHUNK_BYTES = CHUNK_GROUPS * 8;

/** The bytes that all states of one aggregation hold, approximately. */
export class HeldBytes {
  bytes = 0;

  add(bytes: number): void {
    this.bytes += bytes;
  }
}

/** A number for each group. Grows by chunks, so that growth copies nothing. */
export class ByGroup {
  readonly #held: HeldBytes;
  readonly #chunks: Float64Array[] = [];
  readonly #initial: number;

  /** @param initial value of a group that has none */
  constructor(held: HeldBytes, initial = 0) {
    this.#held = held;
    this.#initial = initial;
  }

  get(group: number): number {
    return this.#chunks[group >> CHUNK_BITS]?.[group & CHUNK_MASK] ?? this.#initial;
  }

  set(group: number, value: number): void {
    this.#chunk(group)[group & CHUNK_MASK] = value;
  }

  add(group: number, value: number): void {
    const chunk = this.#chunk(group);
    const at = group & CHUNK_MASK;
    chunk[at] = (chunk[at] ?? 0) + value;
  }

  /** Returns the numbers of the first groups. */
  copy(count: number): Float64Array {
    const copy = new Float64Array(count).fill(this.#initial);
    for (let at = 0; at < count; at += CHUNK_GROUPS) {
      const chunk = this.#chunks[at >> CHUNK_BITS];
      if (chunk) copy.set(chunk.subarray(0, count - at), at);
    }
    return copy;
  }

  #chunk(group: number): Float64Array {
    return this.#chunks[group >> CHUNK_BITS] ?? this.#newChunk(group >> CHUNK_BITS);
  }

  /** Groups rise one by one, but not every measure has a value for each. */
  #newChunk(index: number): Float64Array {
    let chunk = new Float64Array();
    while (this.#chunks.length <= index) {
      chunk = new Float64Array(CHUNK_GROUPS);
      if (this.#initial !== 0) chunk.fill(this.#initial);
      this.#chunks.push(chunk);
      this.#held.add(CHUNK_BYTES);
    }
    return chunk;
  }
}
