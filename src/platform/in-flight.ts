/** Milliseconds after which a request counts as abandoned. The runtime gives no sign when a client disconnects. */
const LOST_MS = 60_000;
/** Requests in the set from which on abandoned ones are looked for. */
const SWEEP_FROM = 1000;

/** Requests of one isolate that have begun and not been answered. Exact but for those whose clients have disconnected. */
export class InFlight {
  /** Each with the time when it began, oldest first. */
  readonly #requests = new Set<{ beganAt: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get count(): number {
    this.#sweep();
    return this.#requests.size;
  }

  /** Counts a request until its answer is there, or has failed. */
  async track<T>(answer: () => T | Promise<T>): Promise<T> {
    if (this.#requests.size >= SWEEP_FROM) this.#sweep();
    const request = { beganAt: this.#now() };
    this.#requests.add(request);
    try {
      return await answer();
    } finally {
      this.#requests.delete(request);
    }
  }

  #sweep(): void {
    const oldest = this.#now() - LOST_MS;
    for (const request of this.#requests) {
      if (request.beganAt > oldest) return;
      this.#requests.delete(request);
    }
  }
}
