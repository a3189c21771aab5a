/**
 * Estimated nanoseconds of work after which long work lets others go on. Estimates are of the worst input on a fast
 * machine; on one that is four times slower a turn stays below 50 ms. (The clock does not serve: on Cloudflare it stands
 * still between two events.)
 */
const TURN_COST = 10_000_000;

/** What a piece of work has cost in the turn that goes on, and what it holds. */
export class TurnMeter {
  #cost = 0;
  /** Bytes that the work holds beside its input, about. */
  held = 0;

  /** Counts work, in estimated nanoseconds. */
  spend(cost: number): void {
    this.#cost += cost;
  }

  /** Whether the work has to pause. */
  get isDue(): boolean {
    return this.#cost >= TURN_COST;
  }

  renew(): void {
    this.#cost = 0;
  }
}

/** Work that yields whenever its meter says that a pause is due. */
export type Steps<T> = Generator<void, T>;

/**
 * Runs work to its end, turn by turn: other requests run in its pauses.
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

/** Lets others run. Nothing shorter than a timer lets the network in. */
export async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Runs work to its end in one turn: for tests, and where nobody else waits. */
export function inOneTurn<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Milliseconds that no line of waiting reads reaches: a turn further away was given before the clock was set back. */
const MAX_AHEAD_MS = 5_000;
/** Turns that one read may give way in a row: a clock that stands still must not hold it for ever. */
const MAX_GIVEN_UP = 20;

/** The times at which reads of one isolate go on while other requests keep coming: one read at a time. */
export class ReadScheduler {
  /** When the next turn may begin, epoch milliseconds. */
  #next = 0;
  /** When the work of the last turn is over, epoch milliseconds, by what it said. */
  #busyUntil = 0;

  /**
   * Waits for a turn. It never waits for another read, which the runtime may end unnoticed, only for the clock.
   * @param milliseconds until the turn after this one may begin: about what the work of a turn takes
   */
  async take(milliseconds: number): Promise<void> {
    for (let givenUp = 0; ; givenUp++) {
      const now = Date.now();
      const at = isAhead(now, this.#next) ? this.#next : now;
      this.#next = at + milliseconds;
      // Nothing shorter than a timer lets the network in.
      await new Promise((resolve) => setTimeout(resolve, at - now));
      const woken = Date.now();
      // Where the thread was busy, several turns are due at once: one of them goes on.
      if (isAhead(woken, this.#busyUntil) && givenUp < MAX_GIVEN_UP) continue;
      this.#busyUntil = woken + milliseconds;
      return;
    }
  }

  /** The work of the last turn is over: where no further read waits, the next one that comes may go on at once. */
  end(): void {
    if (this.#next > this.#busyUntil) return;
    this.#next = 0;
    this.#busyUntil = 0;
  }

  /** The same for work that begins: it does not wait at all where no turn is taken. */
  async begin(milliseconds: number): Promise<void> {
    const now = Date.now();
    if (isAhead(now, this.#next) || isAhead(now, this.#busyUntil)) return this.take(milliseconds);
    this.#next = now + milliseconds;
    this.#busyUntil = this.#next;
  }
}

function isAhead(now: number, time: number): boolean {
  return time > now && time - now < MAX_AHEAD_MS;
}

// Module state: one instance an isolate, which all requests and objects in it share.
export const readScheduler = new ReadScheduler();

/**
 * Requests that this isolate has begun to answer. No answer depends on it: long work gives way to others as long as some
 * keep coming. (Those being answered cannot be counted: what a caller breaks off never gets to its end.)
 */
let begun = 0;

/** Counts up, from 0, for as long as the isolate lives. */
export function requestsStarted(): number {
  return begun;
}

export function countStartedRequest(): void {
  begun++;
}
