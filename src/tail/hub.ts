import type { ErrorCode } from "../http/errors.ts";
import type { AuthorityCheck } from "./authority.ts";
import { TailLoad } from "./backpressure.ts";
import { CatchUp, ProgressReports } from "./catch-up.ts";
import { errorText, type FrameList } from "./frames.ts";
import { type TailBatch, TailGroups } from "./groups.ts";
import { TAIL_CLOSE, type TailQuota } from "./limits.ts";
import { LiveDelivery } from "./live.ts";
import type { TailShare } from "./shares.ts";
import type { OfferVerdict, Tail } from "./tail.ts";

/** The functions that tails need of their workspace object. */
export interface TailPorts {
  now(): number;
  /** The object's share of the isolate's buffer memory. */
  share: TailShare;
  quota(): TailQuota;
  /** Resolves when all writes are on disk. Yields to other requests. */
  durable(): Promise<void>;
  /** Waits for the given time. */
  pause(milliseconds: number): Promise<void>;
  /** Returns the `seq` of a project's newest entry; `null` if the project does not exist. */
  lastSeq(project: number): number | null;
  /**
   * Reads at most `most` entries after the tail's sent position, outside the object; `null` if the project no longer
   * exists.
   */
  backlog(tail: Tail, most: number): Promise<FrameList | null>;
  /** Checks the tail's authority with the object's own data. */
  ruling(tail: Tail): AuthorityCheck;
  /** Checks an authority that has expired. For a session, asks the user object. */
  renewed(tail: Tail): Promise<AuthorityCheck>;
  /** Aborts the object, which ends the connections of all tails and frees their memory. Clients reconnect. */
  abortObject(): void;
  /** Reports that the service closed a tail. */
  closed(tail: Tail, code: number, reason: string): void;
  /**
   * Reports a fault.
   * @param tail `null` if the fault concerns no single tail
   */
  failed(error: unknown, tail: Tail | null): void;
}

/**
 * The open tails of an object and their life cycle.
 *
 * Entries reach a tail in order of `seq`: as they are committed (`LiveDelivery`) or, for a tail that is behind, from
 * disk (`CatchUp`). A tail becomes live in the same turn in which its sent position reaches the project's newest `seq`.
 */
export class TailHub {
  readonly #ports: TailPorts;
  readonly #tails = new TailGroups();
  readonly #load: TailLoad;
  readonly #live: LiveDelivery;
  readonly #catchUp: CatchUp;
  readonly #progress: ProgressReports;

