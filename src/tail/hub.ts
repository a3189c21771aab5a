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

/** What tails need of the object that they live in. */
export interface TailPorts {
  now(): number;
  /** Of the isolate's memory, what the tails of this object may take. */
  share: TailShare;
  quota(): TailQuota;
  /** Resolves once all that has been written is on disk; others get their turn before. */
  durable(): Promise<void>;
  /** Lets some time pass. */
  pause(milliseconds: number): Promise<void>;
  /** The `seq` of a project's newest entry; null where there is no such project. */
  lastSeq(project: number): number | null;
  /** What lies right behind a tail's place, at most so many entries, decoded elsewhere; null where the project is gone. */
  backlog(tail: Tail, most: number): Promise<FrameList | null>;
  /** As the object itself knows it. */
  ruling(tail: Tail): AuthorityCheck;
  /** The same once its time has come: of a session, only the user object knows. */
  renewed(tail: Tail): Promise<AuthorityCheck>;
  /** Ends the object's life, and with it the connections of all its tails: what they hold is free, and they come back. */
  abortObject(): void;
  /** A tail has been closed by the service. */
  closed(tail: Tail, code: number, reason: string): void;
  /** @param tail null where the fault is of no one tail */
  failed(error: unknown, tail: Tail | null): void;
}

/**
 * The open tails of an object: who they are, and what becomes of each. Entries come to them in order of `seq`, as they are
 * committed (`LiveDelivery`) or, to those that have less, from disk (`CatchUp`); a tail is live again in the very turn in
 * which its place is the project's newest `seq`.
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

  /** Open tails of a reader; see `Tail.reader`. */
  tailsOf(reader: string): number {
    let tails = 0;
    for (const tail of this.#tails) if (tail.reader === reader) tails++;
    return tails;
  }

  /** Whether there is no memory left for another tail. */
  get isFull(): boolean {
    return this.#load.isFull;
  }

  /** To be told of a new tail that was refused as there is no room. */
  recordRefusedTail(): void {
    this.#catchUp.recordRefusedTail();
  }

  /** A tail that has just been opened. */
  add(tail: Tail): void {
    this.#join(tail);
    if (!this.#promoteToLive(tail)) this.#catchUp.add(tail);
  }

  /** A tail that has outlived the object's memory. Where nothing came meanwhile, it hears nothing of it. */
  restore(tail: Tail): void {
    this.#load.update(tail);
    if (!tail.isOpen) return;
    this.#join(tail);
    if (tail.sent === this.#ports.lastSeq(tail.project)) tail.state = "live";
    else this.#catchUp.add(tail);
  }

  /** Its socket is gone. */
  gone(tail: Tail): void {
    this.#leave(tail);
    this.#load.remove(tail);
    this.#catchUp.resume();
  }

  /** To be told of every commit, once its transaction has ended. */
  committed(batches: readonly TailBatch[]): void {
    this.#live.committed(batches);
  }

  /** @returns false for something that the client cannot have */
  ack(tail: Tail, seq: number): boolean {
    if (!tail.ack(seq, this.#ports.now())) return false;
    this.#load.update(tail);
    if (tail.isOpen && tail.state === "waiting") this.#catchUp.add(tail);
    this.#catchUp.resume();
    return true;
  }

  /** Keys, projects or members have changed: tails that may read no more end. */
  recheck(): void {
    for (const tail of [...this.#tails]) this.#rule(tail, this.#ports.ruling(tail));
  }

  /** The tails of this session end. */
  sessionEnded(sessionId: string): void {
    for (const tail of [...this.#tails]) {
      const { authority } = tail;
      if (authority.kind === "user" && authority.sessionId === sessionId) this.end(tail, "SESSION_REVOKED");
    }
  }

  endAll(code: ErrorCode): void {
    for (const tail of [...this.#tails]) this.end(tail, code);
  }

  /** The service stops: clients resume at their place on the next one. */
  stopAll(): void {
    for (const tail of [...this.#tails]) this.#close(tail, TAIL_CLOSE.stopping, `since=${tail.sent}`, null);
  }

  /** When the first tail's authority has to be looked at again. */
  nextExpiry(): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const { expiresAt, state } of this.#tails) {
      if (state !== "unsure") next = Math.min(next, expiresAt ?? Number.POSITIVE_INFINITY);
    }
    return Number.isFinite(next) ? next : null;
  }

  /** Looks at those whose time has come. */
  expire(): void {
    for (const tail of [...this.#tails]) this.#needsRecheck(tail);
  }

  /** Ends a tail that may read no more. */
  end(tail: Tail, code: ErrorCode): void {
    this.#close(tail, TAIL_CLOSE.ended, code, code);
  }

  /** Ends a tail whose client sent something that is no message. */
  refuseMessage(tail: Tail): void {
    const reason = 'Send {"type":"ack","seq":<seq>} and nothing else.';
    this.#close(tail, TAIL_CLOSE.badMessage, reason, "VALIDATION_ERROR");
  }

  /** Live, and told so, if it has come to the newest entry. */
  #promoteToLive(tail: Tail): boolean {
    const last = this.#ports.lastSeq(tail.project);
    if (last === null || tail.sent < last) return false;
    tail.state = "live";
    this.#attempt(tail, () => tail.caughtUp(this.#ports.now()));
    return true;
  }

  /** @returns whether it can be offered again: the memory that tails share is full */
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

  /** Whether a tail's time has come: then it gets nothing until it is known to go on. */
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

  /** The last resort: an object cannot end one connection whose client reads nothing, only all of them with itself. */
  async #abortObject(): Promise<void> {
    await this.#ports.durable();
    this.#ports.abortObject();
  }

  #closeBroken(tail: Tail, error: unknown): void {
    this.#ports.failed(error, tail);
    this.#close(tail, TAIL_CLOSE.fault, `since=${tail.sent}`, "SERVICE_UNAVAILABLE");
  }

  /** @param error what the client is told in a frame of its own */
  #close(tail: Tail, code: number, reason: string, error: ErrorCode | null): void {
    if (!tail.isOpen) return;
    this.#leave(tail);
    this.#attempt(tail, () => {
      if (error !== null) tail.socket.send(errorText(error));
      tail.close(code, reason, this.#ports.now());
    });
    this.#ports.closed(tail, code, reason);
  }

  /** A socket throws once its other end has gone: that is the end of its tail, and of nothing else. */
  #attempt<T>(tail: Tail, work: () => T): T | undefined {
    try {
      return work();
    } catch {
      this.#leave(tail);
      return undefined;
    }
  }

  /** Gets nothing any more. What its socket holds counts until that is gone. */
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
