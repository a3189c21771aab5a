import type { ErrorCode } from "../http/errors.ts";
import type { BatchEncoding } from "../logs/batch.ts";
import { entriesOf } from "./entries.ts";
import { caughtUpText, errorText, type Framed, framesOf } from "./frames.ts";
import { TailGroups } from "./groups.ts";
import { TAIL_CLOSE } from "./limits.ts";
import { TailLoad } from "./load.ts";
import { StarvedTails } from "./starved.ts";
import type { OfferVerdict, Tail } from "./tail.ts";
import { unitOfBatch } from "./unit.ts";

/** A batch that has been committed. */
export interface CommittedBatch {
  project: number;
  firstSeq: number;
  receivedAt: number;
  /** `size`: bytes of its lines, uncompressed. */
  batch: { count: number; encoding: BatchEncoding; size: number; body: Uint8Array };
}

/** Whether an authority may still read a project: until when, or why not. */
export type AuthorityRuling = { ok: true; expiresAt: number | null } | { ok: false; code: AuthorityEnd };

type AuthorityEnd = Extract<
  ErrorCode,
  | "API_KEY_EXPIRED"
  | "API_KEY_REVOKED"
  | "FORBIDDEN"
  | "INSUFFICIENT_SCOPE"
  | "INVALID_API_KEY"
  | "NOT_FOUND"
  | "SESSION_REVOKED"
>;

/** What tails need of the object that they live in. */
export interface TailPorts {
  now(): number;
  /** Bytes that may have been sent to all tails together without being acknowledged. */
  unackedBytes(): number;
  /** Resolves once all that has been written is on disk; others get their turn before. */
  durable(): Promise<void>;
  /** Lets some time pass. */
  pause(milliseconds: number): Promise<void>;
  /** The `seq` of a project's newest entry; null where there is no such project. */
  lastSeq(project: number): number | null;
  /** What lies right behind a tail's place, at most so many entries, decoded elsewhere; null where the project is gone. */
  backlog(tail: Tail, most: number): Promise<Framed | null>;
  /** As the object itself knows it. */
  ruling(tail: Tail): AuthorityRuling;
  /** The same once its time has come: of a session, only the user object knows. */
  renewed(tail: Tail): Promise<AuthorityRuling>;
  /** A tail has been closed by the service. */
  closed(tail: Tail, code: number, reason: string): void;
  failed(error: unknown): void;
}

/** Bytes of committed batches, as stored, that wait for delivery; past it tails read them from disk like older ones. */
const QUEUE_BYTES = 16 * 1024 * 1024;
/** Characters sent or bytes looked through before others get a turn: about 2 ms. */
const TURN_COST = 1024 * 1024;
/**
 * A message costs about 50 us, however small it is: with many tails, commits that come close together share theirs. After a
 * delivery the next one waits this long for each message sent, at most so long, and not at all for a few tails.
 */
const PAUSE_PER_MESSAGE_MS = 0.3;
const PAUSE_MOST_MS = 30;
const PAUSE_LEAST_MS = 1;
/** Tails that read older entries at the same time. Each holds a few megabytes. */
const READERS = 4;

/** Bytes of lines that are decompressed at once, unless a single batch has more: what waits may hold a hundred times its size. */
const RUN_BYTES = 4 * 1024 * 1024;

/** Batches of one project that follow each other. */
interface Run {
  project: number;
  after: number;
  until: number;
  bytes: number;
  batches: CommittedBatch[];
}

/**
 * Brings what is committed to the tails, in order of `seq`.
 *
 * A tail that has everything up to a run's first entry gets the run; one that has more is left alone; one that has less
 * reads what it lacks from disk, in steps, and is live again in the very turn in which its place is the project's newest
 * `seq`. Nothing is sent before it is on disk, and ingest waits for none of it.
 */
export class TailHub {
  readonly #ports: TailPorts;
  readonly #tails = new TailGroups();
  #queue: CommittedBatch[] = [];
  #queueBytes = 0;
  #isDelivering = false;
  readonly #behind: Tail[] = [];
  readonly #load: TailLoad;
  readonly #starved: StarvedTails;
  #readers = 0;
  #cost = 0;
  /** Messages of the delivery under way. */
  #messages = 0;

