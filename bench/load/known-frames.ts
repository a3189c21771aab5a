/** Frames kept: more than lie between the first tail and the last. One that is farther behind has its frames parsed anew. */
const KEPT = 64;

/** A frame of entries that has been parsed: what a tail got right behind `after`. */
export interface KnownFrame {
  through: number;
  payload: Buffer;
}

/**
 * What the tails of one project got, each frame parsed once: its entries must be the next ones, each once and in order.
 * A tail that stands at the same place and gets the same bytes got the same entries; comparing them costs next to
 * nothing, so that a hundred tails leave the machine to the server.
 */
export class KnownFrames {
  readonly #frames = new Map<string, KnownFrame>();

  /** The frame of this length that another tail got right behind this `seq`. */
  find(after: number, length: number): KnownFrame | null {
    return this.#frames.get(keyOf(after, length)) ?? null;
  }

  /**
   * @param after the `seq` that the tail had come to
   * @throws where an entry is missing, doubled or out of order
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
