import { TAIL_CLOSING_MS, TAIL_STALL_MS, type TailQuota } from "./limits.ts";
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

/** What the waiting tails need of their hub. */
export interface StarvedPorts {
  now(): number;
  pause(milliseconds: number): Promise<void>;
  /** Whether one more may be taken on now. */
  hasReader(): boolean;
  /** There is room for it again, for now. */
  resume(tail: Tail): void;
  /** Its client stands still, and others wait. */
  close(tail: Tail): void;
  /** Ends the connections of all tails, whatever their clients read: they come back. */
  abortObject(): Promise<void>;
  failed(error: unknown): void;
}

/** Milliseconds between two looks at whether there is room again: other objects of the isolate may have left some. */
const LOOK_MS = 1000;

/**
 * Tails that wait for memory that all tails share, and those whose clients keep them waiting. A reader that has all that
 * it may hold waits for its own clients.
 */
export class BlockedTails {
  readonly #load: TailLoad;
  readonly #ports: StarvedPorts;
  readonly #tails = new Set<Tail>();
  /** Each has so many bytes on their way that it waits for its own client. */
  readonly #late = new Set<Tail>();
  #isWatching = false;

  constructor(load: TailLoad, ports: StarvedPorts) {
    this.#load = load;
    this.#ports = ports;
  }

  add(tail: Tail): void {
    tail.state = "waiting";
    this.#tails.add(tail);
    this.watch();
  }

  /** The tail waits for its own client, and would for ever if that waited for more before it acknowledged anything. */
  addLate(tail: Tail): void {
    tail.state = "waiting";
    this.#late.add(tail);
    this.watch();
  }

  /** A new tail was refused for want of room: it waits as well, but nothing is awake until it comes again. */
  recordRefusedTail(): void {
    this.#look(true).catch((error: unknown) => this.#ports.failed(error));
  }

  delete(tail: Tail): void {
    this.#tails.delete(tail);
    this.#late.delete(tail);
  }

  /** To be called when there is more room, or a reader is free. Some go on at a time: they may fill the room again. */
  resume(): void {
    for (const tail of this.#tails) {
      if (!this.#ports.hasReader()) return;
      if (!this.#load.hasRoom(tail)) continue;
      this.#tails.delete(tail);
      if (tail.state === "waiting") this.#ports.resume(tail);
    }
  }

  /**
   * Looks again and again while tails wait, or while the object holds much and those of other objects may wait. Nothing else
   * keeps it awake: one client that stands still leaves the others enough, and the object may hibernate.
   */
  watch(): void {
    if (this.#isWatching || !this.#isNeeded) return;
    this.#isWatching = true;
    void this.#watch();
  }

  get #isNeeded(): boolean {
    return this.#tails.size > 0 || this.#late.size > 0 || this.#isInTheWay;
  }

  get #isInTheWay(): boolean {
    return this.#load.isLow && this.#load.isHigh;
  }

  async #watch(): Promise<void> {
    try {
      while (this.#isNeeded) {
        await this.#ports.pause(LOOK_MS);
        await this.#look(false);
        this.resume();
      }
    } catch (error) {
      this.#ports.failed(error);
    } finally {
      this.#isWatching = false;
    }
  }

  /** @param isRefused a new tail waits, too */
  async #look(isRefused: boolean): Promise<void> {
    const now = this.#ports.now();
    for (const tail of this.#late) if (this.#load.isStalled(tail, now - TAIL_STALL_MS)) this.#ports.close(tail);
    this.#closeStalled(now - TAIL_STALL_MS, isRefused);
    // A socket whose client reads nothing cannot send its close frame either, and the runtime ends no single one.
    if (this.#isBlockedByClosed(now - TAIL_CLOSING_MS, isRefused)) await this.#ports.abortObject();
  }

  /**
   * Closes those whose clients stand still, so that they cannot keep the others waiting. One of them may be a client that
   * acknowledges every 1,000 entries and has got fewer: nothing else would ever have it go on.
   */
  #closeStalled(since: number, isRefused: boolean): void {
    for (const tail of [...this.#tails]) {
      while (tail.isOpen && !this.#load.hasRoom(tail) && !this.#load.hasRoomSoon(tail)) {
        const largestBuffer = this.#load.largestBuffer(since, tail.reader);
        if (!largestBuffer) break;
        this.#ports.close(largestBuffer);
      }
    }
    if (!isRefused && !this.#isInTheWay) return;
    const largestBuffer = this.#load.largestBuffer(since, null);
    if (largestBuffer) this.#ports.close(largestBuffer);
  }

  /** A reader's own closed tails are no reason to end those of others: it can end its connections itself. */
  #isBlockedByClosed(since: number, isRefused: boolean): boolean {
    for (const tail of this.#tails) if (this.#load.isBlockedByClosed(tail, since)) return true;
    return this.#load.isMuchOfClosed(since) || (isRefused && this.#load.holdsClosed(since));
  }
}
