import { requestsStarted } from "../../http/arrivals.ts";
import { readScheduler } from "../../platform/read-turns.ts";
import { WorkMeter } from "./work.ts";

/**
 * Units of work between two pauses: while other requests keep coming, and while none do. About 1 and 5 ms, as most
 * units take less than they count. The second is also what the first of them may have to wait.
 */
const BUSY_UNITS = 900_000;
/** See `BUSY_UNITS`. */
export const ALONE_UNITS = 5_000_000;
/** Milliseconds after the arrival of a request in which more are expected. */
const CROWDED_MS = 250;
/**
 * Milliseconds from the beginning of one crowded stretch to that of the next, over all reads of the isolate. More than a
 * stretch takes, so that a request waits for one stretch at a time, however many reads there are.
 */
const STRETCH_MS = 2;

/**
 * Lets others have their turn while much is looked through: on one machine, router and objects share a thread, and a long
 * scan would hold up every writer. A pause is a timer of 0 ms, as nothing less lets the network in; it costs a lone query
 * a millisecond.
 */
export class ScanPacer {
  /** What the request has done so far. Work that can be interrupted asks it whether a pause is due. */
  readonly meter = new WorkMeter(ALONE_UNITS);
  readonly #begun: () => number;
  /** Requests that had begun at the last pause. */
  #seen: number;
  #crowdedUntil = 0;

  /** @param begun requests that have begun so far, this one included */
  constructor(begun: () => number = requestsStarted) {
    this.#begun = begun;
    this.#seen = begun();
  }

  /** To be awaited after each stretch of work. @param units that the meter has not counted yet */
  async pause(units = 0): Promise<void> {
    this.meter.add(units);
    if (!this.meter.isDue) return;
    if (this.#isBusy()) await readScheduler.take(STRETCH_MS);
    else await sleep(0);
    this.meter.paused(this.#isBusy() ? BUSY_UNITS : ALONE_UNITS);
  }

  #isBusy(): boolean {
    const begun = this.#begun();
    const now = Date.now();
    if (begun !== this.#seen) this.#crowdedUntil = now + CROWDED_MS;
    this.#seen = begun;
    return now < this.#crowdedUntil;
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
