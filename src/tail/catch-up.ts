import type { MemoryLease } from "../platform/memory-pool.ts";
import { BlockedTails, type TailLoad } from "./backpressure.ts";
import type { BacklogReaders, Clock, TailActions, TailHost } from "./host.ts";
import { TAIL_PROGRESS_MS } from "./limits.ts";
import type { OfferVerdict, Tail } from "./tail.ts";

/** Tails without new entries to deliver: those that read their backlog, and progress reports of the others. */

/**
 * Tails of an object that read their backlog at the same time. The memory that they reserve is bounded for the isolate.
 */
const READERS = 4;
/** Milliseconds after which a step tries again if no memory was free. */
const STEP_AGAIN_MS = 50;

/** The tails that are behind. They read their backlog in steps, in turn, until each is live. */
export class CatchUp implements BacklogReaders {
  readonly #load: TailLoad;
  readonly #host: TailHost;
  readonly #clock: Clock;
  readonly #actions: TailActions;
  readonly #queue: Tail[] = [];
  readonly #blocked: BlockedTails;
  #readers = 0;

  constructor(load: TailLoad, host: TailHost, clock: Clock, actions: TailActions) {
    this.#load = load;
    this.#host = host;
    this.#clock = clock;
    this.#actions = actions;
    this.#blocked = new BlockedTails(load, this, host, clock, actions);
  }

  get hasReader(): boolean {
    return this.#queue.length < READERS;
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
        .catch((error: unknown) => this.#actions.closeBroken(tail, error))
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
    if (!isBehind(tail) || this.#actions.needsRecheck(tail) || this.#actions.promoteToLive(tail)) return;
    const { room } = tail;
    if (room === 0) {
      tail.state = "waiting";
      return;
    }
    if (!this.#load.hasRoom(tail)) return this.#block(tail);
    const lease = await this.#leaseOf(tail);
    if (lease === null) return;
    let verdict: OfferVerdict | undefined;
    try {
      const before = tail.sent;
      const framed = await this.#host.backlog(tail, room);
      // The hub ends the tails of a deleted project.
      if (framed === null || !isBehind(tail)) return;
      if (framed.through <= before) throw new RangeError("A step of a tail that is behind made no progress.");
      verdict = this.#actions.offer(tail, framed);
    } finally {
      this.#host.share.endStep(lease);
    }
    if (verdict === "full") this.#block(tail);
    else if (verdict === "fits") this.add(tail);
    else if (verdict === "wait") tail.state = "waiting";
    // The remaining entries are on disk and need no memory while the client catches up.
    else if (verdict === "ask") {
      this.#blocked.addAwaitingAck(tail);
      this.#askForAck(tail);
    }
  }

  #block(tail: Tail): void {
    this.#blocked.add(tail);
    if (tail.unackedBytes > 0) this.#askForAck(tail);
  }

  /** Asks the client for an acknowledgement. It may otherwise wait for more entries first. */
  #askForAck(tail: Tail): void {
    this.#actions.attempt(tail, () => tail.askForAck(this.#clock.now()));
  }

  /** Reserves the memory of a step; `null` if the tail ended or left the state `behind` in the meantime. */
  async #leaseOf(tail: Tail): Promise<MemoryLease | null> {
    while (isBehind(tail)) {
      const lease = this.#host.share.step();
      if (lease !== null) return lease;
      await this.#clock.pause(STEP_AGAIN_MS);
    }
    return null;
  }
}

function isBehind({ isOpen, state }: Tail): boolean {
  return isOpen && state === "behind";
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
  readonly #tails: Iterable<Tail>;
  readonly #host: TailHost;
  readonly #clock: Clock;
  readonly #actions: TailActions;
  #isExpected = false;

  constructor(tails: Iterable<Tail>, host: TailHost, clock: Clock, actions: TailActions) {
    this.#tails = tails;
    this.#host = host;
    this.#clock = clock;
    this.#actions = actions;
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
        await this.#clock.pause(TAIL_PROGRESS_MS);
        await this.#reportAll();
      } while (this.#isAnyAhead());
    } catch (error) {
      this.#host.report({ event: "failed", tail: null, error });
    } finally {
      this.#isExpected = false;
    }
  }

  async #reportAll(): Promise<void> {
    let reports = 0;
    for (const tail of [...this.#tails]) {
      if (!tail.isOpen || !tail.isAhead) continue;
      this.#actions.attempt(tail, () => tail.report(this.#clock.now()));
      if (++reports % REPORTS_IN_A_ROW === 0) await this.#clock.pause(1);
    }
  }

  #isAnyAhead(): boolean {
    for (const tail of this.#tails) if (tail.isAhead) return true;
    return false;
  }
}
