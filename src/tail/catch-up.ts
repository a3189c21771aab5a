import type { MemoryLease } from "../platform/memory-pool.ts";
import { BlockedTails, type TailLoad } from "./backpressure.ts";
import type { FrameList } from "./frames.ts";
import { TAIL_PROGRESS_MS } from "./limits.ts";
import type { OfferVerdict, Tail } from "./tail.ts";

/** The functions that `CatchUp` needs of its surroundings. */
export interface CatchUpPorts {
  now(): number;
  /** Waits for the given time. */
  pause(milliseconds: number): Promise<void>;
  /** Reserves the memory of one step; `null` if none is free. */
  takeStep(): MemoryLease | null;
  endStep(lease: MemoryLease): void;
  /**
   * Reads at most `most` entries after the tail's sent position, outside the object; `null` if the project no longer
   * exists.
   */
  backlog(tail: Tail, most: number): Promise<FrameList | null>;
  /** Whether the tail's authority must be checked again. The tail gets nothing until then. */
  needsRecheck(tail: Tail): boolean;
  /**
   * Makes a tail live if it has reached the newest entry.
   * @returns whether the tail is live now
   */
  promoteToLive(tail: Tail): boolean;
  /** Sends frames that start after the tail's sent position; `undefined` if the socket is gone. */
  offer(tail: Tail, framed: FrameList): OfferVerdict | undefined;
  /** Asks the client of a waiting tail for an acknowledgement. The client may otherwise wait for more entries first. */
  askForAck(tail: Tail): void;
  /** Closes a tail whose stalled client holds buffer memory that other tails need. */
  closeBehind(tail: Tail): void;
  /** Aborts the object because the memory of closed tails blocks others and is not released. */
  abortObject(): Promise<void>;
  /** Closes a tail whose backlog cannot be read. */
  closeBroken(tail: Tail, error: unknown): void;
  failed(error: unknown): void;
}

/**
 * Tails of an object that read their backlog at the same time. The memory that they reserve is bounded for the isolate.
 */
const READERS = 4;
/** Milliseconds after which a step tries again if no memory was free. */
const STEP_AGAIN_MS = 50;

/** The tails that are behind. They read their backlog in steps, in turn, until each is live. */
export class CatchUp {
  readonly #load: TailLoad;
  readonly #ports: CatchUpPorts;
  readonly #queue: Tail[] = [];
  readonly #blocked: BlockedTails;
  #readers = 0;

