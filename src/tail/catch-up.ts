import type { MemoryLease } from "../platform/memory-pool.ts";
import { BlockedTails, type TailLoad } from "./backpressure.ts";
import type { FrameList } from "./frames.ts";
import { TAIL_PROGRESS_MS } from "./limits.ts";
import type { OfferVerdict, Tail } from "./tail.ts";

/** What the tails that are behind need of their hub. */
export interface CatchUpPorts {
  now(): number;
  /** Lets some time pass. */
  pause(milliseconds: number): Promise<void>;
  /** Leases the memory of one step; null where that has to wait. */
  takeStep(): MemoryLease | null;
  endStep(lease: MemoryLease): void;
  /** What lies right behind a tail's place, at most so many entries, decoded elsewhere; null where the project is gone. */
  backlog(tail: Tail, most: number): Promise<FrameList | null>;
  /** Whether a tail's time has come: then it gets nothing for now. */
  needsRecheck(tail: Tail): boolean;
  /** Makes a tail that has come to the newest entry live. @returns whether it has */
  promoteToLive(tail: Tail): boolean;
  /** Sends a tail what lies right behind its place. Undefined where its socket is gone. */
  offer(tail: Tail, framed: FrameList): OfferVerdict | undefined;
  /** Asks the client of a tail that waits for an acknowledgement: it may wait for more entries before it sends one. */
  askForAck(tail: Tail): void;
  /** Its client stands still, and others wait. */
  closeBehind(tail: Tail): void;
  /** What closed tails hold keeps others waiting, and does not go by itself: all connections end. */
  abortObject(): Promise<void>;
  /** What lies behind a tail's place cannot be read. */
  closeBroken(tail: Tail, error: unknown): void;
  failed(error: unknown): void;
}

/** Tails of an object that read older entries at the same time. Over all objects the memory that they lease is bounded. */
const READERS = 4;
/** Milliseconds after which a step that found no memory free tries again. */
const STEP_AGAIN_MS = 50;

/** The tails that are behind: each reads what it lacks from disk, a step at a time in turn, until it is live. */
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

  /** From now on the tail is behind. */
  add(tail: Tail): void {
    tail.state = "behind";
    this.#blocked.delete(tail);
    if (tail.isQueued) return;
    tail.isQueued = true;
    this.#queue.push(tail);
    this.#read();
  }

  /** It is not to be waited for any more. */
  delete(tail: Tail): void {
    this.#blocked.delete(tail);
  }

  /** To be called when clients have acknowledged something, or are gone: there may be room for those that wait. */
  resume(): void {
    this.#blocked.resume();
  }

  /** To be called when tails hold more than before: clients that stand still are looked for where it is much. */
  watch(): void {
    this.#blocked.watch();
  }

  /** A new tail was refused for want of room: it waits outside, and comes back. */
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

  /** Brings one tail a step further: the others get theirs in between. */
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
      // A project that is gone ends its tails by itself.
      if (framed === null || !isBehind(tail)) return;
      if (framed.through <= place) throw new RangeError("A step of a tail that is behind leads nowhere.");
      verdict = this.#ports.offer(tail, framed);
    } finally {
      this.#ports.endStep(lease);
    }
    if (verdict === "full") this.#starve(tail);
    else if (verdict === "fits") this.add(tail);
    else if (verdict === "wait") tail.state = "waiting";
    // What it lacks is on disk, and can wait there for the client as well.
    else if (verdict === "late") {
      this.#blocked.addLate(tail);
      this.#ports.askForAck(tail);
    }
  }

  #starve(tail: Tail): void {
    this.#blocked.add(tail);
    if (tail.unackedBytes > 0) this.#ports.askForAck(tail);
  }

  /** Null where the tail has ended meanwhile. */
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

/** What the reports need of their hub. */
export interface ProgressPorts {
  pause(milliseconds: number): Promise<void>;
  tails(): Iterable<Tail>;
  /** Tells the client of a tail how far it has come, where it was told nothing for long. */
  report(tail: Tail): void;
  failed(error: unknown): void;
}

/** Reports between two pauses: half a millisecond of the object's thread. */
const REPORTS_IN_A_ROW = 10;

/**
 * Tells clients how far their tails have come while nothing passes their filters, so that one that comes back does not read
 * all of that again. A delivery tells those who were told nothing for long; this is for what comes last before it is
 * quiet. There is a timer only from the first entry that was passed over until that has been told: an idle tail costs
 * nothing.
 */
export class ProgressReports {
  readonly #ports: ProgressPorts;
  #isExpected = false;

  constructor(ports: ProgressPorts) {
    this.#ports = ports;
  }

  /** To be called when a tail has come further than its client was told. */
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
