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
