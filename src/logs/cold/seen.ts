const COMMA = 44;
const CLOSE_ARRAY = 93;
const CLOSE_OBJECT = 125;

/**
 * A value that has been seen at some place of a line, so that the same one in the next line is known at a glance: it has
 * nothing to add to a frame that has it.
 */
export class LastValue {
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #to = 0;
  #frame = 0;

  /** The value from one place to another, and the frame it is in, from 1. */
  remember(bytes: Uint8Array, from: number, to: number, block: number): void {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
    this.#frame = block;
  }

  /** @returns the place behind the value if it is the one of before, in the same frame; else -1 */
  again(bytes: Uint8Array, at: number, block: number): number {
    if (this.#frame !== block) return -1;
    const seen = this.#bytes;
    const end = this.#to;
    let next = at;
    for (let from = this.#from; from < end; from++, next++) if (seen[from] !== bytes[next]) return -1;
    // A number may go on.
    const byte = bytes[next];
    return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY ? next : -1;
  }
}
