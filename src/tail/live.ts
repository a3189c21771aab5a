import { type FrameList, framesOf, linesOfBatch, pacedEntriesOf } from "./frames.ts";
import { type BatchSequence, MATCHING_UNITS, sequencesOf, type TailBatch, type TailGroups } from "./groups.ts";
import type { Tail } from "./tail.ts";

/** Milliseconds of the object's thread, measured under the local runtime: a message, a byte sent, a byte looked through. */
const MESSAGE_MS = 0.05;
const SENT_BYTE_MS = 0.7 / (1024 * 1024);
const LOOKED_BYTE_MS = 2 / (1024 * 1024);

/** Work after which others get their turn; the sockets' writing comes on top. An ingest may wait for several slices. */
const MIN_SLICE_MS = 0.5;
const MAX_SLICE_MS = 1.25;
/**
 * Slices of a delivery, where that makes none too small or too large. A pause of one millisecond takes three on a busy
 * thread. With slices of one size a larger delivery has more of them; meanwhile more is committed, and the next one is
 * larger still: with a hundred tails at 5,000 entries/s it came to a pause for each tail, and entries were a third of a
 * second late. Twelve slices bring them after 40 ms; eight after 24, and an ingest takes half as long again; eighteen
 * after 48.
 */
const SLICES = 12;

/**
 * A message costs about the same, however small it is: with many tails, commits that come close together share theirs. So
 * a delivery takes at least so long for each message, at most so long in all, and no longer for a few tails.
 */
const MESSAGE_LEAST_MS = 0.3;
const DELIVERY_LEAST_MS = 20;
/** The shortest pause. One that passes no time would let nobody in: what has come over the network is looked at after it. */
const PAUSE_MS = 1;

/** What a delivery is about to do. */
export interface DeliveryWork {
  messages: number;
  sentBytes: number;
  lookedBytes: number;
}

/**
 * Cuts a delivery into slices with pauses between them. Sent in one go, a hundred frames of 100 KB hold up the object,
 * and with it everybody's ingest, for a dozen milliseconds.
 */
export class DeliveryPacer {
  readonly #now: () => number;
  readonly #pause: (milliseconds: number) => Promise<void>;
  /** Of this delivery: work of a slice, when it began, and how long it takes at least. */
  #sliceMs = MIN_SLICE_MS;
  #beganAt = 0;
  #leastMs = 0;
  /** Work done in this slice. */
  #done = 0;

  /** @param pause lets some milliseconds pass, and more while others are busy */
  constructor(now: () => number, pause: (milliseconds: number) => Promise<void>) {
    this.#now = now;
    this.#pause = pause;
  }

  /** A delivery begins. @param work at most so much */
  begin(work: DeliveryWork): void {
    this.#sliceMs = Math.min(MAX_SLICE_MS, Math.max(MIN_SLICE_MS, millisecondsOf(work) / SLICES));
    this.#beganAt = this.#now();
    this.#leastMs = Math.min(DELIVERY_LEAST_MS, work.messages * MESSAGE_LEAST_MS);
    this.#done = 0;
  }

  /** To be awaited after messages have been sent. */
  async sent(messages: number, sentBytes: number): Promise<void> {
    await this.#worked({ messages, sentBytes, lookedBytes: 0 });
  }

  /** To be awaited after lines have been looked through. */
  async looked(lookedBytes: number): Promise<void> {
    await this.#worked({ messages: 0, sentBytes: 0, lookedBytes });
  }

  /** Lets others have their turn in the middle of work whose amount is not known before. */
  async rest(): Promise<void> {
    await this.#pause(PAUSE_MS);
  }

  /** The delivery has ended: what is left of its time. */
  async end(): Promise<void> {
    // A clock that was set back meanwhile makes it no longer.
    const left = this.#leastMs - Math.max(0, this.#now() - this.#beganAt);
    if (left >= PAUSE_MS) await this.#pause(left);
  }

  async #worked(work: DeliveryWork): Promise<void> {
    this.#done += millisecondsOf(work);
    if (this.#done < this.#sliceMs) return;
    this.#done = 0;
    await this.#pause(PAUSE_MS);
  }
}

