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
