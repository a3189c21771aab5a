import { requestsBegun } from "../../http/arrivals.ts";
import { WorkMeter } from "./work.ts";

/**
 * Units of work between two pauses: while other requests keep coming, and while none do. About 1 and 5 ms, as most units
 * take less than they count. The second is also what the first of them may have to wait.
 */
const CROWDED_UNITS = 900_000;
/** See `CROWDED_UNITS`. */
export const ALONE_UNITS = 5_000_000;

/**
 * Lets others have their turn while much is looked through: on one machine, router and objects share a thread, and a long
 * scan would hold up every writer. A pause is a timer of 0 ms, as nothing less lets the network in; it costs a lone query
 * a millisecond.
 */
export class Pacer {
  /** What the request has done so far. Work that can be interrupted asks it whether a pause is due. */
  readonly meter = new WorkMeter(ALONE_UNITS);
  readonly #begun: () => number;
  /** Requests that had begun at the pause before the last. */
  #seen: number;

  /** @param begun requests that have begun so far, this one included */
  constructor(begun: () => number = requestsBegun) {
    this.#begun = begun;
    this.#seen = begun();
  }

  /** To be awaited after each stretch of work. @param units that the meter has not counted yet */
  async pause(units = 0): Promise<void> {
    this.meter.add(units);
    if (!this.meter.isDue) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    const begun = this.#begun();
    this.meter.paused(begun === this.#seen ? ALONE_UNITS : CROWDED_UNITS);
    this.#seen = begun;
  }
}
