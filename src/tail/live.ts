import type { TailLoad } from "./backpressure.ts";
import type { CatchUp } from "./catch-up.ts";
import { type FrameList, framesOf, linesOfBatch, pacedEntriesOf } from "./frames.ts";
import { type BatchSequence, MATCHING_UNITS, sequencesOf, type TailBatch, type TailGroups } from "./groups.ts";
import type { Clock, TailActions, TailHost } from "./host.ts";
import type { Tail } from "./tail.ts";

/**
 * Milliseconds of the object's thread for a message, a sent byte and a scanned byte. Measured under the local runtime.
 */
const MESSAGE_MS = 0.05;
const SENT_BYTE_MS = 0.7 / (1024 * 1024);
const SCANNED_BYTE_MS = 2 / (1024 * 1024);

/**
 * Milliseconds of work after which a delivery yields; the sockets' writes add to that. An ingest may wait for several
 * parts.
 */
const MIN_PART_MS = 0.5;
const MAX_PART_MS = 1.25;
/**
 * Parts into which a delivery is divided, within the bounds of a part.
 *
 * A pause of one millisecond takes three on a busy thread. With parts of a fixed size, a larger delivery has more
 * pauses, more is committed meanwhile, and the next delivery is even larger. With a hundred tails at 5,000 entries/s
 * this led to a pause per tail and a delay of a third of a second. Twelve parts deliver after 40 ms; eight after 24
 * ms, but an ingest takes half as long again; eighteen after 48 ms.
 */
const PARTS = 12;

/**
 * Minimum milliseconds of a delivery per message and its upper bound. A message costs about the same whatever its size,
 * so with many tails commits that are close together share messages. With few tails the minimum is negligible.
 */
const MIN_MESSAGE_MS = 0.3;
const MIN_DELIVERY_MS = 20;
/**
 * Shortest pause in milliseconds. A pause of zero would not yield: the runtime handles network input only after time
 * passes.
 */
const PAUSE_MS = 1;

export interface DeliveryWork {
  messages: number;
  sentBytes: number;
  scannedBytes: number;
}

/**
 * Divides a delivery into parts with pauses between them. Without pauses, a hundred frames of 100 KB block the object,
 * and with it every ingest, for a dozen milliseconds.
 */
export class DeliveryPacer {
  readonly #clock: Clock;
  /** Work of a part, start and minimum duration of the current delivery. */
  #partMs = MIN_PART_MS;
  #beganAt = 0;
  #minMs = 0;
  #done = 0;

  /** @param clock its pauses last longer while the thread is busy */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Begins a delivery.
   * @param work upper bound of its work
   */
  begin(work: DeliveryWork): void {
    this.#partMs = Math.min(MAX_PART_MS, Math.max(MIN_PART_MS, millisecondsOf(work) / PARTS));
    this.#beganAt = this.#clock.now();
    this.#minMs = Math.min(MIN_DELIVERY_MS, work.messages * MIN_MESSAGE_MS);
    this.#done = 0;
  }

  /** Counts sent messages and pauses if the part is used up. Await after sending. */
  async sent(messages: number, sentBytes: number): Promise<void> {
    await this.#worked({ messages, sentBytes, scannedBytes: 0 });
  }

  /** Counts scanned lines and pauses if the part is used up. Await after scanning. */
  async scanned(scannedBytes: number): Promise<void> {
    await this.#worked({ messages: 0, sentBytes: 0, scannedBytes });
  }

  /** Pauses within work whose amount is not known beforehand. */
  async rest(): Promise<void> {
    await this.#clock.pause(PAUSE_MS);
  }

  /** Ends a delivery and waits for the rest of its minimum duration. */
  async end(): Promise<void> {
    // A clock that was set back does not extend the wait.
    const left = this.#minMs - Math.max(0, this.#clock.now() - this.#beganAt);
    if (left >= PAUSE_MS) await this.#clock.pause(left);
  }

