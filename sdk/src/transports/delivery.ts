import type { DropReason } from "../logger-options.ts";
import type { Stream } from "./stream.ts";

export interface QueueOptions {
  /** Number of entries that starts a delivery, and maximal number of entries of one. */
  size: number;
  maxEntries: number;
  /** Maximal bytes of one delivery, unless a single entry is larger. */
  maxBody: number;
  maxQueueBytes: number;
  flushInterval: number;
  concurrency: number;
  maxRetries: number;
  /** Returns the milliseconds before a retry. Retries are numbered from 1. */
  wait(retry: number): number;
  /** Timeout of a request in milliseconds. A delivery without an outcome fails after twice this time. */
  timeout: number;
  isRepeatable: boolean;
}

/** The outcome of a delivery. Indexes count the delivery's entries from 0. */
export interface Outcome {
  /**
   * `retry`: repeat the delivery. `pause`: repeat it without counting a retry. `split`: repeat it in halves. `refused`:
   * drop the entries in `rejected`, or all if that is empty.
   */
  kind: "delivered" | "retry" | "pause" | "split" | "refused";
  rejected?: readonly number[];
  /**
   * Whether the destination is unreachable or not the service, so that the end of a process does not wait for retries.
   */
  isAway?: boolean;
  /** Milliseconds between the starts of deliveries, to stay within the destination's rate limit. */
  gap?: number;
  /** Milliseconds that the destination asks to wait. */
  wait?: number;
  /** Whether a retry needs a new id. */
  newId?: boolean;
  error?: Error | undefined;
}

/** Entries of one request: immutable NDJSON, under an id that a repetition keeps. */
export interface Delivery {
  id: string;
  body: Uint8Array;
  count: number;
  /** Of the queue. */
  stream?: Stream | undefined;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

export interface QueueEvents {
  error(error: Error): void;
  drop(lines: readonly string[], reason: DropReason): void;
}

export interface QueueStats {
  delivered: number;
  pending: number;
  pendingBytes: number;
  requests: number;
  retries: number;
  /** Entries that were spooled after the last retry. */
  spooled: number;
}

/** Stores deliveries that the queue gives up. */
export interface QueueSpool {
  /** Stores a delivery whose retries ran out. @returns whether it was stored */
  add(delivery: Delivery): boolean;
  /** Called after each successful delivery. */
  delivered(): void;
}

export interface Queue {
  /** Whether the destination stores deliveries of the same id only once. */
  readonly isRepeatable: boolean;
  /** Queues a copy of a line. */
  push(line: Uint8Array, level: number, now: number): void;
  /**
   * Resolves when all entries that are queued now are delivered or dropped, or at the deadline.
   * @param isEnd whether to resolve also as soon as the destination is unreachable
   */
  flush(timeoutMs: number, isEnd?: boolean): Promise<unknown>;
  close(): void;
  stats(): QueueStats;
  /** Returns all deliveries that have not ended, for the end of a process. */
  pending(): Delivery[];
  /** Without a spool, deliveries are dropped after the last retry. */
  spool?: QueueSpool;
  /**
   * Queues a delivery of the spool.
   * @returns `true` after it was delivered, refused or spooled again; `false` if its retries ran out and it could not
   * be spooled again. It is not dropped then, because its file still exists.
   */
  adopt(delivery: Delivery): Promise<boolean>;
}
