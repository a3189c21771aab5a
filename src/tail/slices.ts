/** Milliseconds of the object's thread, measured under the local runtime: a message, a byte sent, a byte looked through. */
const MESSAGE_MS = 0.05;
const SENT_BYTE_MS = 0.7 / (1024 * 1024);
const LOOKED_BYTE_MS = 2 / (1024 * 1024);

/**
 * Work after which others get their turn; the sockets' writing comes on top. An ingest takes several turns, each of which
 * may wait for a slice. With a hundred tails at 5,000 entries/s its p99 was 9 ms uncut and is 7 (4 without tails), and a
 * tail sees an entry after 44 ms; slices of 0.8 ms gave 9 and 27.
 */
const SLICE_MS = 0.5;

/**
 * A message costs about the same, however small it is: with many tails, commits that come close together share theirs. So
 * a delivery takes this much longer for each message, at most so long in all, and no longer for a few tails.
 */
const PAUSE_PER_MESSAGE_MS = 0.3;
const PAUSE_MOST_MS = 20;
/** The shortest pause. One that passes no time would let nobody in: what has come over the network is looked at after it. */
const PAUSE_LEAST_MS = 1;

/**
 * Cuts a delivery into slices with pauses between them. Sent in one go, a hundred frames of 100 KB hold up the object,
 * and with it everybody's ingest, for a dozen milliseconds.
 */
export class Slices {
  readonly #pause: (milliseconds: number) => Promise<void>;
  #pausePerMessage = 0;
  /** Of this slice: work done, and the pause that its messages are worth. */
  #work = 0;
  #due = 0;

  /** @param pause lets some milliseconds pass */
  constructor(pause: (milliseconds: number) => Promise<void>) {
    this.#pause = pause;
  }

  /** A delivery begins. @param messages about as many as it will have */
  begin(messages: number): void {
    this.#pausePerMessage = Math.min(PAUSE_PER_MESSAGE_MS, PAUSE_MOST_MS / Math.max(1, messages));
    this.#work = 0;
    this.#due = 0;
  }

  /** To be awaited after messages have been sent. */
  async sent(messages: number, bytes: number): Promise<void> {
    this.#due += messages * this.#pausePerMessage;
    await this.#worked(messages * MESSAGE_MS + bytes * SENT_BYTE_MS);
  }

  /** To be awaited after lines have been looked through. */
  async looked(bytes: number): Promise<void> {
    await this.#worked(bytes * LOOKED_BYTE_MS);
  }

  /** The delivery has ended: what is left of its pauses. */
  async end(): Promise<void> {
    if (this.#due >= PAUSE_LEAST_MS) await this.#pause(this.#due);
  }

  async #worked(milliseconds: number): Promise<void> {
    this.#work += milliseconds;
    if (this.#work < SLICE_MS) return;
    const pause = Math.max(PAUSE_LEAST_MS, this.#due);
    this.#work = 0;
    this.#due = 0;
    await this.#pause(pause);
  }
}
