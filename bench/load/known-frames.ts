/**
 * Maximum number of stored frames, more than the first tail is ahead of the last. A tail that is farther behind has its
 * frames parsed again.
 */
const KEPT = 64;

/** A parsed frame of entries that a tail received after the `seq` `after`. */
export interface KnownFrame {
  through: number;
  payload: Buffer;
}

/**
 * The frames of the tails of one project, each parsed once: its entries must follow the previous ones, once and in
 * order. A tail that receives the same bytes at the same position has received the same entries. Comparing bytes costs
 * almost nothing, so that a hundred tails leave the machine to the server.
 */
export class KnownFrames {
  readonly #frames = new Map<string, KnownFrame>();

  /** The frame of this length that another tail received after this `seq`. */
  find(after: number, length: number): KnownFrame | null {
    return this.#frames.get(keyOf(after, length)) ?? null;
  }

  /**
   * @param after the position of the tail
   * @throws Error if an entry is missing, duplicated or out of order
   */
  add(after: number, payload: Buffer, entries: readonly { seq?: unknown }[]): KnownFrame {
    let through = after;
    for (const { seq } of entries) {
      if (seq !== through + 1) throw new Error(`${seq} came after ${through}`);
      through = seq;
    }
    const known = { through, payload };
    this.#frames.set(keyOf(after, payload.length), known);
    const [oldest] = this.#frames.keys();
    if (this.#frames.size > KEPT && oldest !== undefined) this.#frames.delete(oldest);
    return known;
  }
}

function keyOf(after: number, length: number): string {
  return `${after} ${length}`;
}