  async #worked(work: DeliveryWork): Promise<void> {
    this.#done += millisecondsOf(work);
    if (this.#done < this.#partMs) return;
    this.#done = 0;
    await this.#clock.pause(PAUSE_MS);
  }
}

function millisecondsOf({ messages, sentBytes, scannedBytes }: DeliveryWork): number {
  return messages * MESSAGE_MS + sentBytes * SENT_BYTE_MS + scannedBytes * SCANNED_BYTE_MS;
}

/** Stored bytes of batches that wait for delivery. Beyond that, tails read the batches from disk as backlog. */
const QUEUE_BYTES = 1024 * 1024;
/**
 * Memory of a batch sequence in multiples of its lines' bytes: the lines, the entries made of them, the frames' texts.
 */
const SEQUENCE_FACTOR = 3;
/**
 * Milliseconds that a delivery waits at its end for acknowledgements if shared memory is full. Clients of a hundred
 * tails that read acknowledge within a few milliseconds; reading the backlog from disk would take longer.
 */
const ACK_WAIT_MS = 50;
const PATIENCE_STEP_MS = 5;
/** Bytes that a sent entry has in addition to its line: ids and the receipt time. */
const COMPLETION_BYTES = 120;

/**
 * Delivers commits to the live tails.
 *
 * A tail at the start of a batch sequence gets the sequence; a tail that is ahead of it is skipped; a tail that is
 * behind it falls behind. Nothing is sent before it is on disk, and ingest does not wait for delivery.
 */
export class LiveDelivery {
  readonly #tails: TailGroups;
  readonly #load: TailLoad;
  readonly #catchUp: CatchUp;
  readonly #host: TailHost;
  readonly #clock: Clock;
  readonly #actions: TailActions;
  readonly #pacer: DeliveryPacer;
  #queue: TailBatch[] = [];
  #queueBytes = 0;
  #deliveringBytes = 0;
  #isDelivering = false;
  #deliveries = 0;

  constructor(tails: TailGroups, load: TailLoad, catchUp: CatchUp, host: TailHost, clock: Clock, actions: TailActions) {
    this.#tails = tails;
    this.#load = load;
    this.#catchUp = catchUp;
    this.#host = host;
    this.#clock = clock;
    this.#actions = actions;
    this.#pacer = new DeliveryPacer(clock);
  }