  constructor(ports: TailPorts) {
    this.#ports = ports;
    this.#load = new TailLoad(() => ports.unackedBytes());
    this.#starved = new StarvedTails(this.#load, {
      now: () => ports.now(),
      pause: (milliseconds) => ports.pause(milliseconds),
      hasReader: () => this.#behind.length < READERS,
      resume: (tail) => this.#enqueue(tail),
      close: (tail) => this.#closeBehind(tail),
      failed: (error) => ports.failed(error),
    });
  }

  get size(): number {
    return this.#tails.size;
  }

  /** Whether the clients are so far behind together that there is no room for another tail. */
  get isFull(): boolean {
    return this.#load.isFull;
  }

  /** A tail that has just been opened. */
  add(tail: Tail): void {
    this.#tails.add(tail);
    if (!this.#settle(tail)) this.#enqueue(tail);
  }

  /** A tail that has outlived the object's memory. Where nothing came meanwhile, it hears nothing of it. */
  restore(tail: Tail): void {
    this.#load.update(tail, this.#ports.now());
    if (!tail.isOpen) return;
    this.#tails.add(tail);
    if (tail.sent === this.#ports.lastSeq(tail.project)) tail.state = "live";
    else this.#enqueue(tail);
  }

  /** Its socket is gone. */
  gone(tail: Tail): void {
    this.#leave(tail);
    this.#load.remove(tail);
    this.#starved.resume();
  }

  /** To be told of every commit, once its transaction has ended. Costs a few instructions where nobody listens. */
  committed(batches: readonly CommittedBatch[]): void {
    if (this.#tails.size === 0) return;
    for (const committed of batches) {
      if (!this.#tails.has(committed.project)) continue;
      this.#queue.push(committed);
      this.#queueBytes += committed.batch.body.length;
    }
    if (this.#queueBytes > QUEUE_BYTES) this.#passOver(this.#takeQueue());
    if (this.#queue.length === 0 || this.#isDelivering) return;
    this.#isDelivering = true;
    void this.#deliver();
  }

  /** @returns false for something that the client cannot have */
  ack(tail: Tail, seq: number): boolean {
    if (!tail.ack(seq)) return false;
    this.#load.update(tail, this.#ports.now());
    if (tail.isOpen && tail.state === "waiting") this.#enqueue(tail);
    this.#starved.resume();
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
    const now = this.#ports.now();
    for (const tail of [...this.#tails]) this.#isDue(tail, now);
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
  #settle(tail: Tail): boolean {
    const last = this.#ports.lastSeq(tail.project);
    if (last === null || tail.sent < last) return false;
    tail.state = "live";
    this.#attempt(tail, () => tail.socket.send(caughtUpText(tail.sent)));
    return true;
  }

  async #deliver(): Promise<void> {
    while (this.#queue.length > 0) {
      const batches: CommittedBatch[] = [];
      try {
        await this.#ports.durable();
        batches.push(...this.#takeQueue());
        for (const run of runsOf(batches)) await this.#deliverRun(run);
        await this.#rest();
      } catch (error) {
        this.#ports.failed(error);
        this.#passOver(batches);
      }
    }
    // In the turn in which the queue was found empty: the next commit starts anew.
    this.#isDelivering = false;
  }

  async #deliverRun({ project, after, until, batches }: Run): Promise<void> {
    const units = batches.map(({ batch, ...place }) => unitOfBatch({ ...place, ...batch }));
    const bytes = units.reduce((sum, { body }) => sum + body.length, 0);
    const now = this.#ports.now();
    for (const { matcher, tails } of [...this.#tails.of(project)]) {
      const live = [...tails].filter((tail) => tail.state === "live" && tail.sent < until && !this.#isDue(tail, now));
      const [first] = live;
      if (!first) continue;
      const framed = framesOf(entriesOf(units, matcher, first.projectId, { after, until }), until);
      const characters = framed.frames.reduce((sum, { text }) => sum + text.length, 0);
      await this.#spend(bytes);
      for (const tail of live) {
        if (!tail.isOpen || tail.state !== "live") continue;
        if (tail.sent === after) this.#offerLive(tail, framed);
        else this.#enqueue(tail);
        this.#messages += framed.frames.length;
        await this.#spend(characters);
      }
    }
  }

  async #rest(): Promise<void> {
    const milliseconds = Math.min(PAUSE_MOST_MS, this.#messages * PAUSE_PER_MESSAGE_MS);
    this.#messages = 0;
    if (milliseconds >= PAUSE_LEAST_MS) await this.#ports.pause(milliseconds);
  }

  #offerLive(tail: Tail, framed: Framed): void {
    const verdict = this.#offer(tail, framed);
    if (verdict === "full") this.#overflow(tail);
    else if (verdict !== undefined && verdict !== "fits") this.#closeBehind(tail);
  }

  #offer(tail: Tail, framed: Framed): OfferVerdict | undefined {
    try {
      return this.#attempt(tail, () => tail.offer(framed, this.#load.roomFor(tail)));
    } finally {
      this.#load.update(tail, this.#ports.now());
    }
  }

  /** A live tail does not get what is new: it waits with those that are behind, unless it is the one that holds most. */
  #overflow(tail: Tail): void {
    const greediest = this.#load.greediest();
    if (greediest && this.#load.isFullOfOpen) this.#closeBehind(greediest);
    if (tail.isOpen) this.#enqueue(tail);
  }

  /** The live tails read these batches from disk, like older ones. */
  #passOver(batches: readonly CommittedBatch[]): void {
    for (const project of new Set(batches.map((committed) => committed.project))) {
      for (const { tails } of this.#tails.of(project)) {
        for (const tail of tails) if (tail.state === "live") this.#enqueue(tail);
      }
    }
  }

  #enqueue(tail: Tail): void {
    tail.state = "behind";
    this.#starved.delete(tail);
    if (tail.isQueued) return;
    tail.isQueued = true;
    this.#behind.push(tail);
    this.#read();
  }

  #read(): void {
    while (this.#readers < READERS) {
      const tail = this.#behind.shift();
      if (!tail) return;
      this.#readers++;
      void this.#step(tail)
        .catch((error: unknown) => {
          this.#ports.failed(error);
          this.#close(tail, TAIL_CLOSE.fault, `since=${tail.sent}`, "SERVICE_UNAVAILABLE");
        })
        .finally(() => {
          this.#readers--;
          this.#starved.resume();
          this.#read();
        });
    }
  }

  /** Brings one tail that is behind a step further: the others get theirs in between. */
  async #step(tail: Tail): Promise<void> {
    tail.isQueued = false;
    if (!tail.isOpen || tail.state !== "behind" || this.#isDue(tail, this.#ports.now()) || this.#settle(tail)) return;
    const { room } = tail;
    if (room === 0) {
      tail.state = "waiting";
      return;
    }
    if (this.#load.isFull) return this.#starved.add(tail);
    const place = tail.sent;
    const framed = await this.#ports.backlog(tail, room);
    // A project that is gone ends its tails by itself.
    if (framed === null || !tail.isOpen || tail.state !== "behind") return;
    if (framed.through <= place) throw new RangeError("A step of a tail that is behind leads nowhere.");
    const verdict = this.#offer(tail, framed);
    if (verdict === "close") this.#closeBehind(tail);
    else if (verdict === "full") this.#starved.add(tail);
    else if (verdict === "wait") tail.state = "waiting";
    else if (verdict === "fits") this.#enqueue(tail);
  }

  /** Whether a tail's time has come: then it gets nothing until it is known to go on. */
  #isDue(tail: Tail, now: number): boolean {
    if (tail.expiresAt === null || tail.expiresAt > now) return false;
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
      if (ruling.ok && !this.#settle(tail)) this.#enqueue(tail);
    } catch (error) {
      this.#ports.failed(error);
      this.#close(tail, TAIL_CLOSE.fault, `since=${tail.sent}`, "SERVICE_UNAVAILABLE");
    }
  }

  #rule(tail: Tail, ruling: AuthorityRuling): void {
    if (!ruling.ok) this.end(tail, ruling.code);
    else
      this.#attempt(tail, () => {
        tail.expiresAt = ruling.expiresAt;
      });
  }

  #closeBehind(tail: Tail): void {
    this.#close(tail, TAIL_CLOSE.behind, `since=${tail.sent}`, null);
  }

  /** @param error what the client is told in a frame of its own */
  #close(tail: Tail, code: number, reason: string, error: ErrorCode | null): void {
    if (!tail.isOpen) return;
    this.#leave(tail);
    this.#attempt(tail, () => {
      if (error !== null) tail.socket.send(errorText(error));
      tail.close(code, reason);
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
    this.#starved.delete(tail);
  }

  #takeQueue(): CommittedBatch[] {
    const queue = this.#queue;
    this.#queue = [];
    this.#queueBytes = 0;
    return queue;
  }

  async #spend(cost: number): Promise<void> {
    this.#cost += cost;
    if (this.#cost < TURN_COST) return;
    this.#cost = 0;
    await this.#ports.durable();
  }
}

/** Each project's batches in order, some at a time. There is a gap where nobody listened for a while. */
function runsOf(batches: readonly CommittedBatch[]): Run[] {
  const runs: Run[] = [];
  const last = new Map<number, Run>();
  for (const committed of batches) {
    const { project, firstSeq, batch } = committed;
    let run = last.get(project);
    if (run?.until !== firstSeq - 1 || run.bytes + batch.size > RUN_BYTES) {
      run = { project, after: firstSeq - 1, until: firstSeq - 1, bytes: 0, batches: [] };
      runs.push(run);
      last.set(project, run);
    }
    run.until += batch.count;
    run.bytes += batch.size;
    run.batches.push(committed);
  }
  return runs;
}
