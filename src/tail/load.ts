import type { TailQuota } from "./limits.ts";
import type { TailShare } from "./shares.ts";
import type { Room, Tail } from "./tail.ts";

/** Of what tails share: an object that holds more looks for clients that stand still, and with less free it closes them. */
const HIGH_SHARE = 1 / 16;

/**
 * What the tails of an object hold of the isolate's memory. The runtime copies a frame for each socket and keeps what the
 * client does not read, also once the service has closed the tail. So what was sent and not acknowledged counts for each
 * socket, until that is gone. Each reader (a key, a user, an address of the sandbox) is bounded before it bounds others.
 */
export class TailLoad {
  readonly #share: TailShare;
  readonly #quota: () => TailQuota;
  /** Bytes of those that hold something. */
  readonly #held = new Map<Tail, number>();
  readonly #readers = new Map<string, number>();
  /** Sent and not acknowledged. */
  #unacked = 0;
  /** Of a delivery: batches that wait, and what is made of them. */
  #delivering = 0;

  constructor(share: TailShare, quota: () => TailQuota) {
    this.#share = share;
    this.#quota = quota;
  }

  /** Whether there is no room for another tail: not even for small frames. */
  get isFull(): boolean {
    return this.#share.floor() <= 0;
  }

  /** Whether the object holds so much that clients that stand still matter, even if no tail of its own waits. */
  get isHigh(): boolean {
    return this.#unacked > HIGH_SHARE * this.#share.capacity;
  }

  /** Whether the tails of the isolate have little left. */
  get isLow(): boolean {
    return this.#share.free < HIGH_SHARE * this.#share.capacity;
  }

  /** What this tail may be sent. */
  roomFor(tail: Tail): Room {
    return { shared: this.#sharedRoom(tail, null), own: this.#share.floor() - tail.unackedBytes };
  }

  /** Whether the frame that a tail lacks would fit now. */
  hasRoom(tail: Tail): boolean {
    const { shared, own } = this.roomFor(tail);
    return tail.missingBytes < Math.max(shared, own);
  }

  /** Whether it would fit once the connections of closed tails are gone. */
  hasRoomSoon(tail: Tail): boolean {
    return tail.missingBytes < this.#sharedRoom(tail, ({ isOpen }) => !isOpen);
  }

  /** Whether it would fit without other readers' tails that were closed before that and have acknowledged nothing since. */
  isBlockedByClosed(tail: Tail, since: number): boolean {
    if (this.hasRoom(tail)) return false;
    return tail.missingBytes < this.#sharedRoom(tail, (other) => isDead(other, since) && other.reader !== tail.reader);
  }

  /** Whether closed tails that have acknowledged nothing since then hold so much that other objects lack it. */
  isMuchOfClosed(since: number): boolean {
    if (!this.isLow) return false;
    let bytes = 0;
    for (const [tail, held] of this.#held) if (isDead(tail, since)) bytes += held;
    return bytes > HIGH_SHARE * this.#share.capacity;
  }

  /** Whether closed tails hold anything, and have acknowledged nothing since then. */
  holdsClosed(since: number): boolean {
    for (const tail of this.#held.keys()) if (isDead(tail, since)) return true;
    return false;
  }

  /** To be called whenever a tail has been sent something, or has acknowledged something. */
  update(tail: Tail): void {
    this.#set(tail, tail.unackedBytes);
  }

  /** Its socket is gone. */
  remove(tail: Tail): void {
    this.#set(tail, 0);
  }

  /** Sets what deliveries to live tails hold, in bytes. */
  delivering(bytes: number): void {
    this.#delivering = bytes;
    this.#share.hold(this.#unacked + bytes);
  }

  /**
   * Of the tails whose clients have acknowledged nothing since then, the one that holds most: of a reader's own, if there
   * is one.
   */
  largestBuffer(since: number, reader: string | null): Tail | null {
    let largestBuffer: Tail | null = null;
    for (const [tail, held] of this.#held) {
      if (!tail.isOpen || tail.lastProgressAt > since) continue;
      const isOwn = tail.reader === reader;
      const wasOwn = largestBuffer?.reader === reader;
      const isLarger = held > (largestBuffer?.unackedBytes ?? 0);
      if (isOwn === wasOwn ? isLarger : isOwn || largestBuffer === null) largestBuffer = tail;
    }
    return largestBuffer;
  }

  /** Whether its client has been sent something, and has acknowledged nothing of it since then. */
  isStalled(tail: Tail, since: number): boolean {
    return this.#held.has(tail) && tail.lastProgressAt <= since;
  }

  /** @param isGone tails that are taken to hold nothing */
  #sharedRoom(tail: Tail, isGone: ((other: Tail) => boolean) | null): number {
    const { weight, readerWeight } = this.#quota();
    let freed = 0;
    let freedOfReader = 0;
    if (isGone) {
      for (const [other, held] of this.#held) {
        if (!isGone(other)) continue;
        freed += held;
        if (other.reader === tail.reader) freedOfReader += held;
      }
    }
    const ofReader = (this.#readers.get(tail.reader) ?? 0) - freedOfReader;
    const ofAll = this.#unacked + this.#delivering - freed;
    return Math.min(this.#share.room(ofAll, weight, freed), this.#share.room(ofReader, readerWeight, freed));
  }

  #set(tail: Tail, bytes: number): void {
    const more = bytes - (this.#held.get(tail) ?? 0);
    if (bytes === 0) this.#held.delete(tail);
    else this.#held.set(tail, bytes);
    const ofReader = (this.#readers.get(tail.reader) ?? 0) + more;
    if (ofReader === 0) this.#readers.delete(tail.reader);
    else this.#readers.set(tail.reader, ofReader);
    this.#unacked += more;
    this.#share.hold(this.#unacked + this.#delivering);
  }
}

function isDead({ isOpen, lastProgressAt }: Tail, since: number): boolean {
  return !isOpen && lastProgressAt <= since;
}
