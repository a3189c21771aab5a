import { MemoryPool } from "./memory-pool.ts";

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
