import { MemoryPool } from "./memory-pool.ts";

/** The memory of one isolate: its budget, the pools that enforce it, caches and freed buffers. */

/**
 * Frees the memory of a buffer immediately. Afterwards this and all other views of the buffer are empty, so only
 * the owner of the buffer may call this. A view of a part of a larger buffer is left unchanged.
 *
 * V8 does not count ArrayBuffers as heap: it lets 64 MiB of unreachable ones accumulate before it collects them, in an
 * isolate that has 128 MB in all. Code that creates large buffers one after the other frees each before the next.
 */
export function detachBuffer(view: ArrayBufferView): void {
  const { buffer } = view;
  // An empty buffer has nothing to free, and may be a constant with many users.
  if (view.byteLength === 0) return;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === view.byteLength) buffer.transfer(0);
}

/**
 * A cache of values that can be read again at any time, bounded by their bytes over all users of the cache in the
 * isolate. The least recently used value is evicted first. A value larger than the capacity is not kept.
 */
export class ByteCache<V, K = object> {
  readonly capacity: number;
  /** In order of use, newest last. Objects as keys are compared by identity. */
  readonly #values = new Map<K, { value: V; bytes: number }>();
  readonly #free: (value: V) => void;
  #held = 0;

  /**
   * @param capacity in bytes
   * @param free called with a value that was kept and no longer is; a value that is never kept stays its caller's
   */
  constructor(capacity: number, free: (value: V) => void = () => {}) {
    this.capacity = capacity;
    this.#free = free;
  }

  /** Bytes of all values. */
  get held(): number {
    return this.#held;
  }

  get(key: K): V | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  /** Adds or replaces the value of a key. Also call it when the size of a value has changed. */
  set(key: K, value: V, bytes: number): void {
    if (this.#values.get(key)?.value === value) this.#remove(key);
    else this.delete(key);
    if (bytes > this.capacity) return;
    this.#values.set(key, { value, bytes });
    this.#held += bytes;
    for (const [oldest] of this.#values) {
      if (this.#held <= this.capacity) return;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.#remove(key);
    if (value !== undefined) this.#free(value);
  }

  #remove(key: K): V | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    this.#held -= found.bytes;
    return found.value;
  }
}

const MIB = 1024 * 1024;

/**
 * Bytes that each kind of work may hold in one isolate. The router and any number of objects share an isolate of 128 MB
 * (https://developers.cloudflare.com/workers/platform/limits/#memory), so these bounds cover all its requests,
 * workspaces and tenants. Their sum is less than 100 MB; `docs/memory.md` lists the holders and the effect of each
 * bound.
 */
export const ISOLATE_BUDGET = {
  /** Code, caches of objects (keys, projects, limit counters) and the runtime's own memory. */
  base: 16 * MIB,
  /** Ingest: bodies being received, inflated and parsed, and batches that wait for their commit. */
  ingest: 24 * MIB,
  /** Queries, histograms, contexts: candidate batches, decoded blocks and rows that wait for their response. */
  queries: 18 * MIB,
  /** Pages of entries while other reads hold all memory of queries: a page of 2,048 rows, or smaller ones in turn. */
  pages: 2 * MIB,
  /** Tails: frames sent and not acknowledged, queues, backlog pages. */
  tails: 16 * MIB,
  /** Summary columns of recent batches. */
  batchIndex: 6 * MIB,
  /** Ids of stored records. */
  recordIds: 4 * MIB,
  /** Footers of files in the bucket: 30 KB for each file of 220,000 entries. */
  footers: MIB,
  /** Small ranges of these files: blocks of filters, and columns that hardly vary. */
  smallRanges: MIB / 4,
  /** Flushes: ranges of batches while they are encoded, and the segments made of them. */
  flush: 8 * MIB,
} as const;

/** Parts of `ISOLATE_BUDGET.ingest`; a test checks their sum. */
export const INGEST_BUDGET = {
  smallBodies: 4 * MIB,
  largeBodies: 6 * MIB,
  /**
   * Bytes by which the oldest large body may exceed `largeBodies`: 5 MiB, and a batch of the same size in the worst
   * case.
   */
  largestBody: 10 * MIB,
  commits: 4 * MIB,
} as const;

/** Bytes that one isolate may hold in all. The rest of its 128 MB is left to the runtime and garbage. */
export const ISOLATE_BUDGET_BYTES = 100_000_000;

/** Requests of one isolate that may wait for memory; each holds a connection and little else. */
const MAX_WAITING = 256;

// Module state: one instance per isolate, shared by all its requests and objects.
/**
 * Bodies of requests while they are received, inflated and parsed, and the batches made of them until the response.
 * Small bodies have a separate pool, so that large ones do not delay them. `largeBodies` may exceed its capacity by one
 * body with its batch (`MemoryLease.grow`).
 */
export const smallBodies = new MemoryPool({ capacity: INGEST_BUDGET.smallBodies, maxWaiting: MAX_WAITING });
export const largeBodies = new MemoryPool({ capacity: INGEST_BUDGET.largeBodies, maxWaiting: MAX_WAITING });
/** Batches that objects hold until their commit. A batch that does not fit is returned to its router, which waits. */
export const commitMemory = new MemoryPool({ capacity: INGEST_BUDGET.commits, maxWaiting: 0 });
/**
 * Bytes of `queryMemory` that a compaction takes: the merged file (8 MiB), what it reads at once (1 MiB), the lines of a row
 * group with their encoding (3 MiB), and a filter (2 MiB). Two never fit, and queries keep 4 MiB, and those of pages.
 */
export const COMPACTION_BYTES = 14 * MIB;
export const queryMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.queries, maxWaiting: MAX_WAITING });
/** Reserved, so that the newest entries never wait for tables, compactions and what waits for their memory. */
export const pageMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.pages, maxWaiting: MAX_WAITING });
/** Ranges that are encoded and stored. A flush that gets no memory is repeated later. */
export const flushMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.flush, maxWaiting: MAX_WAITING });
/** Buffer memory of tails. Tails wait in their objects, so no caller waits for this pool. */
export const tailMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.tails, maxWaiting: 0 });
