import type { MemoryLease, MemoryPool } from "../platform/memory-pool.ts";

interface Waiting<Call, Result> {
  call: Call;
  weight: number;
  lease: MemoryLease;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Maximum bytes of calls in one transaction, which holds them and their write buffers in memory. */
export const GROUP_BYTES = 8 * 1024 * 1024;

export interface GroupCommitOptions<Call, Result> {
  /** Processes calls in order inside one transaction, and throws only if it rolled everything back. */
  run: (calls: readonly Call[]) => Result[];
  /** Resolves once no write is in progress: `storage.sync()`. */
  idle: () => Promise<void>;
  /** Bytes that a call uses in memory. */
  sizeOf: (call: Call) => number;
  /** Bytes that a call writes: a group has `GROUP_BYTES`, or one larger call. */
  weightOf: (call: Call) => number;
  /** Bounds the memory of waiting calls. */
  memory: MemoryPool;
}

/**
 * Lets calls that arrive together share one transaction.
 *
 * The first call waits for writes in progress. Calls that arrive in the meantime join it, and all of them run in one
 * synchronous turn; if they are too large together, the rest forms the next group. So a single call waits for nothing,
 * and under load a group collects the calls of one commit's duration. No call is acknowledged before its transaction:
 * its promise settles afterwards, and the output gate holds the response until the commit is durable. (Grouping by
 * `setTimeout(0)` would cost a single call a millisecond.)
 */
export class GroupCommit<Call, Result> {
  readonly #run: (calls: readonly Call[]) => Result[];
  readonly #idle: () => Promise<void>;
  readonly #sizeOf: (call: Call) => number;
  readonly #weightOf: (call: Call) => number;
  readonly #memory: MemoryPool;
  #waiting: Waiting<Call, Result>[] = [];

  constructor({ run, idle, sizeOf, weightOf, memory }: GroupCommitOptions<Call, Result>) {
    this.#run = run;
    this.#idle = idle;
    this.#sizeOf = sizeOf;
    this.#weightOf = weightOf;
    this.#memory = memory;
  }

  /** `null` if waiting calls already use all the memory; nothing was done. */
  submit(call: Call): Promise<Result> | null {
    const lease = this.#memory.tryTake(this.#sizeOf(call));
    if (lease === null) return null;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, weight: this.#weightOf(call), lease, resolve, reject });
      if (this.#waiting.length === 1) this.#commitWhenIdle();
    });
  }

  #commitWhenIdle(): void {
    this.#idle().then(
      () => this.#commit(),
      (error) => this.#fail(error),
    );
  }

  /** Earlier writes could not be made durable. No call of this group was run. */
  #fail(error: unknown): void {
    const group = this.#waiting;
    this.#waiting = [];
    for (const { lease, reject } of group) {
      lease.release();
      reject(error);
    }
  }

  #commit(): void {
    const group = this.#nextGroup();
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
    for (const { lease } of group) lease.release();
    if (this.#waiting.length > 0) this.#commitWhenIdle();
  }

  /** The calls that have waited longest, as many as fit into one transaction; the others continue to wait. */
  #nextGroup(): Waiting<Call, Result>[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ weight }, index) => {
      bytes += weight;
      return index > 0 && bytes > GROUP_BYTES;
    });
    const group = this.#waiting;
    if (end < 0) {
      this.#waiting = [];
      return group;
    }
    this.#waiting = group.slice(end);
    return group.slice(0, end);
  }

  /** After a failed group each call gets a separate transaction, so that one bad call does not affect the others. */
  #commitAlone({ call, resolve, reject }: Waiting<Call, Result>): void {
    try {
      // SAFETY: `run` returns one result per call.
      resolve(this.#run([call])[0] as Result);
    } catch (error) {
      reject(error);
    }
  }
}
