import type { DropReason } from "../types.ts";

export interface QueueOptions {
  /** Entries that start a delivery, and the most that one takes. */
  size: number;
  maxEntries: number;
  /** Bytes of one delivery, unless one entry alone is larger. */
  maxBody: number;
  maxQueueBytes: number;
  flushInterval: number;
  concurrency: number;
  maxRetries: number;
  /** Milliseconds before a retry, by its number from 1. */
  wait(retry: number): number;
  /** Milliseconds after which a delivery has failed even if nothing was heard of it; its own limit comes first. */
  timeout: number;
  isRepeatable: boolean;
}

/** How a delivery ended. Indexes count the delivery's entries from 0. */
export interface Outcome {
  /**
   * `retry` is worth another try, `pause` one that spends no retry, `split` one in halves; `refused` is meant for the
   * entries named, without any for all of them.
   */
  kind: "delivered" | "retry" | "pause" | "split" | "refused";
  rejected?: readonly number[];
  /** The destination cannot be reached, or is another's: further tries are not worth waiting for at the end of a process. */
  isAway?: boolean;
  /** Milliseconds until the next delivery may start, where the destination spreads them out. */
  gap?: number;
  /** Milliseconds the destination asks for. */
  wait?: number;
  /** Whether another try must be told from this one. */
  newId?: boolean;
  error?: Error | undefined;
}

/** What is delivered together: NDJSON that never changes, under an id that a repetition keeps. */
export interface Delivery {
  id: string;
  body: Uint8Array;
  count: number;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

export interface QueueEvents {
  error(error: Error): void;
  drop(lines: readonly string[], reason: DropReason): void;
}

export interface QueueStats {
  delivered: number;
  dropped: number;
  pending: number;
  pendingBytes: number;
  requests: number;
  retries: number;
  /** Out of retries, and in the spool. */
  spooled: number;
}

/** Where deliveries may outlive the queue. */
export interface QueueSpool {
  /** Takes a delivery that is out of retries. @returns whether it has it now */
  add(delivery: Delivery): boolean;
  /** The destination takes deliveries again. */
  delivered(): void;
}

export interface Queue {
  /** Whether the destination takes a delivery of the same id only once. */
  readonly isRepeatable: boolean;
  /** Takes a line; it is copied. */
  push(line: Uint8Array, level: number, now: number): void;
  /**
   * Settles when all that waits now is delivered or dropped, or at the deadline.
   * @param isEnd settles too as soon as the destination turns out to be away
   */
  flush(timeoutMs: number, isEnd?: boolean): Promise<unknown>;
  close(): void;
  stats(): QueueStats;
  /** All that is not delivered yet, for a process about to end. */
  pending(): Delivery[];
  /** Without one, what is out of retries is dropped. */
  spool?: QueueSpool;
  /**
   * Takes over what is kept. True once it is delivered, refused, or kept anew; false if it is out of retries and not
   * kept: then it is not dropped, because it still is where it was.
   */
  adopt(delivery: Delivery): Promise<boolean>;
}