function millisecondsOf({ messages, sentBytes, lookedBytes }: DeliveryWork): number {
  return messages * MESSAGE_MS + sentBytes * SENT_BYTE_MS + lookedBytes * LOOKED_BYTE_MS;
}

/** What the live tails need of their hub. */
export interface LivePorts {
  now(): number;
  /** Resolves once all that has been written is on disk; others get their turn before. */
  durable(): Promise<void>;
  /** Lets some time pass. */
  pause(milliseconds: number): Promise<void>;
  /** Whether a tail's time has come: then it gets nothing for now. */
  needsRecheck(tail: Tail): boolean;
  /** Sends a live tail what lies right behind its place. @returns whether it has to be offered again, for want of room */
  offer(tail: Tail, framed: FrameList): boolean;
  /** A live tail has to read what it lacks from disk, like older entries. */
  fallBehind(tail: Tail): void;
  /** Bytes that deliveries hold from now on: batches that wait, and what is made of one run. */
  setHeldBytes(bytes: number): void;
  failed(error: unknown): void;
}

/** Bytes of committed batches, as stored, that wait for delivery; past it tails read them from disk like older ones. */
const QUEUE_BYTES = 1024 * 1024;
/** A run in memory: its lines, the entries made of them, the texts of the frames. Measured in bytes of lines. */
const RUN_FACTOR = 3;
/**
 * Milliseconds that a delivery waits for acknowledgements where the memory that tails share is full, at its end. Clients of
 * a hundred tails that read acknowledge within a few; reading what they lack from disk would take longer.
 */
const ACK_WAIT_MS = 50;
const PATIENCE_STEP_MS = 5;
/** Of an entry that is sent, what its line does not have: ids and when it was received. */
const COMPLETION_BYTES = 120;

/**
 * Brings what is committed to the live tails, as it is committed. A tail that has everything up to a run's first entry gets
 * the run; one that has more is left alone; one that has less falls behind. Nothing is sent before it is on disk, and
 * ingest waits for none of it.
 */
export class LiveDelivery {
  readonly #tails: TailGroups;
  readonly #ports: LivePorts;
  readonly #pacer: DeliveryPacer;
  #queue: TailBatch[] = [];
  #queueBytes = 0;
  #deliveringBytes = 0;
  #isDelivering = false;
  #deliveries = 0;

