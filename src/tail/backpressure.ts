import type { BacklogReaders, Clock, TailActions, TailHost } from "./host.ts";
import { TAIL_CLOSING_MS, TAIL_STALL_MS, type TailQuota } from "./limits.ts";
import type { TailShare } from "./shares.ts";
import type { Room, Tail } from "./tail.ts";

/**
 * Fraction of the tails' buffer memory. An object that holds more looks for stalled clients, and closes them if less
 * than this fraction is free.
 */
const HIGH_SHARE = 1 / 16;

/**
 * The bytes of the isolate's buffer memory that the tails of an object hold.
 *
 * The runtime copies a frame for each socket and keeps what the client has not read, even after the service has closed
 * the tail. Unacknowledged bytes therefore count per socket until the socket is gone. Each reader (a key, a user, a
 * client IP of the sandbox) reaches its own bound before it reduces the room of others.
 */
export class TailLoad {
  readonly #share: TailShare;
  readonly #quota: () => TailQuota;
  readonly #held = new Map<Tail, number>();
  readonly #readers = new Map<string, number>();
  #unacked = 0;
  /** Bytes of the deliveries: queued batches, and the sequence that is being delivered. */
  #delivering = 0;

  constructor(share: TailShare, quota: () => TailQuota) {
    this.#share = share;
    this.#quota = quota;
  }

  get isFull(): boolean {
    return this.#share.floor() <= 0;
  }

  /** Whether the object holds so much that stalled clients matter, even if none of its own tails is blocked. */
  get isHigh(): boolean {
    return this.#unacked > HIGH_SHARE * this.#share.capacity;
  }

  get isLow(): boolean {
    return this.#share.free < HIGH_SHARE * this.#share.capacity;
  }

