interface Waiting<Call, Result> {
  call: Call;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Lets calls that arrive together share one transaction.
 *
 * The first call waits for writes that are on their way to disk; the calls that arrive meanwhile join it, and all of
 * them are run in one synchronous turn. So a lone call waits for nothing, and under load a group is as large as one
 * commit is long. Nothing is acknowledged before its transaction: a call's promise settles after it, and the output gate
 * holds the answer until the commit is durable. (A group by `setTimeout(0)` costs a lone call a millisecond.)
 */
export class GroupCommit<Call, Result> {
  readonly #run: (calls: readonly Call[]) => Result[];
  readonly #idle: () => Promise<void>;
  #waiting: Waiting<Call, Result>[] = [];

  /**
   * @param run processes calls in order inside one transaction, and throws only if it rolled everything back
   * @param idle resolves once no write is under way: `storage.sync()`
   */
  constructor(run: (calls: readonly Call[]) => Result[], idle: () => Promise<void>) {
    this.#run = run;
    this.#idle = idle;
  }

  submit(call: Call): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      if (this.#waiting.length > 1) return;
      this.#idle().then(
        () => this.#commit(),
        (error) => this.#fail(error),
      );
    });
  }

  /** Earlier writes could not be made durable: nothing of this group has been tried. */
  #fail(error: unknown): void {
    const group = this.#waiting;
    this.#waiting = [];
    for (const { reject } of group) reject(error);
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