  constructor(load: TailLoad, ports: CatchUpPorts) {
    this.#load = load;
    this.#ports = ports;
    this.#blocked = new BlockedTails(load, {
      now: () => ports.now(),
      pause: (milliseconds) => ports.pause(milliseconds),
      hasReader: () => this.#queue.length < READERS,
      resume: (tail) => this.add(tail),
      close: (tail) => ports.closeBehind(tail),
      abortObject: () => ports.abortObject(),
      failed: (error) => ports.failed(error),
    });
  }

  /** Marks a tail as behind and queues its next step. */
  add(tail: Tail): void {
    tail.state = "behind";
    this.#blocked.delete(tail);
    if (tail.isQueued) return;
    tail.isQueued = true;
    this.#queue.push(tail);
    this.#read();
  }

  /** Removes the tail from the queue of blocked tails. */
  delete(tail: Tail): void {
    this.#blocked.delete(tail);
  }

  /** Resumes blocked tails that have room. Call after an acknowledgement and after a socket is gone. */
  resume(): void {
    this.#blocked.resume();
  }

  /** Starts the check for stalled clients if tails hold much memory. Call when tails hold more than before. */
  watch(): void {
    this.#blocked.watch();
  }

  /** Checks for stalled clients because a new tail was refused for lack of room. Its client retries later. */
  recordRefusedTail(): void {
    this.#blocked.recordRefusedTail();
  }

  #read(): void {
    while (this.#readers < READERS) {
      const tail = this.#queue.shift();
      if (!tail) return;
      this.#readers++;
      void this.#step(tail)
        .catch((error: unknown) => this.#ports.closeBroken(tail, error))
        .finally(() => {
          this.#readers--;
          this.#blocked.resume();
          this.#read();
        });
    }
  }

  /** Sends one tail the next part of its backlog. Other tails get their steps in between. */
  async #step(tail: Tail): Promise<void> {
    tail.isQueued = false;
    if (!tail.isOpen || tail.state !== "behind" || this.#ports.needsRecheck(tail) || this.#ports.promoteToLive(tail))
      return;
    const { room } = tail;
    if (room === 0) {
      tail.state = "waiting";
      return;
    }
    if (!this.#load.hasRoom(tail)) return this.#starve(tail);
    const lease = await this.#leaseOf(tail);
    if (lease === null) return;
    let verdict: OfferVerdict | undefined;
    try {
      const place = tail.sent;
      const framed = await this.#ports.backlog(tail, room);
      // The hub ends the tails of a deleted project.
      if (framed === null || !isBehind(tail)) return;
      if (framed.through <= place) throw new RangeError("A step of a tail that is behind leads nowhere.");
      verdict = this.#ports.offer(tail, framed);
    } finally {
      this.#ports.endStep(lease);
    }
    if (verdict === "full") this.#starve(tail);
    else if (verdict === "fits") this.add(tail);
    else if (verdict === "wait") tail.state = "waiting";
    // The remaining entries are on disk and need no memory while the client catches up.
    else if (verdict === "late") {
      this.#blocked.addLate(tail);
      this.#ports.askForAck(tail);
    }
  }

  #starve(tail: Tail): void {
    this.#blocked.add(tail);
    if (tail.unackedBytes > 0) this.#ports.askForAck(tail);
  }

  /** Reserves the memory of a step; `null` if the tail ended or left the state `behind` in the meantime. */
  async #leaseOf(tail: Tail): Promise<MemoryLease | null> {
    while (isBehind(tail)) {
      const lease = this.#ports.takeStep();
      if (lease !== null) return lease;
      await this.#ports.pause(STEP_AGAIN_MS);
    }
    return null;
  }
}

function isBehind({ isOpen, state }: Tail): boolean {
  return isOpen && state === "behind";
}

/** The functions that `ProgressReports` needs of its surroundings. */
export interface ProgressPorts {
  pause(milliseconds: number): Promise<void>;
  tails(): Iterable<Tail>;
  /** Sends a progress report if the last one is too old. */
  report(tail: Tail): void;
  failed(error: unknown): void;
}

/** Reports between two pauses, about half a millisecond of the object's thread. */
const REPORTS_IN_A_ROW = 10;

/**
 * Sends progress reports while no entry passes a tail's filter, so that a client that reconnects does not read those
 * entries again.
 *
 * Deliveries send due reports themselves. These reports cover the entries before a quiet period. A timer runs only from
 * the first unreported entry until its report, so that an idle tail costs nothing.
 */
export class ProgressReports {
  readonly #ports: ProgressPorts;
  #isExpected = false;

  constructor(ports: ProgressPorts) {
    this.#ports = ports;
  }

  /** Starts the timer. Call when a tail's sent position is ahead of the last report. */
  expect(): void {
    if (this.#isExpected) return;
    this.#isExpected = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    try {
      do {
        await this.#ports.pause(TAIL_PROGRESS_MS);
        await this.#reportAll();
      } while (this.#isAnyAhead());
    } catch (error) {
      this.#ports.failed(error);
    } finally {
      this.#isExpected = false;
    }
  }

  async #reportAll(): Promise<void> {
    let reports = 0;
    for (const tail of [...this.#ports.tails()]) {
      if (!tail.isOpen || !tail.isAhead) continue;
      this.#ports.report(tail);
      if (++reports % REPORTS_IN_A_ROW === 0) await this.#ports.pause(1);
    }
  }

  #isAnyAhead(): boolean {
    for (const tail of this.#ports.tails()) if (tail.isAhead) return true;
    return false;
  }
}
