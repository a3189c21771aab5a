/** Ends attempts that take too long. One timer serves all attempts of a call: to set one takes as long as to read 30 KB. */
export class TimeLimit {
  readonly #ms: number;
  readonly #late: () => Error;
  /** When each attempt began, the oldest first. */
  readonly #running = new Map<(late: Error) => void, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, late: () => Error) {
    this.#ms = ms;
    this.#late = late;
  }

  async run<T>(attempt: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.#running.set(reject, performance.now());
    this.#timer ??= setTimeout(() => this.#check(), this.#ms);
    try {
      return await Promise.race([attempt, promise]);
    } finally {
      this.#running.delete(reject);
    }
  }

  /** Ends the timer. Call it after the last attempt. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    const due = performance.now() - this.#ms;
    this.#timer = undefined;
    for (const [reject, began] of this.#running) {
      if (began <= due) reject(this.#late());
      else this.#timer ??= setTimeout(() => this.#check(), began - due);
    }
  }
}
