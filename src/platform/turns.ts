/** Long work in turns, so that other requests run in between. */

/**
 * Estimated nanoseconds of work after which long work yields to other requests. Estimates are of the worst input on a
 * fast machine; on one that is four times slower a turn stays below 50 ms. (The clock cannot be used: on Cloudflare it
 * does not advance during a turn.)
 */
export const TURN_COST = 10_000_000;

/** The cost of a piece of work in the current turn, and the bytes that it holds. */
export class TurnMeter {
  #cost = 0;
  /** Approximate bytes that the work holds in addition to its input. */
  held = 0;

  /** Counts work, in estimated nanoseconds. */
  spend(cost: number): void {
    this.#cost += cost;
  }

  /** Whether the work must pause. */
  get isDue(): boolean {
    return this.#cost >= TURN_COST;
  }

  renew(): void {
    this.#cost = 0;
  }
}

/** Work that yields when its meter signals that a pause is due. */
export type Steps<T> = Generator<void, T>;

/**
 * Runs work to its end in turns. Other requests run in its pauses.
 * @param onPause called before each pause, with the meter's `held` up to date
 */
export async function inTurns<T>(steps: Steps<T>, meter: TurnMeter, onPause: () => void = () => {}): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    onPause();
    await pause();
    meter.renew();
  }
}

/** Yields to other requests. Only a timer lets the runtime handle network input. */
export async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Runs work to its end in one turn: for tests, and if no other request waits. */
export function inOneTurn<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Milliseconds that a queue of reads never reaches. A turn further ahead was granted before the clock was set back. */
const MAX_AHEAD_MS = 5_000;
/** Turns in a row in which one read may yield, so that a stopped clock does not block it indefinitely. */
const MAX_GIVEN_UP = 20;

/**
 * Times that work which continues lets all reads that begin and wait go first, after the first time, so that a steady
 * stream of them does not stop it.
 */
const MAX_YIELDED = 4;

/**
 * Schedules the reads (or the large bodies) of one isolate, one at a time, while other requests keep arriving. Reads that
 * begin come before those that continue: most end with their first page, and a scan may continue for seconds.
 */
export class ReadScheduler {
  /** When the next turn may begin, epoch milliseconds. */
  #next = 0;
  /** When the next read may begin, epoch milliseconds. */
  #nextFirst = 0;
  /** When the work of the last turn ends by its estimate, epoch milliseconds. */
  #busyUntil = 0;

  /**
   * Waits for a turn. It waits only for the clock, never for another read, which the runtime may end without notice.
   * @param milliseconds until the turn after this one may begin: about the duration of a turn's work
   */
  async take(milliseconds: number): Promise<void> {
    let now = Date.now();
    let at = latest(now, this.#next, this.#nextFirst, this.#busyUntil);
    this.#next = at + milliseconds;
    for (let givenUp = 0; ; givenUp++) {
      now = await timeAfter(at - now);
      const isYielding = isAhead(now, this.#nextFirst) && givenUp < MAX_YIELDED;
      if (!isYielding && this.#open(now, milliseconds, givenUp)) return;
      at = latest(now, this.#nextFirst, this.#busyUntil);
      this.#next = latest(now, this.#next, at + milliseconds);
    }
  }

  /** Ends the work of the last turn. If no other read waits, the next one may start immediately. */
  end(): void {
    if (this.#next > this.#busyUntil || this.#nextFirst > this.#busyUntil) return;
    this.#next = 0;
    this.#nextFirst = 0;
    this.#busyUntil = 0;
  }

  /** Like `take`, for work that begins: does not wait if no turn is in progress, and never for work that continues. */
  async begin(milliseconds: number): Promise<void> {
    let now = Date.now();
    let at = latest(now, this.#nextFirst, this.#busyUntil);
    this.#nextFirst = at + milliseconds;
    for (let givenUp = 0; ; givenUp++) {
      if (at > now) now = await timeAfter(at - now);
      if (this.#open(now, milliseconds, givenUp)) return;
      at = latest(now, this.#busyUntil);
      this.#nextFirst = latest(now, this.#nextFirst, at + milliseconds);
    }
  }

  /** Opens a turn. If the thread was busy, several turns are due at the same time, and one of them proceeds. */
  #open(now: number, milliseconds: number, givenUp: number): boolean {
    if (isAhead(now, this.#busyUntil) && givenUp < MAX_GIVEN_UP) return false;
    this.#busyUntil = now + milliseconds;
    return true;
  }
}

/** Waits, and returns the time. Only a timer lets the runtime handle network input. */
async function timeAfter(milliseconds: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return Date.now();
}

/** Returns the latest of times that a queue of reads may reach. */
function latest(now: number, ...times: number[]): number {
  return times.reduce((last, time) => (isAhead(now, time) && time > last ? time : last), now);
}

function isAhead(now: number, time: number): boolean {
  return time > now && time - now < MAX_AHEAD_MS;
}

// Module state: one instance per isolate, shared by all its requests and objects.
export const readScheduler = new ReadScheduler();
/** Large bodies that arrive at the same time work one after the other, so that a small request waits for one of them. */
export const streamScheduler = new ReadScheduler();

/**
 * Requests that this isolate has started to answer. No response depends on the number: long work yields as long as
 * requests keep arriving. (Requests in progress cannot be counted, because one that the client aborts never ends.)
 */
let begun = 0;

/** Returns the number of requests started since the isolate started. */
export function requestsStarted(): number {
  return begun;
}

export function countStartedRequest(): void {
  begun++;
}
