interface Waiting<Call, Result> {
  call: Call;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Lets calls that arrive together share one transaction.
 *
 * A call waits until the event loop has delivered the other requests that are already there; then all of them are run in
 * one synchronous turn. Nothing is acknowledged before its transaction: the caller's promise settles after it, and the
 * output gate holds the answer until the commit is durable. (Measured at 50 entries a batch and 64 connections: twice
 * the throughput of a commit each.)
 */
export class GroupCommit<Call, Result> {
  readonly #run: (calls: readonly Call[]) => Result[];
  #waiting: Waiting<Call, Result>[] = [];

  /** @param run processes calls in order inside one transaction, and throws only if it rolled everything back */
  constructor(run: (calls: readonly Call[]) => Result[]) {
    this.#run = run;
  }

  submit(call: Call): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      if (this.#waiting.length === 1) setTimeout(() => this.#commit(), 0);
    });
  }

  #commit(): void {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      const results = this.#run(group.map(({ call }) => call));
      group.forEach(({ resolve }, index) => {
        // SAFETY: `run` returns one result per call.
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const waiting of group) this.#commitAlone(waiting);
    }
  }

  /** After a failed group each call gets a transaction of its own, so that one bad call costs no other. */
  #commitAlone({ call, resolve, reject }: Waiting<Call, Result>): void {
    try {
      // SAFETY: `run` returns one result per call.
      resolve(this.#run([call])[0] as Result);
    } catch (error) {
      reject(error);
    }
  }
}