  constructor(tails: TailGroups, ports: LivePorts) {
    this.#tails = tails;
    this.#ports = ports;
    this.#pacer = new DeliveryPacer(
      () => ports.now(),
      (milliseconds) => ports.pause(milliseconds),
    );
  }

  /** To be told of every commit, once its transaction has ended. Costs a few instructions where nobody listens. */
  committed(batches: readonly TailBatch[]): void {
    if (this.#tails.size === 0) return;
    for (const committed of batches) {
      if (!this.#tails.has(committed.project)) continue;
      this.#queue.push(committed);
      this.#queueBytes += committed.batch.body.length;
    }
    if (this.#queueBytes > QUEUE_BYTES) this.#skipToBacklog(this.#takeQueue());
    this.#tellHeld();
    if (this.#queue.length === 0 || this.#isDelivering) return;
    this.#isDelivering = true;
    void this.#deliver();
  }

  async #deliver(): Promise<void> {
    while (this.#queue.length > 0) {
      const batches: TailBatch[] = [];
      try {
        await this.#ports.durable();
        const stored = this.#queueBytes;
        batches.push(...this.#takeQueue());
        const runs = sequencesOf(batches);
        this.#pacer.begin(this.#workOf(runs));
        this.#deliveries++;
        for (const run of runs) {
          this.#deliveringBytes = stored + run.bytes * RUN_FACTOR;
          this.#tellHeld();
          await this.#deliverRun(run);
        }
        await this.#pacer.end();
      } catch (error) {
        this.#ports.failed(error);
        this.#skipToBacklog(batches);
      } finally {
        this.#deliveringBytes = 0;
        this.#tellHeld();
      }
    }
    // In the turn in which the queue was found empty: the next commit starts anew.
    this.#isDelivering = false;
  }

  async #deliverRun({ project, after, until, batches }: BatchSequence): Promise<void> {
    const units = batches.map(({ batch, ...place }) => linesOfBatch({ ...place, ...batch }));
    const looked = units.reduce((sum, { body }) => sum + body.length, 0);
    for (const { matcher, meter, tails } of [...this.#tails.of(project)]) {
      const live = [...tails].filter((tail) => tail.state === "live" && tail.sent < until);
      const [first] = live;
      if (!first) continue;
      const pause = () => {
        meter.paused(MATCHING_UNITS);
        return this.#pacer.rest();
      };
      const range = { after, until };
      const entries = await pacedEntriesOf(pause, units, matcher, first.projectId, range, null);
      const framed = framesOf(entries, until);
      const bytes = framed.frames.reduce((sum, frame) => sum + frame.bytes, 0);
      await this.#pacer.looked(looked);
      const short: Tail[] = [];
      for (const tail of inTurn(live, this.#deliveries)) {
        if (!tail.isOpen || tail.state !== "live" || this.#ports.needsRecheck(tail)) continue;
        if (tail.sent !== after) this.#ports.fallBehind(tail);
        else if (this.#ports.offer(tail, framed)) short.push(tail);
        await this.#pacer.sent(framed.frames.length, bytes);
      }
      await this.#offerAgain(short, framed);
    }
  }

  /** To those that got a part or nothing, until they have it all or it takes too long: then they read it from disk. */
  async #offerAgain(tails: readonly Tail[], framed: FrameList): Promise<void> {
    let short = tails;
    for (let waited = 0; short.length > 0 && waited < ACK_WAIT_MS; waited += PATIENCE_STEP_MS) {
      await this.#ports.pause(PATIENCE_STEP_MS);
      const left: Tail[] = [];
      for (const tail of short) {
        if (!tail.isOpen || tail.state !== "live" || this.#ports.needsRecheck(tail)) continue;
        const had = tail.sent;
        if (this.#ports.offer(tail, framed)) left.push(tail);
        if (tail.sent > had) await this.#pacer.sent(1, tail.unackedBytes);
      }
      short = left;
    }
    for (const tail of short) if (tail.isOpen && tail.state === "live") this.#ports.fallBehind(tail);
  }

  /** As if every entry passed every filter. */
  #workOf(runs: readonly BatchSequence[]): DeliveryWork {
    const work = { messages: 0, sentBytes: 0, lookedBytes: 0 };
    for (const { project, after, until, bytes } of runs) {
      const sentBytes = bytes + (until - after) * COMPLETION_BYTES;
      for (const { tails } of this.#tails.of(project)) {
        work.lookedBytes += bytes;
        work.messages += tails.size;
        work.sentBytes += sentBytes * tails.size;
      }
    }
    return work;
  }

  /** The live tails read these batches from disk, like older ones. */
  #skipToBacklog(batches: readonly TailBatch[]): void {
    for (const project of new Set(batches.map((committed) => committed.project))) {
      for (const { tails } of this.#tails.of(project)) {
        for (const tail of tails) if (tail.state === "live") this.#ports.fallBehind(tail);
      }
    }
  }

  #takeQueue(): TailBatch[] {
    const queue = this.#queue;
    this.#queue = [];
    this.#queueBytes = 0;
    return queue;
  }

  #tellHeld(): void {
    this.#ports.setHeldBytes(this.#queueBytes + this.#deliveringBytes);
  }
}

/** Of consecutive multiples of it, none comes soon near an earlier one. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** Each delivery begins with another tail: the last one of many gets its frame some tens of milliseconds after the first. */
function inTurn(tails: readonly Tail[], delivery: number): Tail[] {
  const first = Math.floor(((delivery * GOLDEN_RATIO) % 1) * tails.length);
  return [...tails.slice(first), ...tails.slice(0, first)];
}
