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

/** What one isolate may hold in all, so that the rest of its 128 MB is left to the runtime and garbage. */
export const ISOLATE_BUDGET_BYTES = 100_000_000;

/** Requests that may wait for memory at a time in one isolate; each holds a connection and little else. */
const MAX_WAITING = 256;

/** Module state: one instance an isolate, which all requests and objects in it share. */
export const ingestMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.ingest, maxWaiting: MAX_WAITING });
export const queryMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.queries, maxWaiting: MAX_WAITING });
/** Tails wait in their objects: nobody waits for this pool. */
export const tailMemory = new MemoryPool({ capacity: ISOLATE_BUDGET.tails, maxWaiting: 0 });
