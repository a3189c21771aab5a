import { MemoryPool } from "./memory-pool.ts";

/**
 * Frees the memory of bytes at once. They are empty afterwards, and so is every other view of the same buffer, so only the
 * one who owns it may do this. Bytes that are a part of a larger buffer are left alone.
 *
 * V8 does not count ArrayBuffers as heap: it lets 64 MiB of dead ones gather before it collects them, in an isolate that has
 * 128 MB for everything. Where large buffers are made one after the other, each is freed before the next.
 */
export function detachBuffer(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0);
}

/**
 * Values that can be read again at any time, bounded by their bytes over everything in the isolate that shares the cache.
 * The value that was used least recently goes first. A value larger than the whole capacity is not kept.
 */
export class ByteCache<V> {
  readonly capacity: number;
  /** In order of use, the newest last. Keys are compared by identity. */
  readonly #values = new Map<object, { value: V; bytes: number }>();
  #held = 0;

  /** @param capacity in bytes */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Bytes of all values. */
  get held(): number {
    return this.#held;
  }

  get(key: object): V | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  /** Adds a value or replaces that of the key, also to state that its size has changed. */
  set(key: object, value: V, bytes: number): void {
    this.delete(key);
    if (bytes > this.capacity) return;
    this.#values.set(key, { value, bytes });
    this.#held += bytes;
    for (const [oldest] of this.#values) {
      if (this.#held <= this.capacity) return;
      this.delete(oldest);
    }
  }

  delete(key: object): void {
    const found = this.#values.get(key);
    if (found === undefined) return;
    this.#values.delete(key);
    this.#held -= found.bytes;
  }
}

const MIB = 1024 * 1024;

/**
 * Bytes that each kind of work may hold in one isolate. The router and any number of objects share an isolate of 128 MB
 * (https://developers.cloudflare.com/workers/platform/limits/#memory), so these are bounds over all requests, workspaces and
 * tenants in it. They sum to less than 100 MB; `docs/memory.md` says who holds what, and what happens at each bound.
 */
export const ISOLATE_BUDGET = {
  /** Code, caches of objects (keys, projects, limit counters) and what the runtime needs for itself. */
  base: 20 * MIB,
  /** Ingest: bodies that are being received, inflated and parsed, and batches that wait for their commit. */
  ingest: 24 * MIB,
  /** Queries, histograms, contexts: candidate batches, decoded units and rows that wait for their answer. */
  queries: 20 * MIB,
  /** Live tails: frames that were sent and not acknowledged, queues, backlog pages. */
  tails: 16 * MIB,
  /** Summary columns of recent batches. */
  batchIndex: 6 * MIB,
  /** The flush: one range of batches and the segments that are made of it. */
  flush: 8 * MIB,
} as const;

/** The parts of `ISOLATE_BUDGET.ingest`; a test holds their sum to it. */
export const INGEST_BUDGET = {
  smallBodies: 4 * MIB,
  largeBodies: 6 * MIB,
  /** What the oldest large body may take beyond: 5 MiB, and a batch of as many at worst. */
  largestBody: 10 * MIB,
  commits: 4 * MIB,
} as const;

/** What one isolate may hold in all, so that the rest of its 128 MB is left to the runtime and garbage. */
export const ISOLATE_BUDGET_BYTES = 100_000_000;

/** Requests that may wait for memory at a time in one isolate; each holds a connection and little else. */
const MAX_WAITING = 256;

// Module state: one instance an isolate, which all requests and objects in it share.
/**
 * Bodies of requests, of every route, while they are received, inflated and parsed, and the batches made of them until
 * they are answered. Small ones have a pool of their own, so that large ones do not hold them up. `largeBodies` may be
 * over its capacity by one body with its batch (`MemoryLease.grow`).
 */
export const smallBodies = new MemoryPool({ capacity: INGEST_BUDGET.smallBodies, maxWaiting: MAX_WAITING });
export const largeBodies = new MemoryPool({ capacity: INGEST_BUDGET.largeBodies, maxWaiting: MAX_WAITING });
/** Batches that objects hold until their commit; a batch that does not fit goes back to its router, which waits. */
export const commitMemory = new MemoryPool({ capacity: INGEST_BUDGET.commits, maxWaiting: 0 });
export const queryMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.queries, maxWaiting: MAX_WAITING });
/** Tails wait in their objects: nobody waits for this pool. */
export const tailMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.tails, maxWaiting: 0 });