  constructor(ports: TailPorts) {
    this.#ports = ports;
    this.#load = new TailLoad(ports.share, () => ports.quota());
    const common = {
      now: () => ports.now(),
      pause: (milliseconds: number) => ports.pause(milliseconds),
      needsRecheck: (tail: Tail) => this.#needsRecheck(tail),
      failed: (error: unknown) => ports.failed(error, null),
    };
    this.#live = new LiveDelivery(this.#tails, {
      ...common,
      durable: () => ports.durable(),
      offer: (tail, framed) => this.#offerLive(tail, framed),
      fallBehind: (tail) => this.#catchUp.add(tail),
      setHeldBytes: (bytes) => {
        this.#load.delivering(bytes);
        if (bytes === 0) this.#catchUp.resume();
      },
    });
    this.#progress = new ProgressReports({
      ...common,
      tails: () => this.#tails,
      report: (tail) => this.#attempt(tail, () => tail.report(ports.now())),
    });
    this.#catchUp = new CatchUp(this.#load, {
      ...common,
      takeStep: () => ports.share.step(),
      endStep: (lease) => ports.share.endStep(lease),
      askForAck: (tail) => this.#attempt(tail, () => tail.askForAck(ports.now())),
      backlog: (tail, most) => ports.backlog(tail, most),
      promoteToLive: (tail) => this.#promoteToLive(tail),
      offer: (tail, framed) => this.#offer(tail, framed),
      closeBehind: (tail) => this.#closeBehind(tail),
      abortObject: () => this.#abortObject(),
      closeBroken: (tail, error) => this.#closeBroken(tail, error),
    });
  }

  get size(): number {
    return this.#tails.size;
  }

  /** Returns the number of open tails of a reader; see `Tail.reader`. */
  tailsOf(reader: string): number {
    let tails = 0;
    for (const tail of this.#tails) if (tail.reader === reader) tails++;
    return tails;
  }

  /** Whether there is no memory left for another tail. */
  get isFull(): boolean {
    return this.#load.isFull;
  }

  /** Checks for stalled clients because a new tail was refused for lack of room. */
  recordRefusedTail(): void {
    this.#catchUp.recordRefusedTail();
  }

  /** Adds a tail that has just been opened. */
  add(tail: Tail): void {
    this.#join(tail);
    if (!this.#promoteToLive(tail)) this.#catchUp.add(tail);
  }

  /** Restores a tail after hibernation. Sends nothing if no entry was committed in the meantime. */
  restore(tail: Tail): void {
    this.#load.update(tail);
    if (!tail.isOpen) return;
    this.#join(tail);
    if (tail.sent === this.#ports.lastSeq(tail.project)) tail.state = "live";
    else this.#catchUp.add(tail);
  }

  /** Removes a tail whose socket is gone. */
  gone(tail: Tail): void {
    this.#leave(tail);
    this.#load.remove(tail);
    this.#catchUp.resume();
  }

  /** Delivers committed batches. Call after every commit, when its transaction has ended. */
  committed(batches: readonly TailBatch[]): void {
    this.#live.committed(batches);
  }

  /**
   * Records a client's acknowledgement.
   * @returns `false` if the client acknowledges a `seq` that was never sent
   */
  ack(tail: Tail, seq: number): boolean {
    if (!tail.ack(seq, this.#ports.now())) return false;
    this.#load.update(tail);
    if (tail.isOpen && tail.state === "waiting") this.#catchUp.add(tail);
    this.#catchUp.resume();
    return true;
  }

  /** Checks all authorities after a change of keys, projects or members, and ends tails that may no longer read. */
  recheck(): void {
    for (const tail of [...this.#tails]) this.#rule(tail, this.#ports.ruling(tail));
  }

  /** Ends the tails of a session. */
  sessionEnded(sessionId: string): void {
    for (const tail of [...this.#tails]) {
      const { authority } = tail;
      if (authority.kind === "user" && authority.sessionId === sessionId) this.end(tail, "SESSION_REVOKED");
    }
  }

  endAll(code: ErrorCode): void {
    for (const tail of [...this.#tails]) this.end(tail, code);
  }

  /** Closes all tails because the service stops. Clients resume at their sent position. */
  stopAll(): void {
    for (const tail of [...this.#tails]) this.#close(tail, TAIL_CLOSE.stopping, `since=${tail.sent}`, null);
  }

  /** Returns when the next authority must be checked, epoch milliseconds; `null` if none expires. */
  nextExpiry(): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const { expiresAt, state } of this.#tails) {
      if (state !== "unsure") next = Math.min(next, expiresAt ?? Number.POSITIVE_INFINITY);
    }
    return Number.isFinite(next) ? next : null;
  }

  /** Checks the authorities that have expired. */
  expire(): void {
    for (const tail of [...this.#tails]) this.#needsRecheck(tail);
  }

  /** Ends a tail that may no longer read. */
  end(tail: Tail, code: ErrorCode): void {
    this.#close(tail, TAIL_CLOSE.ended, code, code);
  }

  /** Closes a tail whose client sent a message that is not an acknowledgement. */
  refuseMessage(tail: Tail): void {
    const reason = 'Send {"type":"ack","seq":<seq>} and nothing else.';
    this.#close(tail, TAIL_CLOSE.badMessage, reason, "VALIDATION_ERROR");
  }

  /**
   * Makes a tail live and notifies its client if the tail has reached the newest entry.
   * @returns whether the tail is live now
   */
  #promoteToLive(tail: Tail): boolean {
    const last = this.#ports.lastSeq(tail.project);
    if (last === null || tail.sent < last) return false;
    tail.state = "live";
    this.#attempt(tail, () => tail.caughtUp(this.#ports.now()));
    return true;
  }

  /**
   * Offers frames to a live tail.
   * @returns whether to offer them again because shared memory is full
   */
  #offerLive(tail: Tail, framed: FrameList): boolean {
    const verdict = this.#offer(tail, framed);
    if (verdict === "wait" || verdict === "late") this.#closeBehind(tail);
    return verdict === "full";
  }

  #offer(tail: Tail, framed: FrameList): OfferVerdict | undefined {
    try {
      return this.#attempt(tail, () => tail.offer(framed, this.#load.roomFor(tail), this.#ports.now()));
    } finally {
      this.#load.update(tail);
      this.#catchUp.watch();
      if (tail.isAhead) this.#progress.expect();
    }
  }

  /** Whether the tail's authority has expired. Starts its renewal; the tail gets nothing until then. */
  #needsRecheck(tail: Tail): boolean {
    if (tail.expiresAt === null || tail.expiresAt > this.#ports.now()) return false;
    if (tail.state !== "unsure") {
      tail.state = "unsure";
      void this.#renew(tail);
    }
    return true;
  }

  async #renew(tail: Tail): Promise<void> {
    try {
      const ruling = await this.#ports.renewed(tail);
      if (!tail.isOpen) return;
      this.#rule(tail, ruling);
      if (ruling.ok && !this.#promoteToLive(tail)) this.#catchUp.add(tail);
    } catch (error) {
      this.#closeBroken(tail, error);
    }
  }

  #rule(tail: Tail, ruling: AuthorityCheck): void {
    if (!ruling.ok) this.end(tail, ruling.code);
    else
      this.#attempt(tail, () => {
        tail.expiresAt = ruling.expiresAt;
      });
  }

  #closeBehind(tail: Tail): void {
    this.#close(tail, TAIL_CLOSE.behind, `since=${tail.sent}`, null);
  }

  /** Aborts the object as the last resort: it cannot end a single connection whose client reads nothing. */
  async #abortObject(): Promise<void> {
    await this.#ports.durable();
    this.#ports.abortObject();
  }

  #closeBroken(tail: Tail, error: unknown): void {
    this.#ports.failed(error, tail);
    this.#close(tail, TAIL_CLOSE.fault, `since=${tail.sent}`, "SERVICE_UNAVAILABLE");
  }

  /**
   * Closes a tail.
   * @param error error code sent in a separate frame before the close; `null` for none
   */
  #close(tail: Tail, code: number, reason: string, error: ErrorCode | null): void {
    if (!tail.isOpen) return;
    this.#leave(tail);
    this.#attempt(tail, () => {
      if (error !== null) tail.socket.send(errorText(error));
      tail.close(code, reason, this.#ports.now());
    });
    this.#ports.closed(tail, code, reason);
  }

  /** Runs `work`; if the socket throws because the other end is gone, removes only its tail. */
  #attempt<T>(tail: Tail, work: () => T): T | undefined {
    try {
      return work();
    } catch {
      this.#leave(tail);
      return undefined;
    }
  }

  /** Stops sending to a tail. Its unacknowledged bytes count until its socket is gone. */
  #leave(tail: Tail): void {
    tail.isOpen = false;
    this.#tails.remove(tail);
    this.#ports.share.tails = this.#tails.size;
    this.#catchUp.delete(tail);
  }

  #join(tail: Tail): void {
    this.#tails.add(tail);
    this.#ports.share.tails = this.#tails.size;
  }
}
