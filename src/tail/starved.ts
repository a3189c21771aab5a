import { TAIL_CLOSING_MS, TAIL_STALL_MS } from "./limits.ts";
import type { TailLoad } from "./load.ts";
import type { Tail } from "./tail.ts";

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
