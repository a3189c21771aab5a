import type { MemoryLease, MemoryPool } from "../platform/memory-pool.ts";

interface Waiting<Call, Result> {
  call: Call;
  lease: MemoryLease;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Bytes of calls that are run in one transaction: it holds them all, and so does what they are written through. */
const GROUP_BYTES = 8 * 1024 * 1024;

export interface GroupCommitOptions<Call, Result> {
  /** Processes calls in order inside one transaction, and throws only if it rolled everything back. */
  run: (calls: readonly Call[]) => Result[];
  /** Resolves once no write is in progress: `storage.sync()`. */
  idle: () => Promise<void>;
  /** Bytes that a call holds. */
  sizeOf: (call: Call) => number;
  /** Bounds what calls hold while they wait. */
  memory: MemoryPool;
}

/**
 * Lets calls that arrive together share one transaction.
 *
 * The first call waits for writes that are on their way to disk; the calls that arrive meanwhile join it, and all of
 * them are run in one synchronous turn, unless they are too large together: then the rest forms the next group. So a lone
 * call waits for nothing, and under load a group is as large as one commit is long. Nothing is acknowledged before its
 * transaction: a call's promise settles after it, and the output gate holds the answer until the commit is durable. (A
 * group by `setTimeout(0)` costs a lone call a millisecond.)
 */
export class GroupCommit<Call, Result> {
  readonly #run: (calls: readonly Call[]) => Result[];
  readonly #idle: () => Promise<void>;
  readonly #sizeOf: (call: Call) => number;
  readonly #memory: MemoryPool;
  #waiting: Waiting<Call, Result>[] = [];

  constructor({ run, idle, sizeOf, memory }: GroupCommitOptions<Call, Result>) {
    this.#run = run;
    this.#idle = idle;
    this.#sizeOf = sizeOf;
    this.#memory = memory;
  }

  /** Null where the calls that wait already hold all the memory that there is: nothing was done. */
  submit(call: Call): Promise<Result> | null {
    const lease = this.#memory.tryTake(this.#sizeOf(call));
    if (lease === null) return null;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, lease, resolve, reject });
      if (this.#waiting.length === 1) this.#commitWhenIdle();
    });
  }

  #commitWhenIdle(): void {
    this.#idle().then(
      () => this.#commit(),
      (error) => this.#fail(error),
    );
  }

  /** Earlier writes could not be made durable: nothing of this group has been tried. */
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

  /** The calls that have waited longest, as many as one transaction takes; the others go on waiting. */
  #nextGroup(): Waiting<Call, Result>[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ lease }, index) => {
      bytes += lease.bytes;
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
