import type { BucketBinding } from "../../../src/platform/bucket.ts";
import type { BucketOperation } from "../../../src/platform/bucket-failure.ts";

/** Limits of R2 and of a Worker on Cloudflare that the local simulator does not enforce. */
export const R2_LIMITS = {
  /** Open connections of an invocation; a body is open until it has been read or cancelled. */
  connections: 6,
  /** Keys of one `delete`. */
  deletedKeys: 1000,
  /** Milliseconds between two writes of one key. */
  writeEveryMs: 1000,
  /** Calls of bindings of one invocation. */
  subrequests: 10_000,
} as const;

/** What happens to one call. `slow` waits and then succeeds. */
export type BucketFault =
  | { kind: "before" | "after" | "lost" | "too-many-requests" }
  | { kind: "slow"; milliseconds: number };

export interface LimitedBucketOptions {
  now?: () => number;
  wait?: (milliseconds: number) => Promise<void>;
  /** Milliseconds of a read and of a write: 50 and 100 on Cloudflare. */
  readMs?: number;
  writeMs?: number;
  /** The fault of a call; `null` for none. Called once for each call, after those of `inject`. */
  faultOf?: (operation: BucketOperation, key: string) => BucketFault | null;
}

/** A call that R2 or the runtime would refuse: a bug of the caller. No retry hides it. */
export class LimitExceeded extends TypeError {}

const NEVER = new Promise<never>(() => {});

/**
 * A bucket that counts calls and bytes, refuses what production refuses, takes as long as production, and fails on request.
 * Wraps any bucket: that of the simulator or a `MemoryBucket`.
 */
export class LimitedBucket {
  readonly #inner: BucketBinding;
  readonly #now: () => number;
  readonly #wait: (milliseconds: number) => Promise<void>;
  readonly #options: LimitedBucketOptions;
  readonly #injected: { operation: BucketOperation; fault: BucketFault }[] = [];
  readonly #writtenAt = new Map<string, number>();
  /** Calls by operation, and bytes of bodies. */
  readonly calls: Record<BucketOperation, number> = { head: 0, get: 0, put: 0, delete: 0, list: 0 };
  readonly bytes = { read: 0, written: 0 };
  /** Open connections now, and the most at a time. */
  open = 0;
  mostOpen = 0;
  /** Every violation, also of a caller that caught its error. */
  readonly violations: string[] = [];

  constructor(inner: BucketBinding, options: LimitedBucketOptions = {}) {
    this.#inner = inner;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#wait = options.wait ?? ((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)));
  }

  /** This bucket with the type of the binding. */
  get binding(): BucketBinding {
    // SAFETY: the methods have the parameters and results that `BucketBinding` is called with.
    return this as unknown as BucketBinding;
  }

  /** Calls of all operations: subrequests of the invocation. */
  get subrequests(): number {
    return Object.values(this.calls).reduce((sum, count) => sum + count, 0);
  }

  /** Makes the next calls of an operation fail. */
  inject(operation: BucketOperation, fault: BucketFault, times = 1): void {
    for (let count = 0; count < times; count++) this.#injected.push({ operation, fault });
  }

  head(key: string) {
    return this.#call("head", key, () => this.#inner.head(key));
  }

  async get(key: string, options: object) {
    this.#count("get");
    this.#opened();
    let found: Awaited<ReturnType<BucketBinding["get"]>>;
    try {
      found = await this.#faulty("get", key, () => this.#inner.get(key, options));
    } catch (error) {
      this.open--;
      throw error;
    }
    if (found === null || !("body" in found)) {
      this.open--;
      return found;
    }
    return this.#withOpenBody(found);
  }

  /** The connection stays open until the body was read or cancelled. */
  #withOpenBody(found: NonNullable<Awaited<ReturnType<BucketBinding["get"]>>>) {
    let isOpen = true;
    const ended = () => {
      if (isOpen) this.open--;
      isOpen = false;
    };
    const bytes = this.bytes;
    return {
      key: found.key,
      size: found.size,
      uploaded: found.uploaded,
      etag: found.etag,
      async arrayBuffer(): Promise<ArrayBuffer> {
        try {
          const buffer = await found.arrayBuffer();
          bytes.read += buffer.byteLength;
          return buffer;
        } finally {
          ended();
        }
      },
      body: {
        cancel: async () => {
          await found.body.cancel();
          ended();
        },
      },
    };
  }

  async put(key: string, value: Uint8Array, options: object) {
    const now = this.#now();
    return this.#call("put", key, () => {
      const last = this.#writtenAt.get(key);
      if (last !== undefined && now - last < R2_LIMITS.writeEveryMs) {
        throw new Error("put: Reduce your rate of simultaneous requests to the same object. (10058)");
      }
      this.#writtenAt.set(key, now);
      this.bytes.written += value.byteLength;
      return this.#inner.put(key, value, options);
    });
  }

  delete(keys: string | string[]) {
    const { length } = [keys].flat();
    if (length > R2_LIMITS.deletedKeys) this.#refuse(`delete: ${length} keys`);
    return this.#call("delete", [keys].flat()[0] ?? "", () => this.#inner.delete(keys));
  }

  list(options: { prefix?: string; limit?: number }) {
    return this.#call("list", options.prefix ?? "", () => this.#inner.list(options));
  }

  async #call<T>(operation: BucketOperation, key: string, call: () => Promise<T>): Promise<T> {
    this.#count(operation);
    this.#opened();
    try {
      return await this.#faulty(operation, key, call);
    } finally {
      this.open--;
    }
  }

  #count(operation: BucketOperation): void {
    this.calls[operation]++;
    if (this.subrequests > R2_LIMITS.subrequests) this.#refuse("too many subrequests");
  }

  #opened(): void {
    this.open++;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    if (this.open <= R2_LIMITS.connections) return;
    this.open--;
    this.#refuse("more than 6 open connections");
  }

  #refuse(what: string): never {
    this.violations.push(what);
    throw new LimitExceeded(what);
  }

  async #faulty<T>(operation: BucketOperation, key: string, call: () => Promise<T>): Promise<T> {
    const { readMs = 0, writeMs = 0, faultOf } = this.#options;
    const latency = operation === "put" || operation === "delete" ? writeMs : readMs;
    if (latency > 0) await this.#wait(latency);
    const fault = this.#nextInjected(operation) ?? faultOf?.(operation, key) ?? null;
    switch (fault?.kind) {
      case undefined:
        return call();
      case "slow":
        await this.#wait(fault.milliseconds);
        return call();
      case "before":
        throw new Error(`${operation}: We encountered an internal error. Please try again. (10001)`);
      case "too-many-requests":
        throw new Error(`${operation}: Reduce your rate of simultaneous requests to the same object. (10058)`);
      case "after":
        await call();
        throw new Error("Network connection lost.");
      case "lost":
        await call();
        return NEVER;
    }
  }

  #nextInjected(operation: BucketOperation): BucketFault | null {
    const at = this.#injected.findIndex((injected) => injected.operation === operation);
    return at < 0 ? null : (this.#injected.splice(at, 1)[0]?.fault ?? null);
  }
}