  /** Queues batches for delivery. Called after every commit. Costs a few instructions if no tail is open. */
  committed(batches: readonly TailBatch[]): void {
    if (this.#tails.size === 0) return;
    for (const committed of batches) {
      if (!this.#tails.has(committed.project)) continue;
      this.#queue.push(committed);
      this.#queueBytes += committed.wasStaged ? QUEUE_BYTES + 1 : committed.batch.body.length;
    }
    if (this.#queueBytes > QUEUE_BYTES) this.#skipToBacklog(this.#takeQueue());
    this.#updateHeld();
    if (this.#queue.length === 0 || this.#isDelivering) return;
    this.#isDelivering = true;
    void this.#deliver();
  }

  async #deliver(): Promise<void> {
    while (this.#queue.length > 0) {
      const batches: TailBatch[] = [];
      try {
        await this.#host.durable();
        const stored = this.#queueBytes;
        batches.push(...this.#takeQueue());
        const sequences = sequencesOf(batches);
        this.#pacer.begin(this.#workOf(sequences));
        this.#deliveries++;
        for (const sequence of sequences) {
          this.#deliveringBytes = stored + sequence.bytes * SEQUENCE_FACTOR;
          this.#updateHeld();
          await this.#deliverSequence(sequence);
        }
        await this.#pacer.end();
      } catch (error) {
        this.#host.report({ event: "failed", tail: null, error });
        this.#skipToBacklog(batches);
      } finally {
        this.#deliveringBytes = 0;
        this.#updateHeld();
      }
    }
    // Runs in the turn that found the queue empty, so that the next commit starts a new delivery.
    this.#isDelivering = false;
  }

  async #deliverSequence({ project, after, until, batches }: BatchSequence): Promise<void> {
    const units = batches.map(({ batch, ...fields }) => linesOfBatch({ ...fields, ...batch }));
    const scannedBytes = units.reduce((sum, { body }) => sum + body.length, 0);
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
      await this.#pacer.scanned(scannedBytes);
      const short: Tail[] = [];
      for (const tail of inTurn(live, this.#deliveries)) {
        if (!tail.isOpen || tail.state !== "live" || this.#actions.needsRecheck(tail)) continue;
        if (tail.sent !== after) this.#catchUp.add(tail);
        else if (this.#offer(tail, framed)) short.push(tail);
        await this.#pacer.sent(framed.frames.length, bytes);
      }
      await this.#offerAgain(short, framed);
    }
    for (const { close } of units) close?.();
  }

  /** Offers the frames again to tails that lacked memory. After `ACK_WAIT_MS` the tails read them from disk. */
  async #offerAgain(tails: readonly Tail[], framed: FrameList): Promise<void> {
    let short = tails;
    for (let waited = 0; short.length > 0 && waited < ACK_WAIT_MS; waited += PATIENCE_STEP_MS) {
      await this.#clock.pause(PATIENCE_STEP_MS);
      const left: Tail[] = [];
      for (const tail of short) {
        if (!tail.isOpen || tail.state !== "live" || this.#actions.needsRecheck(tail)) continue;
        const had = tail.sent;
        if (this.#offer(tail, framed)) left.push(tail);
        if (tail.sent > had) await this.#pacer.sent(1, tail.unackedBytes);
      }
      short = left;
    }
    for (const tail of short) if (tail.isOpen && tail.state === "live") this.#catchUp.add(tail);
  }

  /** @returns whether to offer the frames again because shared memory is full */
  #offer(tail: Tail, framed: FrameList): boolean {
    const verdict = this.#actions.offer(tail, framed);
    if (verdict === "wait" || verdict === "ask") this.#actions.closeBehind(tail);
    return verdict === "full";
  }

  /** Returns the work as if every entry passed every filter. */
  #workOf(sequences: readonly BatchSequence[]): DeliveryWork {
    const work = { messages: 0, sentBytes: 0, scannedBytes: 0 };
    for (const { project, after, until, bytes } of sequences) {
      const sentBytes = bytes + (until - after) * COMPLETION_BYTES;
      for (const { tails } of this.#tails.of(project)) {
        work.scannedBytes += bytes;
        work.messages += tails.size;
        work.sentBytes += sentBytes * tails.size;
      }
    }
    return work;
  }

  /** Makes the live tails read these batches from disk. */
  #skipToBacklog(batches: readonly TailBatch[]): void {
    for (const project of new Set(batches.map((committed) => committed.project))) {
      for (const { tails } of this.#tails.of(project)) {
        for (const tail of tails) if (tail.state === "live") this.#catchUp.add(tail);
      }
    }
  }

  #takeQueue(): TailBatch[] {
    const queue = this.#queue;
    this.#queue = [];
    this.#queueBytes = 0;
    return queue;
  }

  #updateHeld(): void {
    const bytes = this.#queueBytes + this.#deliveringBytes;
    this.#load.delivering(bytes);
    if (bytes === 0) this.#catchUp.resume();
  }
}

/** Consecutive multiples of it, modulo 1, are spread evenly. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/**
 * Rotates the tails, so that each delivery begins with another one. With many tails, the last one gets its frame tens
 * of milliseconds after the first.
 */
function inTurn(tails: readonly Tail[], delivery: number): Tail[] {
  const first = Math.floor(((delivery * GOLDEN_RATIO) % 1) * tails.length);
  return [...tails.slice(first), ...tails.slice(0, first)];
}
