import type { Room, Tail } from "./tail.ts";

/** Of the total: with less than this left, tails that are behind wait. More than the largest frame, about 1.5 MB. */
const MARGIN = 1 / 8;
/** Of the total: what a live tail may hold while there is no room for others. */
const SHARE = 1 / 16;
/** Bytes that a tail may always have on their way, so that readers that stand still cannot stop one that keeps up. */
const FLOOR_BYTES = 16 * 1024;

/**
 * What the sockets of an object hold together: bytes sent and not acknowledged. A socket keeps what its client does not
 * read in the object's memory, also once the service has closed it: so it counts until the socket is gone.
 */
export class TailLoad {
  readonly #most: () => number;
  /** Bytes of those that hold something. */
  readonly #held = new Map<Tail, number>();
  #bytes = 0;

  /** @param most bytes of all together, and `FLOOR_BYTES` for each tail on top */
  constructor(most: () => number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#bytes > this.#mostUsed;
  }

  /** Whether those that have not been closed are too many by themselves: then waiting for the others does not help. */
  get isFullOfOpen(): boolean {
    let bytes = 0;
    for (const [tail, held] of this.#held) if (tail.isOpen) bytes += held;
    return bytes > this.#mostUsed;
  }

  /** What this tail may be sent. One that is refused a frame leaves `isFull` behind: waiting for less makes sense. */
  roomFor(tail: Tail): Room {
    return { shared: this.#mostUsed - this.#bytes, own: FLOOR_BYTES - tail.unackedBytes };
  }

  /** To be called whenever a tail has been sent something, or has acknowledged something. */
  update(tail: Tail): void {
    const bytes = tail.unackedBytes;
    this.#bytes += bytes - (this.#held.get(tail) ?? 0);
    if (bytes === 0) this.#held.delete(tail);
    else this.#held.set(tail, bytes);
  }

  /** Its socket is gone. */
  remove(tail: Tail): void {
    this.#bytes -= this.#held.get(tail) ?? 0;
    this.#held.delete(tail);
  }

  /** The live tail that holds most, if that is more than its share. */
  greediest(): Tail | null {
    const share = this.#most() * SHARE;
    return this.#largest((tail, bytes) => tail.state === "live" && bytes > share);
  }

  /** Of those whose clients have acknowledged nothing since then, the one that holds most. */
  laziest(since: number): Tail | null {
    return this.#largest(({ movedAt }) => movedAt <= since);
  }

  /** Whether its client has been sent something, and has acknowledged nothing of it since then. */
  hasStood(tail: Tail, since: number): boolean {
    return this.#held.has(tail) && tail.movedAt <= since;
  }

  /** Whether there would be room without the tails that were closed before that and have acknowledged nothing since. */
  fitsWithoutClosed(since: number): boolean {
    let bytes = this.#bytes;
    for (const [tail, held] of this.#held) if (!tail.isOpen && tail.movedAt <= since) bytes -= held;
    return bytes <= this.#mostUsed;
  }

  get #mostUsed(): number {
    return this.#most() * (1 - MARGIN);
  }

  #largest(isMeant: (tail: Tail, bytes: number) => boolean): Tail | null {
    let largest: Tail | null = null;
    for (const [tail, held] of this.#held) {
      if (tail.isOpen && isMeant(tail, held) && held > (largest?.unackedBytes ?? 0)) largest = tail;
    }
    return largest;
  }
}
