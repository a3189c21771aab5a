import { decodeText, isError } from "../serialize.ts";
import type { DropReason, LogEntry } from "../types.ts";
import { createLineBuffer, joined } from "./buffer.ts";

/** The longest wait, whatever a server asks for: an hour. */
const MAX_WAIT_MS = 3_600_000;

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
export type Outcome =
  | { kind: "delivered"; rejected: readonly number[]; gap?: number; error?: Error; wait?: never }
  /** Worth another try, after `wait` ms if that is known; a `pause` the server asked for spends no retry. */
  | { kind: "retry" | "pause"; wait?: number; newId?: boolean; error: Error }
  | { kind: "split"; error: Error }
  /** Refused for the entries named; without any, for all of them. */
  | { kind: "refused"; rejected: readonly number[]; error: Error };

/** What is delivered together: NDJSON that never changes, under an id that a repetition keeps. */
export interface Delivery {
  id: string;
  body: Uint8Array;
  count: number;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

export interface QueueEvents {
  error(error: Error): void;
  drop(entries: () => LogEntry[], count: number, reason: DropReason): void;
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

export const NO_STATS: Readonly<QueueStats> = {
  delivered: 0,
  dropped: 0,
  pending: 0,
  pendingBytes: 0,
  requests: 0,
  retries: 0,
  spooled: 0,
};

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
  /** Settles when all that waits now is delivered or dropped, or at the deadline. */
  flush(timeoutMs: number): Promise<void>;
  close(): void;
  stats(): QueueStats;
  /** All that is not delivered yet, for a process about to end. */
  pending(): Delivery[];
  /** Without one, what is out of retries is dropped. */
  spool?: QueueSpool;
  /**
   * Takes over what is kept. `settled` is called once it is delivered, refused, or kept anew; or out of retries and
   * not kept: then it is not over, and not dropped, because it still is where it was.
   */
  adopt(delivery: Delivery, settled: (isOver: boolean) => void): void;
}

interface Batch extends Delivery {
  /** Of batches made from one, all have its number. */
  order: number;
  tries: number;
  startedAt: number;
  settled?: ((isOver: boolean) => void) | undefined;
}

/** A bounded queue before something that may be slow, pause or fail. */
export function createQueue(options: QueueOptions, deliver: Deliver, events: QueueEvents): Queue {
  const { size, maxEntries, maxBody, maxQueueBytes, flushInterval, concurrency, maxRetries, timeout } = options;
  const waiting = createLineBuffer();
  /** Cut and not under way, oldest first. */
  let ready: Batch[] = [];
  const underWay = new Set<Batch>();
  /** What each flush waits for: all batches before an order. */
  const flushes = new Map<() => void, number>();
  let order = 0;
  let ids = "";
  let idCount = 0;
  let pausedUntil = 0;
  /** Deliveries at the same time; after a failure one at a time asks whether the destination is back. */
  let slots = concurrency;
  let gap = 0;
  let lastStart = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = 0;
  let isPumpQueued = false;
  let isClosed = false;
  const stats = { ...NO_STATS };

  function nextId(): string {
    // Made at first use: some platforms have no randomness before the first request.
    ids ||= crypto.randomUUID();
    return `${ids}-${idCount++}`;
  }

  function drop(lines: readonly Uint8Array[], reason: DropReason): void {
    if (lines.length === 0) return;
    stats.dropped += lines.length;
    events.drop(() => lines.map((line): LogEntry => JSON.parse(decodeText(line))), lines.length, reason);
  }

  /** Books what is held: `count` lines more, or fewer. */
  function hold(count: number, bytes: number): void {
    stats.pending += count;
    stats.pendingBytes += bytes;
  }

  function push(line: Uint8Array, level: number, now: number): void {
    while (!isClosed && stats.pendingBytes + line.length > maxQueueBytes) {
      const evicted = waiting.evict(level);
      if (!evicted) break;
      hold(-1, -evicted.length);
      drop([evicted], "queue-full");
    }
    if (isClosed || stats.pendingBytes + line.length > maxQueueBytes) {
      drop([line], isClosed ? "closed" : "queue-full");
      return;
    }
    waiting.add(line, level, now);
    hold(1, line.length);
    // Timers and requests vanish where a platform ends them with the request they were made in, or while a machine sleeps.
    const isLost = timerAt > 0 && now > timerAt + timeout;
    if (isLost || (isFull() && underWay.size < slots && now >= pausedUntil)) {
      // At the end of the caller's turn, so that a burst travels together.
      if (!isPumpQueued) queueMicrotask(pump);
      isPumpQueued = true;
    } else if (timerAt === 0) {
      schedule();
    }
  }

  function isFull(): boolean {
    return waiting.count() >= size || waiting.bytes() >= maxBody;
  }

  /** When the next delivery may start, epoch milliseconds; `Infinity` if there is none. */
  function nextStart(): number {
    const isUrgent = ready.length > 0 || flushes.size > 0 || isFull();
    const due = isUrgent ? 1 : waiting.count() > 0 ? waiting.since() + flushInterval : Number.POSITIVE_INFINITY;
    return Math.max(due, pausedUntil, flushes.size > 0 ? 0 : lastStart + gap);
  }

  function pump(): void {
    isPumpQueued = false;
    const now = Date.now();
    for (const batch of underWay) {
      if (now - batch.startedAt > 2 * timeout) {
        settle(batch, batch.startedAt, { kind: "retry", error: new Error("No answer.") });
      }
    }
    while (underWay.size < slots && nextStart() <= now) {
      const batch = ready.shift() ?? (waiting.count() > 0 && cut());
      if (!batch) break;
      start(batch, now);
    }
    schedule();
  }

  function cut(): Batch {
    return batchOf(waiting.take(maxEntries, maxBody), order++);
  }

  function batchOf(lines: readonly Uint8Array[], order: number, settled?: Batch["settled"]): Batch {
    return { id: nextId(), body: joined(lines), count: lines.length, order, tries: 0, startedAt: 0, settled };
  }

  /** Sets the timer to when there is something to do. */
  function schedule(): void {
    clearTimeout(timer);
    timerAt = 0;
    if (stats.pending === 0) return;
    const now = Date.now();
    // Whatever is under way goes on from here when it ends; this only watches for its silent death.
    timerAt = Math.min(underWay.size < slots ? nextStart() : now + 2 * timeout + 1, now + MAX_WAIT_MS);
    timer = setTimeout(pump, Math.max(timerAt - now, 0));
    // A process with nothing else to do may end; what waits then is flushed by its own hooks.
    (timer as { unref?(): void }).unref?.();
  }

  function start(batch: Batch, now: number): void {
    batch.startedAt = lastStart = now;
    underWay.add(batch);
    stats.requests++;
    deliver(batch)
      .catch((error: unknown): Outcome => ({ kind: "retry", error: asError(error) }))
      .then((outcome) => {
        settle(batch, now, outcome);
        pump();
      });
  }

  function settle(batch: Batch, startedAt: number, outcome: Outcome): void {
    // One that was given up for lost may answer after all; its repetition speaks for it.
    if (batch.startedAt !== startedAt || !underWay.delete(batch)) return;
    const { kind, error } = outcome;
    if (error) events.error(error);
    slots = concurrency;
    if (kind === "retry" || kind === "pause") {
      slots = 1;
      if (kind === "retry") batch.tries++;
      const asked = Math.min(outcome.wait ?? 0, MAX_WAIT_MS);
      // A pause is as long as the server says, if it says.
      const own = kind === "pause" && asked > 0 ? 0 : options.wait(Math.max(batch.tries, 1));
      pausedUntil = Math.max(pausedUntil, Date.now() + Math.max(asked, own));
      if (batch.tries <= maxRetries) {
        if (outcome.newId) batch.id = nextId();
        stats.retries++;
        ready.push(batch);
        ready.sort((a, b) => a.order - b.order);
        return;
      }
    }
    hold(-batch.count, -batch.body.length);
    /** Unless it is out of retries, and not kept. */
    let isOver = true;
    if (kind === "delivered") {
      gap = Math.min(outcome.gap ?? 0, flushInterval);
      stats.delivered += batch.count - outcome.rejected.length;
      dropNamed(batch, outcome.rejected);
    } else if (kind === "split" && batch.count > 1) {
      const lines = linesOf(batch);
      const half = lines.length >> 1;
      replace(batch, [lines.slice(0, half), lines.slice(half)]);
      return;
    } else if (kind === "refused" && outcome.rejected.length > 0) {
      const rest = dropNamed(batch, outcome.rejected);
      if (rest.length > 0) {
        replace(batch, [rest]);
        return;
      }
    } else if (kind === "split" || kind === "refused") {
      drop(linesOf(batch), kind === "split" ? "too-large" : "rejected");
    } else {
      isOver = !!queue.spool?.add(batch);
      if (isOver) stats.spooled += batch.count;
      else if (!batch.settled) drop(linesOf(batch), "retries");
    }
    batch.settled?.(isOver);
    if (kind === "delivered") queue.spool?.delivered();
    for (const [done, before] of flushes) if (isFlushed(before)) done();
  }

  /** Drops the lines of these numbers and gives the others. */
  function dropNamed(batch: Batch, numbers: readonly number[]): Uint8Array[] {
    if (numbers.length === 0) return [];
    const lines = linesOf(batch);
    drop(
      numbers.flatMap((i) => lines[i] ?? []),
      "rejected",
    );
    return lines.filter((_, i) => !numbers.includes(i));
  }

  /** Puts other batches in a batch's place, each under an id of its own: their bytes are others. */
  function replace({ order, settled }: Batch, parts: Uint8Array[][]): void {
    let open = parts.length;
    let isOver = true;
    const one = (part: boolean): void => {
      isOver &&= part;
      if (--open === 0) settled?.(isOver);
    };
    const made = parts.map((lines) => batchOf(lines, order, settled && one));
    for (const { count, body } of made) hold(count, body.length);
    ready = [...made, ...ready];
  }

  function isFlushed(before: number): boolean {
    return ![...ready, ...underWay].some((batch) => batch.order < before);
  }

  /** Cuts all that waits. */
  function pending(): Batch[] {
    while (waiting.count() > 0) ready.push(cut());
    return [...underWay, ...ready];
  }

  const queue: Queue = {
    isRepeatable: options.isRepeatable,
    push,
    pending,
    flush(timeoutMs) {
      if (pending().length === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(deadline);
          flushes.delete(done);
          resolve();
        };
        // Holds the process until it fires or is cleared.
        const deadline = setTimeout(done, timeoutMs);
        flushes.set(done, order);
        pump();
      });
    },
    close() {
      isClosed = true;
    },
    stats: () => stats,
    adopt(delivery, settled) {
      hold(delivery.count, delivery.body.length);
      ready.push({ ...delivery, order: order++, tries: 0, startedAt: 0, settled });
      pump();
    },
  };
  return queue;
}

/** Lines with their line feeds. */
function linesOf({ body }: Delivery): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < body.length; ) {
    const end = body.indexOf(10, from) + 1;
    lines.push(body.subarray(from, end));
    from = end;
  }
  return lines;
}

export function asError(error: unknown): Error {
  return isError(error) ? error : new Error(said(error));
}

function said(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "Something was thrown.";
  }
}
