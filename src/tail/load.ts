import type { Room, Tail } from "./tail.ts";

/** Of the total: with less than this left, tails that are behind wait. More than the largest frame, about 1.5 MB. */
const MARGIN = 1 / 8;
/** Of the total: what a live tail may hold while there is no room for others. */
const SHARE = 1 / 16;
/** Bytes that a tail may always have on their way, so that readers that stand still cannot stop one that keeps up. */
const FLOOR_BYTES = 16 * 1024;

interface Held {
  bytes: number;
  /** When the client last acknowledged some of it, or began to have something, epoch milliseconds. */
  movedAt: number;
}

/**
 * What the sockets of an object hold together: bytes sent and not acknowledged. A socket keeps what its client does not
 * read in the object's memory, also once the service has closed it: so it counts until the socket is gone.
 */
export class TailLoad {
  readonly #most: () => number;
  /** Those that hold something. */
  readonly #held = new Map<Tail, Held>();
  #bytes = 0;

  /** @param most bytes of all together, and `FLOOR_BYTES` for each tail on top */
  constructor(most: () => number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#bytes > this.#mostUsed;
  }

  /** Of the tails that have not been closed. */
  get openBytes(): number {
    let bytes = 0;
    for (const [tail, held] of this.#held) if (tail.isOpen) bytes += held.bytes;
    return bytes;
  }

  /** Whether those that have not been closed are too many by themselves: then waiting for the others does not help. */
  get isFullOfOpen(): boolean {
    return this.openBytes > this.#mostUsed;
  }

  /** What this tail may be sent. One that is refused a frame leaves `isFull` behind: waiting for less makes sense. */
  roomFor(tail: Tail): Room {
    return { shared: this.#mostUsed - this.#bytes, own: FLOOR_BYTES - tail.unackedBytes };
  }

  /** To be called whenever a tail has been sent something, or has acknowledged something. */
  update(tail: Tail, now: number): void {
    const before = this.#held.get(tail);
    const bytes = tail.unackedBytes;
    this.#bytes += bytes - (before?.bytes ?? 0);
    if (bytes === 0) this.#held.delete(tail);
    else this.#held.set(tail, { bytes, movedAt: before && bytes >= before.bytes ? before.movedAt : now });
  }

  /** Its socket is gone. */
  remove(tail: Tail): void {
    this.#bytes -= this.#held.get(tail)?.bytes ?? 0;
    this.#held.delete(tail);
  }

  /** The live tail that holds most, if that is more than its share. */
  greediest(): Tail | null {
    const share = this.#most() * SHARE;
    return this.#largest((tail, { bytes }) => tail.state === "live" && bytes > share);
  }

  /** Of those whose clients have acknowledged nothing since then, the one that holds most. */
  laziest(since: number): Tail | null {
    return this.#largest((_tail, { movedAt }) => movedAt <= since);
  }

  get #mostUsed(): number {
    return this.#most() * (1 - MARGIN);
  }

  #largest(isMeant: (tail: Tail, held: Held) => boolean): Tail | null {
    let largest: Tail | null = null;
    for (const [tail, held] of this.#held) {
      if (tail.isOpen && isMeant(tail, held) && held.bytes > (largest?.unackedBytes ?? 0)) largest = tail;
    }
    return largest;
  }
}
