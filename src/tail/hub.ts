import type { ErrorCode } from "../http/errors.ts";
import type { AuthorityCheck } from "./authority.ts";
import { TailLoad } from "./backpressure.ts";
import { CatchUp, ProgressReports } from "./catch-up.ts";
import { isKnownTailFilter } from "./filter.ts";
import { errorText, type FrameList } from "./frames.ts";
import { type TailBatch, TailGroups } from "./groups.ts";
import type { Clock, TailActions, TailHost } from "./host.ts";
import { TAIL_CLOSE } from "./limits.ts";
import { LiveDelivery } from "./live.ts";
import type { OfferVerdict, Tail } from "./tail.ts";

/**
 * The open tails of an object and their life cycle.
 *
 * Entries reach a tail in order of `seq`: as they are committed (`LiveDelivery`) or, for a tail that is behind, from
 * disk (`CatchUp`). A tail becomes live in the same turn in which its sent position reaches the project's newest `seq`.
 */
export class TailHub implements TailActions {
  readonly #host: TailHost;
  readonly #clock: Clock;
  readonly #tails = new TailGroups();
  readonly #load: TailLoad;
  readonly #live: LiveDelivery;
  readonly #catchUp: CatchUp;
  readonly #progress: ProgressReports;

  constructor(host: TailHost, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
    this.#load = new TailLoad(host.share, () => host.quota());
    this.#catchUp = new CatchUp(this.#load, host, clock, this);
    this.#live = new LiveDelivery(this.#tails, this.#load, this.#catchUp, host, clock, this);
    this.#progress = new ProgressReports(this.#tails, host, clock, this);
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
    if (!this.promoteToLive(tail)) this.#catchUp.add(tail);
  }

  /** Restores a tail after hibernation. Sends nothing if no entry was committed in the meantime. */
  restore(tail: Tail): void {
    this.#load.update(tail);
    if (!tail.isOpen) return;
    // A later version opened the tail, and this one would ignore a filter: after a rollback, or between two deploys.
    if (!isKnownTailFilter(tail.filter)) {
      this.#close(tail, TAIL_CLOSE.stopping, `since=${tail.sent}`, null);
      return;
    }
    this.#join(tail);
    if (tail.sent === this.#host.lastSeq(tail.project)) tail.state = "live";
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
    if (!tail.ack(seq, this.#clock.now())) return false;
    this.#load.update(tail);
    if (tail.isOpen && tail.state === "waiting") this.#catchUp.add(tail);
    this.#catchUp.resume();
    return true;
  }

  /** Checks all authorities after a change of keys, projects or members, and ends tails that may no longer read. */
  recheck(): void {
    for (const tail of [...this.#tails]) this.#applyCheck(tail, this.#host.mayRead(tail));
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
    for (const tail of [...this.#tails]) this.needsRecheck(tail);
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
  promoteToLive(tail: Tail): boolean {
    const last = this.#host.lastSeq(tail.project);
    if (last === null || tail.sent < last) return false;
    tail.state = "live";
    this.attempt(tail, () => tail.caughtUp(this.#clock.now()));
    return true;
  }

  offer(tail: Tail, framed: FrameList): OfferVerdict | undefined {
    try {
      return this.attempt(tail, () => tail.offer(framed, this.#load.roomFor(tail), this.#clock.now()));
    } finally {
      this.#load.update(tail);
      this.#catchUp.watch();
      if (tail.isAhead) this.#progress.expect();
    }
  }

  /** Whether the tail's authority has expired. Starts its renewal; the tail gets nothing until then. */
  needsRecheck(tail: Tail): boolean {
    if (tail.expiresAt === null || tail.expiresAt > this.#clock.now()) return false;
    if (tail.state !== "unsure") {
      tail.state = "unsure";
      void this.#renew(tail);
    }
    return true;
  }

  closeBehind(tail: Tail): void {
    this.#close(tail, TAIL_CLOSE.behind, `since=${tail.sent}`, null);
  }

  /** Aborts the object as the last resort: it cannot end a single connection whose client reads nothing. */
  async abortObject(): Promise<void> {
    await this.#host.durable();
    this.#host.abort();
  }

  closeBroken(tail: Tail, error: unknown): void {
    this.#host.report({ event: "failed", tail, error });
    this.#close(tail, TAIL_CLOSE.fault, `since=${tail.sent}`, "SERVICE_UNAVAILABLE");
  }

  /** Runs `work`; if the socket throws because the other end is gone, removes only its tail. */
  attempt<T>(tail: Tail, work: () => T): T | undefined {
    try {
      return work();
    } catch {
      this.#leave(tail);
      return undefined;
    }
  }

  async #renew(tail: Tail): Promise<void> {
    try {
      const check = await this.#host.renewed(tail);
      if (!tail.isOpen) return;
      this.#applyCheck(tail, check);
      if (check.ok && !this.promoteToLive(tail)) this.#catchUp.add(tail);
    } catch (error) {
      this.closeBroken(tail, error);
    }
  }

  #applyCheck(tail: Tail, check: AuthorityCheck): void {
    if (!check.ok) this.end(tail, check.code);
    else
      this.attempt(tail, () => {
        tail.expiresAt = check.expiresAt;
      });
  }

  /**
   * Closes a tail.
   * @param error error code sent in a separate frame before the close; `null` for none
   */
  #close(tail: Tail, code: number, reason: string, error: ErrorCode | null): void {
    if (!tail.isOpen) return;
    this.#leave(tail);
    this.attempt(tail, () => {
      if (error !== null) tail.socket.send(errorText(error));
      tail.close(code, reason, this.#clock.now());
    });
    this.#host.report({ event: "closed", tail, code, reason });
  }

  /** Stops sending to a tail. Its unacknowledged bytes count until its socket is gone. */
  #leave(tail: Tail): void {
    tail.isOpen = false;
    this.#tails.remove(tail);
    this.#host.share.tails = this.#tails.size;
    this.#catchUp.delete(tail);
  }

  #join(tail: Tail): void {
    this.#tails.add(tail);
    this.#host.share.tails = this.#tails.size;
  }
}
