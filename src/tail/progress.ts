import { TAIL_PROGRESS_MS } from "./limits.ts";
import type { Tail } from "./tail.ts";

/** What the reports need of their hub. */
export interface ProgressPorts {
  pause(milliseconds: number): Promise<void>;
  tails(): Iterable<Tail>;
  /** Tells the client of a tail how far it has come, where it was told nothing for long. */
  report(tail: Tail): void;
  failed(error: unknown): void;
}

/** Reports between two pauses: half a millisecond of the object's thread. */
const REPORTS_IN_A_ROW = 10;

/**
 * Tells clients how far their tails have come while nothing passes their filters, so that one that comes back does not read
 * all of that again. A delivery tells those who were told nothing for long; this is for what comes last before it is
 * quiet. There is a timer only from the first entry that was passed over until that has been told: an idle tail costs
 * nothing.
 */
export class ProgressReports {
  readonly #ports: ProgressPorts;
  #isExpected = false;

  constructor(ports: ProgressPorts) {
    this.#ports = ports;
  }

  /** To be called when a tail has come further than its client was told. */
  expect(): void {
    if (this.#isExpected) return;
    this.#isExpected = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    try {
      do {
        await this.#ports.pause(TAIL_PROGRESS_MS);
        await this.#reportAll();
      } while (this.#isAnyAhead());
    } catch (error) {
      this.#ports.failed(error);
    } finally {
      this.#isExpected = false;
    }
  }

  async #reportAll(): Promise<void> {
    let reports = 0;
    for (const tail of [...this.#ports.tails()]) {
      if (!tail.isOpen || !tail.isAhead) continue;
      this.#ports.report(tail);
      if (++reports % REPORTS_IN_A_ROW === 0) await this.#ports.pause(1);
    }
  }

  #isAnyAhead(): boolean {
    for (const tail of this.#ports.tails()) if (tail.isAhead) return true;
    return false;
  }
}