  roomFor(tail: Tail): Room {
    return { shared: this.#sharedRoom(tail, null), own: this.#share.floor() - tail.unackedBytes };
  }

  /** Whether the next frame of a blocked tail fits now. */
  hasRoom(tail: Tail): boolean {
    const { shared, own } = this.roomFor(tail);
    return tail.missingBytes < Math.max(shared, own);
  }

  /** Whether the tail's next frame would fit after the connections of closed tails have ended. */
  hasRoomSoon(tail: Tail): boolean {
    return tail.missingBytes < this.#sharedRoom(tail, ({ isOpen }) => !isOpen);
  }

  /**
   * Whether the tail's next frame does not fit only because closed tails of other readers hold memory.
   * @param since counts only closed tails without progress after this time, epoch milliseconds
   */
  isBlockedByClosed(tail: Tail, since: number): boolean {
    if (this.hasRoom(tail)) return false;
    return (
      tail.missingBytes < this.#sharedRoom(tail, (other) => isIdleClosed(other, since) && other.reader !== tail.reader)
    );
  }

  /** Whether closed tails without progress since `since` hold so much that other objects lack memory. */
  isMuchOfClosed(since: number): boolean {
    if (!this.isLow) return false;
    let bytes = 0;
    for (const [tail, held] of this.#held) if (isIdleClosed(tail, since)) bytes += held;
    return bytes > HIGH_SHARE * this.#share.capacity;
  }

  /** Whether any closed tail without progress since `since` holds memory. */
  holdsClosed(since: number): boolean {
    for (const tail of this.#held.keys()) if (isIdleClosed(tail, since)) return true;
    return false;
  }

  /** Updates the bytes of a tail. Call after every frame and every acknowledgement. */
  update(tail: Tail): void {
    this.#set(tail, tail.unackedBytes);
  }

  remove(tail: Tail): void {
    this.#set(tail, 0);
  }

  delivering(bytes: number): void {
    this.#delivering = bytes;
    this.#share.hold(this.#unacked + bytes);
  }

  /**
   * Returns the open tail that holds most among those without progress since `since`; `null` if there is none. Prefers
   * tails of `reader`.
   */
  largestHolder(since: number, reader: string | null): Tail | null {
    let largestHolder: Tail | null = null;
    for (const [tail, held] of this.#held) {
      if (!tail.isOpen || tail.lastProgressAt > since) continue;
      const isOwn = tail.reader === reader;
      const wasOwn = largestHolder?.reader === reader;
      const isLarger = held > (largestHolder?.unackedBytes ?? 0);
      if (isOwn === wasOwn ? isLarger : isOwn || largestHolder === null) largestHolder = tail;
    }
    return largestHolder;
  }

  /** Whether the client has unacknowledged frames and has made no progress since `since`. */
  isStalled(tail: Tail, since: number): boolean {
    return this.#held.has(tail) && tail.lastProgressAt <= since;
  }

  /**
   * Returns the shared bytes that a tail may be sent.
   * @param isGone selects tails that are counted as holding nothing
   */
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

function isIdleClosed({ isOpen, lastProgressAt }: Tail, since: number): boolean {
  return !isOpen && lastProgressAt <= since;
}

/** Milliseconds between two checks for room, because other objects of the isolate may have released memory. */
const CHECK_MS = 1000;

/**
 * The tails that wait for shared buffer memory, and the closing of stalled clients that hold it. A reader at its own
 * bound waits for its own clients.
 */
export class BlockedTails {
  readonly #load: TailLoad;
  readonly #readers: BacklogReaders;
  readonly #host: TailHost;
  readonly #clock: Clock;
  readonly #actions: TailActions;
  readonly #tails = new Set<Tail>();
  /** Tails whose unacknowledged bytes exceed the bound of a tail: they wait for their own client. */
  readonly #awaitingAck = new Set<Tail>();
  #isWatching = false;

  constructor(load: TailLoad, readers: BacklogReaders, host: TailHost, clock: Clock, actions: TailActions) {
    this.#load = load;
    this.#readers = readers;
    this.#host = host;
    this.#clock = clock;
    this.#actions = actions;
  }

  add(tail: Tail): void {
    tail.state = "waiting";
    this.#tails.add(tail);
    this.watch();
  }

  /**
   * Adds a tail that waits for its own client. Without a check it would wait indefinitely if that client expected more
   * entries before its next acknowledgement.
   */
  addAwaitingAck(tail: Tail): void {
    tail.state = "waiting";
    this.#awaitingAck.add(tail);
    this.watch();
  }

  /**
   * Checks for stalled clients because a new tail was refused for lack of room. The refused client holds no socket that
   * would keep the object awake until it retries.
   */
  recordRefusedTail(): void {
    this.#check(true).catch((error: unknown) => this.#failed(error));
  }

  delete(tail: Tail): void {
    this.#tails.delete(tail);
    this.#awaitingAck.delete(tail);
  }

  /**
   * Resumes blocked tails that have room. Call when memory or a reader becomes free. Resumes only as many as there are
   * free readers, because the first ones may fill the room again.
   */
  resume(): void {
    for (const tail of this.#tails) {
      if (!this.#readers.hasReader) return;
      if (!this.#load.hasRoom(tail)) continue;
      this.#tails.delete(tail);
      if (tail.state === "waiting") this.#readers.add(tail);
    }
  }

  /**
   * Repeats the check while tails wait, or while the object holds much and tails of other objects may wait. Otherwise
   * nothing keeps the object awake: one stalled client leaves enough memory to the others, and the object may
   * hibernate.
   */
  watch(): void {
    if (this.#isWatching || !this.#isNeeded) return;
    this.#isWatching = true;
    void this.#watch();
  }

  get #isNeeded(): boolean {
    return this.#tails.size > 0 || this.#awaitingAck.size > 0 || this.#mayBlockOthers;
  }

  get #mayBlockOthers(): boolean {
    return this.#load.isLow && this.#load.isHigh;
  }

  async #watch(): Promise<void> {
    try {
      while (this.#isNeeded) {
        await this.#clock.pause(CHECK_MS);
        await this.#check(false);
        this.resume();
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isWatching = false;
    }
  }

  /**
   * Closes stalled tails and, if that does not help, aborts the object.
   * @param isRefused whether a new tail was refused and waits, too
   */
  async #check(isRefused: boolean): Promise<void> {
    const now = this.#clock.now();
    for (const tail of this.#awaitingAck)
      if (this.#load.isStalled(tail, now - TAIL_STALL_MS)) this.#actions.closeBehind(tail);
    this.#closeStalled(now - TAIL_STALL_MS, isRefused);
    // A client that reads nothing gets no close frame either, and the runtime cannot end a single connection.
    if (this.#isBlockedByClosed(now - TAIL_CLOSING_MS, isRefused)) await this.#actions.abortObject();
  }

  /**
   * Closes tails of stalled clients so that they do not block others. A stalled client may be one that acknowledges
   * every 1,000 entries and has received fewer; only closing its tail lets it continue.
   */
  #closeStalled(since: number, isRefused: boolean): void {
    for (const tail of [...this.#tails]) {
      while (tail.isOpen && !this.#load.hasRoom(tail) && !this.#load.hasRoomSoon(tail)) {
        const largestHolder = this.#load.largestHolder(since, tail.reader);
        if (!largestHolder) break;
        this.#actions.closeBehind(largestHolder);
      }
    }
    if (!isRefused && !this.#mayBlockOthers) return;
    const largestHolder = this.#load.largestHolder(since, null);
    if (largestHolder) this.#actions.closeBehind(largestHolder);
  }

  /**
   * Whether closed tails block others so much that the object must be aborted. Closed tails of a reader never end the
   * connections of other readers, because a reader can end its own connections.
   */
  #isBlockedByClosed(since: number, isRefused: boolean): boolean {
    for (const tail of this.#tails) if (this.#load.isBlockedByClosed(tail, since)) return true;
    return this.#load.isMuchOfClosed(since) || (isRefused && this.#load.holdsClosed(since));
  }

  #failed(error: unknown): void {
    this.#host.report({ event: "failed", tail: null, error });
  }
}
